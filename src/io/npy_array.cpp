// Shape, type and values of a .npy array (see npy_array.hpp).
#include "io/npy_array.hpp"

#include "io/array_shape.hpp"
#include "io/byte_order.hpp"
#include "io/coordinate_names.hpp"
#include "io/joined.hpp"
#include "io/memory.hpp"
#include "io/refuse.hpp"
#include "io/selection.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace kith::io {

namespace {

/// How a value is stored.
struct NpyValue {
    std::endian order = std::endian::native;
    char kind = 'f'; ///< f, i, u
    std::int64_t item_bytes = 4;
    std::int64_t offset = 0; ///< in a record

    [[nodiscard]] bool fits_float32() const noexcept { return kind == 'f' && item_bytes <= 4; }
};

struct NpyArray {
    NpyHeader npy;
    NpyValue value;                    ///< of an array of numbers
    std::vector<NpyValue> coordinates; ///< of a structured array
    std::int64_t row_bytes = 0;
    std::int64_t rows = 0;
    int columns = 0;
    SnapshotHeader header;
};

// Nothing for what is no number that is read.
std::optional<NpyValue> value_of(std::string_view descr) {
    constexpr std::array<std::string_view, 11> types = {"f2", "f4", "f8", "i1", "i2", "i4",
                                                        "i8", "u1", "u2", "u4", "u8"};
    const bool is_known = descr.size() == 3 && std::find(types.begin(), types.end(), descr.substr(1)) != types.end() &&
                          std::string_view("<>|=").find(descr[0]) != std::string_view::npos;
    if (!is_known) {
        return std::nullopt;
    }
    return NpyValue{descr[0] == '<'   ? std::endian::little
                    : descr[0] == '>' ? std::endian::big
                                      : std::endian::native,
                    descr[1], descr[2] - '0', 0};
}

constexpr std::string_view types_read = "points are float16, float32, float64 or whole numbers of 1 to 8 bytes";

void interpret_record(NpyArray& array, const NpySource& source) {
    const std::vector<NpyField> fields = npy_fields(array.npy.descr, source.name());
    std::vector<std::string> names;
    for (const NpyField& field : fields) {
        names.push_back(field.name);
    }
    const std::string about = message("the array is structured, with the fields ", joined(names, ", "));
    const std::vector<std::size_t> axes = coordinate_fields(names);
    if (axes.empty()) {
        refuse(source.name(), about,
               "; points need the fields x, y and z, or an array of numbers with one row per "
               "point: save the coordinates as one");
    }
    if (const std::string repeated = repeated_coordinate(names); !repeated.empty()) {
        refuse(source.name(), about, ", of which ", repeated,
               " may both be a coordinate: remove or rename one of them");
    }
    if (array.npy.shape.size() != 1) {
        refuse(source.name(), about, ", and has ", array.npy.shape.size(),
               " axes; points are one record each: save array.ravel()");
    }
    array.header.dtype = DType::float32;
    for (const std::size_t axis : axes) {
        const NpyField& field = fields[axis];
        std::optional<NpyValue> value = value_of(field.descr);
        if (!value || field.bytes != value->item_bytes) {
            refuse(source.name(), about, "; the field ", field.name, " is of the type ", field.descr, " (", field.bytes,
                   " bytes); ", types_read);
        }
        value->offset = field.offset;
        array.header.dtype = value->fits_float32() ? array.header.dtype : DType::float64;
        array.coordinates.push_back(*value);
    }
    array.row_bytes = fields.back().offset + fields.back().bytes;
    array.columns = static_cast<int>(axes.size());
}

void interpret_numbers(NpyArray& array, const NpySource& source) {
    const std::vector<std::int64_t>& shape = array.npy.shape;
    const std::optional<NpyValue> value = value_of(array.npy.descr);
    if (!value) {
        refuse(source.name(), "the array's type is ", array.npy.descr, "; ", types_read);
    }
    if (shape.size() != 2) {
        refuse(source.name(), "the array has ", shape.size(),
               shape.size() == 1 ? " axis, one value per row, as labels have" : " axes",
               "; points are a two-dimensional array, one row per point");
    }
    if (const std::string fault = fault_of_shape(shape[0], shape[1]); !fault.empty()) {
        refuse(source.name(), "the array is ", fault);
    }
    array.value = *value;
    array.header.dtype = value->fits_float32() ? DType::float32 : DType::float64;
    array.columns = static_cast<int>(shape[1]);
    array.row_bytes = array.columns * value->item_bytes;
}

void check_length(NpyArray& array, const NpySource& source) {
    const std::int64_t row_bytes = array.row_bytes;
    const std::int64_t room = source.length() - array.npy.data_offset;
    if (array.rows > room / row_bytes) {
        const bool countable =
            array.rows <= (std::numeric_limits<std::int64_t>::max() - array.npy.data_offset) / row_bytes;
        refuse(source.name(), "too short: ", array.rows,
               array.coordinates.empty() ? message(" x ", array.columns, " values of ", array.value.item_bytes)
                                         : message(" records of ", row_bytes),
               " bytes would end at byte ",
               countable ? message(array.npy.data_offset + array.rows * row_bytes) : "2^63 or beyond",
               ", but the file ends at byte ", source.length());
    }
    if (array.rows * row_bytes < room) {
        array.header.warnings.push_back(
            message("the file is ", room - array.rows * row_bytes, " bytes longer than its array, which ends at byte ",
                    array.npy.data_offset + array.rows * row_bytes, "; the rest is ignored"));
    }
    array.header.counts[1] = array.rows;
    array.header.dimension = array.columns;
}

NpyArray open_array(NpySource& source) {
    NpyArray array;
    array.npy = read_npy_header(source);
    array.header.format = source.format();
    array.header.has_types = false;
    if (array.npy.descr.starts_with('[')) {
        interpret_record(array, source);
    } else {
        interpret_numbers(array, source);
    }
    array.rows = array.npy.shape[0];
    check_length(array, source);
    return array;
}

float half_to_float(std::uint16_t half) {
    const float sign = (half & 0x8000) != 0 ? -1.0F : 1.0F;
    const int exponent = (half >> 10) & 0x1f;
    const auto fraction = static_cast<float>(half & 0x3ff);
    if (exponent == 31) {
        return fraction == 0 ? sign * std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
    }
    return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024.0F, exponent - 25));
}

