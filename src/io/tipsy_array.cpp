// Tipsy auxiliary arrays: a count, then one number or a vector of three for each particle of a snapshot.
//
// ASCII: the count and the values, parted by white space. Binary: i32 count, then values of 4 or 8 bytes, in either
// byte order. Vectors are stored component by component. Width and byte order follow from the length of the file;
// whether binary values are whole numbers or not the file does not say, so the caller does.
#include "io/byte_order.hpp"
#include "io/guess.hpp"
#include "io/input_file.hpp"
#include "io/memory.hpp"
#include "io/refuse.hpp"
#include "io/result_file.hpp"
#include "io/text_numbers.hpp"

#include <kith/io.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <span>

namespace kith::io {

namespace {

constexpr std::int64_t count_bytes = 4;

struct BinaryLayout {
    std::endian order = std::endian::big;
    std::int64_t count = 0;
    int columns = 1;
    std::int64_t item_bytes = 4;
};

bool starts_like_text(const InputFile& file) {
    const std::vector<std::byte> bytes = file.start(recognition_window);
    return is_text(FileStart{bytes, file.length()}.text());
}

// Nothing for a file of another length.
std::optional<BinaryLayout> find_layout(const InputFile& file, std::span<const std::byte> bytes) {
    const std::int64_t body = file.length() - count_bytes;
    for (const std::endian order : {std::endian::big, std::endian::little}) {
        const std::int64_t count = load<std::int32_t>(bytes.data(), order);
        for (const auto& [columns, item_bytes] : {std::pair(1, 4), std::pair(1, 8), std::pair(3, 4), std::pair(3, 8)}) {
            if (count >= 0 && body == count * columns * item_bytes) {
                return BinaryLayout{order, count, columns, item_bytes};
            }
        }
    }
    return std::nullopt;
}

BinaryLayout binary_layout(const InputFile& file) {
    std::array<std::byte, count_bytes> bytes{};
    file.read(0, bytes);
    if (const std::optional<BinaryLayout> found = find_layout(file, bytes)) {
        return *found;
    }
    refuse(file, "this is no Tipsy auxiliary array: the file takes ", file.length(),
           " bytes, but the count in its first four says ", load<std::int32_t>(bytes.data(), std::endian::big),
           " values (big-endian) or ", load<std::int32_t>(bytes.data(), std::endian::little),
           " (little-endian), of 4, 8, 12 or 24 bytes each");
}

// A text's values, component by component as stored.
template <class Number>
struct TextValues {
    std::vector<Number> values;
    std::int64_t count = 0;
};

template <class Number>
TextValues<Number> read_text(const InputFile& file) {
    TextNumbers numbers(file);
    const auto count = numbers.next<std::int64_t>("the number of values");
    if (count < 0 || count > (file.length() + 1) / 2) { // a number takes two bytes with what parts it from the next
        refuse(file, "the array announces ", count, " values, which the file, of ", file.length(),
               " bytes, cannot hold");
    }
    TextValues<Number> text{allocate<Number>(count, 1, "values"), count};
    const auto fill_from = [&](std::int64_t first, const std::string& what) {
        std::generate(text.values.begin() + first, text.values.end(), [&] { return numbers.next<Number>(what); });
    };
    fill_from(0, "a value");
    if (count > 0 && !numbers.at_end()) {
        text.values.resize(3 * static_cast<std::size_t>(count));
        fill_from(count, message("a component (there are more values than the ", count,
                                 " announced, so they are taken for vectors of three)"));
    }
    if (!numbers.at_end()) {
        refuse(file, "the array announces ", count, " values or vectors of three, but there are more numbers");
    }
    return text;
}

template <class Stored>
std::vector<Stored> read_binary(const InputFile& file, const BinaryLayout& layout) {
    std::vector<Stored> values = allocate<Stored>(layout.count, layout.columns, "values");
    file.read_into(count_bytes, std::span(values));
    to_native(std::span(values), layout.order);
    return values;
}

template <class T>
RealArray in_rows(std::vector<T> stored, std::int64_t count) {
    RealArray array;
    array.columns = count > 0 ? static_cast<int>(std::ssize(stored) / count) : 1;
    if (array.columns == 1) {
        array.values = std::move(stored);
        return array;
    }
    std::vector<T> rows = allocate<T>(count, array.columns, "values");
    for (std::size_t i = 0; i < stored.size(); ++i) {
        const std::size_t axis = i / static_cast<std::size_t>(count);
        rows[(i % static_cast<std::size_t>(count)) * static_cast<std::size_t>(array.columns) + axis] = stored[i];
    }
    array.values = std::move(rows);
    return array;
}

} // namespace

std::optional<ResultFile> describe_binary_tipsy_array(const InputFile& file, const FileStart& start) {
    const std::optional<BinaryLayout> layout =
        std::ssize(start.bytes) < count_bytes || is_text(start.text()) ? std::nullopt : find_layout(file, start.bytes);
    if (!layout || layout->count == 0) {
        return std::nullopt;
    }
    ResultFile result{layout->order == std::endian::big ? "Tipsy array (binary, big-endian)"
                                                        : "Tipsy array (binary, little-endian)",
                      layout->columns == 1 ? "one value per row, as labels have" : "a vector per row",
                      {{"values", {layout->count}, message("of ", layout->item_bytes, " bytes")}},
                      {}};
    if (layout->columns > 1) {
        result.arrays.front().shape.push_back(layout->columns);
    }
    return result;
}

std::vector<std::int64_t> read_tipsy_integers(const std::filesystem::path& path) {
    const InputFile file(path);
    const auto require_one_column = [&](bool one) {
        if (!one) {
            refuse(file, "the array holds vectors of three; whole numbers come one for each particle");
        }
    };
    if (starts_like_text(file)) {
        TextValues<std::int64_t> text = read_text<std::int64_t>(file);
        require_one_column(std::ssize(text.values) == text.count);
        return std::move(text.values);
    }
    const BinaryLayout layout = binary_layout(file);
    require_one_column(layout.columns == 1);
    if (layout.item_bytes == 8) {
        return read_binary<std::int64_t>(file, layout);
    }
    const std::vector<std::int32_t> narrow = read_binary<std::int32_t>(file, layout);
    return {narrow.begin(), narrow.end()};
}

RealArray read_tipsy_reals(const std::filesystem::path& path) {
    const InputFile file(path);
    if (starts_like_text(file)) {
        TextValues<double> text = read_text<double>(file);
        return in_rows(std::move(text.values), text.count);
    }
    const BinaryLayout layout = binary_layout(file);
    return layout.item_bytes == 8 ? in_rows(read_binary<double>(file, layout), layout.count)
                                  : in_rows(read_binary<float>(file, layout), layout.count);
}

} // namespace kith::io
