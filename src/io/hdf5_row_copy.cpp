// Reading rows in file order, writing them in another (see hdf5_row_copy.hpp).
#include "io/hdf5_row_copy.hpp"

#include "io/hdf5_copy.hpp"
#include "io/hdf5_filters.hpp"
#include "io/hdf5_storage.hpp"
#include "io/memory.hpp"
#include "io/refuse.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>

namespace kith::io::hdf5 {

namespace {

struct Shape {
    std::vector<hsize_t> lengths; ///< empty for scalars
    std::vector<hsize_t> most;    ///< H5S_UNLIMITED where the dataset may grow without bound
};

Shape shape_of(hid_t dataset, const std::string& file) {
    const Space space(check(H5Dget_space(dataset), file, "the shape of a dataset"));
    const int rank = std::max(0, H5Sget_simple_extent_ndims(space.get()));
    Shape shape{std::vector<hsize_t>(rank), std::vector<hsize_t>(rank)};
    H5Sget_simple_extent_dims(space.get(), shape.lengths.data(), shape.most.data());
    return shape;
}

std::int64_t bytes_of_row(const Shape& shape, hid_t type, const std::string& what, const std::string& file) {
    constexpr hsize_t most = std::numeric_limits<std::int64_t>::max();
    hsize_t bytes = H5Tget_size(type);
    for (std::size_t axis = 1; axis < shape.lengths.size(); ++axis) {
        const hsize_t length = shape.lengths[axis];
        if (length != 0 && bytes > most / length) {
            refuse(file, "a row of ", what, " claims more bytes than memory can address");
        }
        bytes *= length;
    }
    return static_cast<std::int64_t>(bytes);
}

PropertyList creation_of(hid_t dataset, const std::string& path, const std::string& file) {
    return PropertyList(check(H5Dget_create_plist(dataset), file, message("the layout of ", path)));
}

// Filters that may change values once more (scale-offset, plugins for floating-point numbers) are not applied again,
// and those that this library cannot apply cannot be.
bool is_kept(H5Z_filter_t filter) {
    constexpr std::array<H5Z_filter_t, 5> lossless = {H5Z_FILTER_DEFLATE, H5Z_FILTER_SHUFFLE, H5Z_FILTER_FLETCHER32,
                                                      H5Z_FILTER_SZIP, H5Z_FILTER_NBIT};
    unsigned can = 0;
    return std::find(lossless.begin(), lossless.end(), filter) != lossless.end() && H5Zfilter_avail(filter) > 0 &&
           H5Zget_filter_info(filter, &can) >= 0 && (can & H5Z_FILTER_CONFIG_ENCODE_ENABLED) != 0;
}

// The others are put back one by one: HDF5 1.10 corrupts the list if one is removed from before others.
void remove_other_filters(hid_t creation, const std::string& what, const std::string& file) {
    struct Kept {
        H5Z_filter_t filter = 0;
        unsigned flags = 0;
        std::vector<unsigned> parameters;
    };
    std::vector<Kept> kept;
    const int filters = H5Pget_nfilters(creation);
    for (int i = 0; i < filters; ++i) {
        Kept each;
        std::size_t parameters = 0;
        each.filter =
            H5Pget_filter2(creation, static_cast<unsigned>(i), &each.flags, &parameters, nullptr, 0, nullptr, nullptr);
        each.parameters.resize(parameters);
        H5Pget_filter2(creation, static_cast<unsigned>(i), &each.flags, &parameters, each.parameters.data(), 0, nullptr,
                       nullptr);
        if (is_kept(each.filter)) {
            kept.push_back(std::move(each));
        }
    }
    if (std::ssize(kept) == filters) {
        return;
    }
    check(H5Premove_filter(creation, H5Z_FILTER_ALL), file, what);
    for (const Kept& each : kept) {
        check(H5Pset_filter(creation, each.filter, each.flags, each.parameters.size(), each.parameters.data()), file,
              what);
    }
}

Handle<H5Dclose> make_like(hid_t dataset, const std::string& path, const Type& type, const Shape& shape,
                           const RowOrder& order, const OutputFile& target) {
    const std::string what = message("dataset ", path, " could not be made");
    PropertyList creation = creation_of(dataset, path, target.name());
    const bool chunked = H5Pget_layout(creation.get()) == H5D_CHUNKED;
    Shape made = shape;
    made.lengths[0] = static_cast<hsize_t>(order.permutation.rows());
    made.most[0] = shape.most[0] == H5S_UNLIMITED ? H5S_UNLIMITED : made.lengths[0];
    if (chunked) {
        remove_other_filters(creation.get(), what, target.name());
    } else {
        if (H5Pget_external_count(creation.get()) > 0) {
            creation = PropertyList(check(H5Pcreate(H5P_DATASET_CREATE), target.name(), what));
        }
        check(H5Pset_layout(creation.get(), H5D_CONTIGUOUS), target.name(), what);
        made.most = made.lengths;
    }
    check(H5Pset_obj_track_times(creation.get(), false), target.name(), what);
    const Space space(
        check(H5Screate_simple(static_cast<int>(made.lengths.size()), made.lengths.data(), made.most.data()),
              target.name(), what));
    return Handle<H5Dclose>(check(
        H5Dcreate2(target.root(), path.c_str(), type.get(), space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT),
        target.name(), what));
}

// Whole chunks, so that none is read twice.
std::int64_t rows_of_block(const PropertyList& creation, const Shape& shape, std::int64_t row_bytes) {
    std::int64_t chunk = 1;
    if (H5Pget_layout(creation.get()) == H5D_CHUNKED) {
        std::vector<hsize_t> lengths(shape.lengths.size(), 1);
        H5Pget_chunk(creation.get(), static_cast<int>(lengths.size()), lengths.data());
        chunk = static_cast<std::int64_t>(std::clamp<hsize_t>(lengths[0], 1, shape.lengths[0]));
    }
    return std::max<std::int64_t>(1, sorting_block_bytes / row_bytes / chunk) * chunk;
}

// Refuses what would be copied as fill values or cannot be decoded.
void require_readable(hid_t dataset, const Type& type, const std::string& path, const std::string& file) {
    const PropertyList creation = creation_of(dataset, path, file);
    require_own_values(creation, path, file);
    require_all_chunks(dataset, creation, path, file);
    if (H5Dget_storage_size(dataset) > 0) {
        require_filters(creation, H5Tget_size(type.get()), path, file);
    }
}

Handle<H5Dclose> open_part(const File& opened, const std::string& path, const Type& type, const Shape& shape,
                           const RowOrder& order, const RowPart& part) {
    const std::string file = part.file.string();
    Handle<H5Dclose> dataset(check(H5Dopen2(opened.get(), path.c_str(), H5P_DEFAULT), file,
                                   message("dataset ", path, ", which ", order.parts.front().file.filename().string(),
                                           " has, could not be opened")));
    Shape expected = shape;
    expected.lengths[0] = static_cast<hsize_t>(part.rows);
    const Type stored(check(H5Dget_type(dataset.get()), file, message("the type of ", path)));
    if (shape_of(dataset.get(), file).lengths != expected.lengths || H5Tequal(stored.get(), type.get()) <= 0) {
        refuse(file, "dataset ", path, " is of another type or shape than in ", order.parts.front().file.string(),
               "; the files cannot be joined");
    }
    require_readable(dataset.get(), type, path, file);
    return dataset;
}

// Never written: all rows are the fill value, in any order.
bool is_unwritten(hid_t dataset, const RowOrder& order) {
    return order.parts.size() == 1 && H5Dget_storage_size(dataset) == 0;
}

/// A column: what its first part tells of all.
struct ColumnOfRows {
    ColumnOfRows(hid_t dataset, const std::string& name, const RowOrder& rows)
        : first(dataset), path(name), order(rows), file(rows.parts.front().file.string()),
          stored(check(H5Dget_type(dataset), file, message("the type of ", path))),
          type(check(H5Tcopy(stored.get()), file, message("the type of ", path))) {
        require_readable(dataset, type, path, file);
        shape = shape_of(dataset, file);
        row_bytes = bytes_of_row(shape, type.get(), path, file);
    }