// One value in the file's own type, as T. Whole numbers beyond 2^53 are rounded; `rounded` becomes true.
template <class T>
T value_at(const std::byte* bytes, const NpyValue& stored, bool& rounded) {
    const auto whole = [&](auto number) {
        const auto value = static_cast<double>(number);
        constexpr double exact = 9007199254740992.0;
        rounded |= std::abs(value) > exact || (std::abs(value) == exact && sizeof number == 8);
        return static_cast<T>(value);
    };
    const std::endian order = stored.order;
    switch (stored.kind) {
    case 'f':
        return stored.item_bytes == 2   ? static_cast<T>(half_to_float(load<std::uint16_t>(bytes, order)))
               : stored.item_bytes == 4 ? static_cast<T>(load<float>(bytes, order))
                                        : static_cast<T>(load<double>(bytes, order));
    case 'i':
        return stored.item_bytes == 1   ? whole(load<std::int8_t>(bytes, order))
               : stored.item_bytes == 2 ? whole(load<std::int16_t>(bytes, order))
               : stored.item_bytes == 4 ? whole(load<std::int32_t>(bytes, order))
                                        : whole(load<std::int64_t>(bytes, order));
    default:
        return stored.item_bytes == 1   ? whole(load<std::uint8_t>(bytes, order))
               : stored.item_bytes == 2 ? whole(load<std::uint16_t>(bytes, order))
               : stored.item_bytes == 4 ? whole(load<std::uint32_t>(bytes, order))
                                        : whole(load<std::uint64_t>(bytes, order));
    }
}

