// Tipsy ASCII: gas, dark and star particles are types 0, 1 and 4. Numbers are read as float64.
//
// The text is `n ngas nstar`, `ndim`, `time`, then one property after the other, each of all particles in the order
// gas, dark, star: masses, positions axis by axis, velocities axis by axis, and others that are not read. Numbers stand
// on lines of their own, but any white space parts them.
#include "io/guess.hpp"
#include "io/memory.hpp"
#include "io/reader.hpp"
#include "io/selection.hpp"
#include "io/text_lines.hpp"
#include "io/text_numbers.hpp"
#include "io/tipsy_layout.hpp"

namespace kith::io {

namespace {

// `text`: the beginning of a file. Three whole numbers in the first line, one of them in the second, one in the third.
bool begins_like_tipsy(std::string_view text) {
    for (const int wanted : {3, 1, 1}) {
        bool whole = text.find_first_of("\r\n") != std::string_view::npos;
        const std::string_view line = take_line(text);
        std::int64_t number = 0;
        double time = 0;
        const int fields = for_each_field(line, Separator::blanks, [&](int, std::string_view field) {
            whole = whole && (parse_number(field, number) || parse_number(field, time));
        });
        if (!whole || fields != wanted) {
            return false;
        }
    }
    return true;
}

class TipsyText {
public:
    explicit TipsyText(const std::filesystem::path& path) : file_(path), numbers_(file_) {
        const auto total = numbers_.next<std::int64_t>("the number of particles");
        const auto gas = numbers_.next<std::int64_t>("the number of gas particles");
        const auto stars = numbers_.next<std::int64_t>("the number of stars");
        const auto dimension = numbers_.next<std::int64_t>("the number of dimensions");
        if (gas < 0 || stars < 0 || gas > total || stars > total - gas) {
            refuse(file_, "the header announces ", total, " particles, of which ", gas, " gas and ", stars, " stars");
        }
        if (dimension < 2 || dimension > 3) {
            refuse(file_, "the header says ", dimension, " dimensions; 2 or 3 were expected");
        }
        header_.format = "Tipsy ASCII";
        header_.dtype = DType::float64;
        header_.dimension = static_cast<int>(dimension);
        header_.time = numbers_.next<double>("the time");
        header_.counts[TipsyLayout::type_of_kind[0]] = gas;
        header_.counts[TipsyLayout::type_of_kind[1]] = total - gas - stars;
        header_.counts[TipsyLayout::type_of_kind[2]] = stars;
        // A number takes two bytes with what parts it from the next.
        const std::int64_t bytes_each = 2 * (1 + 2 * dimension);
        if (total > (file_.length() + 1) / bytes_each) {
            refuse(file_, "too short: the header announces ", total, " particles, which take at least ", bytes_each,
                   " bytes each, but the file ends at byte ", file_.length());
        }
    }

    [[nodiscard]] SnapshotHeader& header() noexcept { return header_; }

    [[nodiscard]] Snapshot read(const ReadOptions& options, const SelectedTypes& selected) {
        const std::int64_t rows = selected_count(header_, selected);
        Snapshot snapshot;
        if (options.masses) {
            snapshot.masses = allocate_reals(DType::float64, rows, 1, "masses");
        }
        snapshot.positions = allocate_reals(DType::float64, rows, header_.dimension, "positions");
        if (options.velocities) {
            snapshot.velocities = allocate_reals(DType::float64, rows, header_.dimension, "velocities");
        }
        read_property("a mass", selected, snapshot.masses ? &*snapshot.masses : nullptr, 0);
        for (int axis = 0; axis < header_.dimension; ++axis) {
            read_property("a coordinate", selected, &snapshot.positions, axis);
        }
        for (int axis = 0; axis < header_.dimension; ++axis) {
            read_property("a velocity", selected, snapshot.velocities ? &*snapshot.velocities : nullptr, axis);
        }
        return snapshot;
    }

private:
    /// The next property, all of it; kept for the selected types unless `out` is null.
    void read_property(std::string_view what, const SelectedTypes& selected, RealArray* out, int axis) {
        double* place = out == nullptr ? nullptr : std::get<std::vector<double>>(out->values).data() + axis;
        const int stride = out == nullptr ? 0 : out->columns;
        for (const std::size_t type : TipsyLayout::type_of_kind) {
            const bool kept = place != nullptr && selected[type];
            for (std::int64_t i = 0; i < header_.counts[type]; ++i) {
                const auto value = numbers_.next<double>(what);
                if (kept) {
                    *place = value;
                    place += stride;
                }
            }
        }
    }

    InputFile file_;
    TextNumbers numbers_;
    SnapshotHeader header_;
};

bool recognize_tipsy_ascii(const FileStart& start) {
    return is_text(start.text()) && begins_like_tipsy(start.text());
}

} // namespace

const Reader tipsy_ascii_reader = {"Tipsy ASCII", recognize_tipsy_ascii, header_of_whole<TipsyText>,
                                   snapshot_of_whole<TipsyText>};

} // namespace kith::io