    [[nodiscard]] bool has_values() const { return row_bytes > 0 && !is_unwritten(first, order); }

    hid_t first;
    std::string path;
    const RowOrder& order;
    std::string file;
    Type stored;
    Type type; ///< without a name in the input
    Shape shape;
    std::int64_t row_bytes = 0;
};

/// Reads the rows of a range block by block.
class RowReader {
public:
    RowReader(const ColumnOfRows& column, const RowRange& range) : column_(column), range_(range), row_(range.begin) {}

    /// The next block; empty after the last one.
    std::span<const std::byte> next() {
        while (row_ < range_.end && row_ >= part_begin_ + part().rows) {
            part_begin_ += part().rows;
            ++part_;
            other_ = {};
            file_ = {};
        }
        if (row_ >= range_.end) {
            return {};
        }
        const std::string name = part().file.string();
        const std::string what = message("dataset ", column_.path, " could not be read");
        const hid_t dataset = opened();
        const PropertyList creation = creation_of(dataset, column_.path, name);
        const std::int64_t whole = rows_of_block(creation, shape_of(dataset, name), column_.row_bytes);
        const std::int64_t first = row_ - part_begin_;
        const std::int64_t end = std::min(part().rows, range_.end - part_begin_);
        const std::int64_t rows = std::min(end - first, whole - first % whole);
        if (rows * column_.row_bytes > std::ssize(block_)) {
            block_ = allocate<std::byte>(std::min(end - first, whole), column_.row_bytes, column_.path);
        }
        const Space place(check(H5Dget_space(dataset), name, what));
        const Space memory = select_rows(place, first, rows, name, what);
        check(H5Dread(dataset, column_.type.get(), memory.get(), place.get(), H5P_DEFAULT, block_.data()), name, what);
        row_ += rows;
        return std::span(block_).first(rows * column_.row_bytes);
    }

private:
    [[nodiscard]] const RowPart& part() const { return column_.order.parts[part_]; }
    [[nodiscard]] hid_t opened() {
        if (part_ == 0) {
            return column_.first;
        }
        if (other_.get() < 0) {
            file_ = open_file(part().file);
            other_ = open_part(file_, column_.path, column_.type, column_.shape, column_.order, part());
        }
        return other_.get();
    }

