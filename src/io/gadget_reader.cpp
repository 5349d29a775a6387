// Gadget-2 binary: the columns of a file (found in gadget_layout.cpp), read in large pieces and put into host order in
// place.
#include "io/byte_order.hpp"
#include "io/gadget_blocks.hpp"
#include "io/gadget_layout.hpp"
#include "io/particle_source.hpp"
#include "io/reader.hpp"

#include <algorithm>
#include <span>

namespace kith::io {

namespace {

// `count` values stored as Stored, converted to Value.
template <class Stored, class Value>
void read_values(const InputFile& file, std::int64_t offset, std::endian order, std::span<Value> out) {
    if constexpr (std::is_same_v<Stored, Value>) {
        file.read_into(offset, out);
        to_native(out, order);
    } else {
        constexpr std::size_t piece = std::size_t{1} << 17;
        std::vector<Stored> stored(std::min(piece, out.size()));
        for (std::size_t first = 0; first < out.size(); first += piece) {
            const std::span<Stored> values = std::span(stored).first(std::min(piece, out.size() - first));
            file.read_into(offset + static_cast<std::int64_t>(first * sizeof(Stored)), values);
            to_native(values, order);
            std::transform(values.begin(), values.end(), out.begin() + static_cast<std::ptrdiff_t>(first),
                           [](Stored value) { return static_cast<Value>(value); });
        }
    }
}

class GadgetSource final : public ParticleSource {
protected:
    void open_file(const std::filesystem::path& path) override {
        file_.emplace(path);
        layout_ = survey_gadget(*file_);
    }
    FileSummary summarize() override { return layout_.summary; }
    std::optional<DType> stored(Column column, const Part& part) override {
        const std::optional<GadgetColumn> found = find(column);
        if (!found || (column == Column::masses && !layout_.has_own_masses(part.type))) {
            return std::nullopt;
        }
        return found->item_bytes == 8 ? DType::float64 : DType::float32;
    }
    void read(Column column, const Part& part, DType dtype, void* out) override;
    bool has_ids(const Part&) override { return layout_.ids.has_value(); }
    void read_ids(const Part& part, std::uint64_t* out) override {
        read_rows<std::uint32_t, std::uint64_t>(layout_.ids, part, false, 1, out);
    }
    [[nodiscard]] std::string_view type_prefix() const override { return "type "; }

private:
    [[nodiscard]] std::optional<GadgetColumn> find(Column column) const {
        switch (column) {
        case Column::positions:
            return layout_.positions;
        case Column::velocities:
            return layout_.velocities;
        case Column::masses:
            return layout_.masses;
        default:
            return std::nullopt;
        }
    }
    /// The part's rows of `width` values each, stored as Narrow or as Wide.
    template <class Narrow, class Wide, class Value>
    void read_rows(const std::optional<GadgetColumn>& column, const Part& part, bool with_own_masses,
                   std::int64_t width, Value* out);

    std::optional<InputFile> file_;
    GadgetLayout layout_;
};

template <class Narrow, class Wide, class Value>
void GadgetSource::read_rows(const std::optional<GadgetColumn>& column, const Part& part, bool with_own_masses,
                             std::int64_t width, Value* out) {
    if (layout_.summary.header.counts[part.type] != part.rows) { // a file of a set is opened again for each column
        refuse(*file_, "the file changed while it was read");
    }
    const std::int64_t item_bytes = column.value().item_bytes;
    const std::int64_t first = layout_.rows_before(part.type, with_own_masses) + part.begin;
    const std::int64_t offset = column->offset + first * width * item_bytes;
    const std::span target(out, static_cast<std::size_t>(part.count * width));
    if (item_bytes == 8) {
        read_values<Wide>(*file_, offset, layout_.order, target);
    } else {
        read_values<Narrow>(*file_, offset, layout_.order, target);
    }
}

void GadgetSource::read(Column column, const Part& part, DType dtype, void* out) {
    const bool is_mass = column == Column::masses;
    const std::int64_t width = is_mass ? 1 : 3;
    if (dtype == DType::float32) {
        read_rows<float, double>(find(column), part, is_mass, width, static_cast<float*>(out));
    } else {
        read_rows<float, double>(find(column), part, is_mass, width, static_cast<double*>(out));
    }
}

} // namespace

const Reader gadget_reader = {"Gadget-2 binary (formats 1 and 2)", is_gadget, header_from<GadgetSource>,
                              snapshot_from<GadgetSource>, true};

} // namespace kith::io