template <class T>
void read_numbers(NpySource& source, NpyArray& array, const RowRange& rows, std::vector<T>& values) {
    const bool as_stored = array.value.kind == 'f' && array.value.item_bytes == static_cast<std::int64_t>(sizeof(T)) &&
                           array.value.order == std::endian::native && !array.npy.fortran_order;
    if (as_stored) {
        source.read(array.npy.data_offset + rows.begin * array.columns * array.value.item_bytes,
                    std::as_writable_bytes(std::span(values)));
        return;
    }
    constexpr std::int64_t block_values = 1 << 16;
    std::vector<std::byte> block(
        static_cast<std::size_t>(std::min(block_values, rows.count() * array.columns) * array.value.item_bytes));
    bool rounded = false;
    // `count` values of the file from `stored` on, each `step` places after the one before.
    const auto read_run = [&](std::int64_t stored, std::int64_t count, std::int64_t place, std::int64_t step) {
        for (std::int64_t first = 0; first < count; first += block_values) {
            const std::int64_t values_here = std::min(block_values, count - first);
            source.read(array.npy.data_offset + (stored + first) * array.value.item_bytes,
                        std::span(block).first(values_here * array.value.item_bytes));
            for (std::int64_t i = 0; i < values_here; ++i) {
                values[place + (first + i) * step] =
                    value_at<T>(&block[i * array.value.item_bytes], array.value, rounded);
            }
        }
    };
    if (!array.npy.fortran_order) {
        read_run(rows.begin * array.columns, rows.count() * array.columns, 0, 1);
    } else {
        for (int column = 0; column < array.columns; ++column) {
            read_run(column * array.rows + rows.begin, rows.count(), column, array.columns);
        }
    }
    if (rounded) {
        array.header.warnings.emplace_back(rounded_whole_numbers);
    }
}

template <class T>
void read_records(NpySource& source, NpyArray& array, const RowRange& rows, std::vector<T>& values) {
    constexpr std::int64_t block_bytes = 1 << 20;
    const std::int64_t block_rows =
        std::min(rows.count(), std::max<std::int64_t>(1, block_bytes / std::max<std::int64_t>(1, array.row_bytes)));
    std::vector<std::byte> block(static_cast<std::size_t>(block_rows * array.row_bytes));
    bool rounded = false;
    T* out = values.data();
    for (std::int64_t first = 0; first < rows.count(); first += block_rows) {
        const std::int64_t count = std::min(block_rows, rows.count() - first);
        source.read(array.npy.data_offset + (rows.begin + first) * array.row_bytes,
                    std::span(block).first(count * array.row_bytes));
        for (std::int64_t row = 0; row < count; ++row) {
            for (const NpyValue& coordinate : array.coordinates) {
                *out++ = value_at<T>(&block[row * array.row_bytes + coordinate.offset], coordinate, rounded);
            }
        }
    }
    if (rounded) {
        array.header.warnings.emplace_back(rounded_whole_numbers);
    }
}

} // namespace

NpyHeader read_npy_header(NpySource& source) {
    std::vector<std::byte> bytes(std::min<std::int64_t>(12, source.length()));
    source.read(0, bytes);
    const std::int64_t header_bytes = npy_header_bytes(bytes, source.name());
    if (header_bytes > source.length()) {
        refuse(source.name(), "too short: the .npy header would end at byte ", header_bytes,
               ", but the file ends at byte ", source.length());
    }
    bytes.resize(header_bytes);
    source.read(0, bytes);
    return parse_npy_header(bytes, source.name());
}

SnapshotHeader npy_points_header(NpySource& source) {
    return open_array(source).header;
}

Snapshot npy_points(NpySource& source, const ReadOptions& options) {
    NpyArray array = open_array(source);
    const SelectedTypes selected = select_types(options.types, array.header, source.name());
    Snapshot snapshot;
    const RowRange wanted = rows_of_share(options.share, array.rows);
    snapshot.positions = allocate_reals(array.header.dtype, wanted.count(), array.columns, "positions");
    std::visit(
        [&](auto& values) {
            if (array.coordinates.empty()) {
                read_numbers(source, array, wanted, values);
            } else {
                read_records(source, array, wanted, values);
            }
        },
        snapshot.positions.values);
    snapshot.header = std::move(array.header);
    fill_rows(snapshot, selected, options.share);
    return snapshot;
}

} // namespace kith::io