    const ColumnOfRows& column_;
    RowRange range_;
    std::int64_t row_;
    std::size_t part_ = 0;
    std::int64_t part_begin_ = 0; ///< its first row
    File file_;                   ///< of a part that is not the first
    Handle<H5Dclose> other_;
    std::vector<std::byte> block_;
};

} // namespace

bool is_per_row(hid_t dataset, const RowOrder& order) {
    const Shape shape = shape_of(dataset, order.parts.front().file.string());
    return !shape.lengths.empty() && shape.lengths[0] == static_cast<hsize_t>(order.parts.front().rows);
}

Handle<H5Dclose> copy_rows(Ranks& ranks, hid_t dataset, const std::string& path, const RowOrder& order,
                           const OutputFile* target) {
    File first_file;
    Handle<H5Dclose> opened;
    std::optional<ColumnOfRows> column;
    Handle<H5Dclose> made;
    ranks.agreed([&] {
        if (dataset < 0) {
            const std::string file = order.parts.front().file.string();
            first_file = open_file(order.parts.front().file);
            opened = Handle<H5Dclose>(check(H5Dopen2(first_file.get(), path.c_str(), H5P_DEFAULT), file,
                                            message("dataset ", path, " could not be opened")));
        }
        column.emplace(dataset < 0 ? opened.get() : dataset, path, order);
        if (target != nullptr) {
            made = make_like(column->first, path, column->type, column->shape, order, *target);
        }
    });
    if (!column->has_values()) {
        return made;
    }
    const bool is_for_first = ranks.size() > 1 && may_point_to_memory(column->type.get());
    const Permutation permutation = is_for_first ? on_first_rank(ranks, order.permutation) : Permutation();
    const Permutation& used = is_for_first ? permutation : order.permutation;
    const RowRange own = used.of(ranks.rank());

    // To free what values of variable length point to, of which other ranks hold none.
    const Space all(target != nullptr ? H5Dget_space(made.get()) : H5I_INVALID_HID);
    std::optional<Values> values;
    std::int64_t block_rows = 0;
    ranks.agreed([&] {
        values.emplace(column->type, all, own.count(), column->row_bytes, path);
        Shape sorted = column->shape;
        sorted.lengths[0] = static_cast<hsize_t>(used.rows());
        block_rows = rows_of_block(creation_of(column->first, path, column->file), sorted, column->row_bytes);
    });
    RowReader reader(*column, own);
    sort_rows(
        ranks, used, column->row_bytes, [&] { return reader.next(); }, values->data());
    write_sorted_rows(ranks, used, column->row_bytes, values->data(), block_rows,
                      [&](std::int64_t first, std::int64_t rows, const std::byte* bytes) {
                          target->write_rows(made.get(), path, column->type.get(), first, rows, bytes);
                      });
    return made;
}

} // namespace kith::io::hdf5
