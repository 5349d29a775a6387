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
        const std::optional<GadgetColumn>& found = find(column);
        if (!found || (column == Column::masses && !layout_.has_own_masses(part.type))) {
            return std::nullopt;
        }
        return found->item_bytes == 8 ? DType::float64 : DType::float32;
    }
    void read(Column column, const Part& part, DType dtype, void* out) override;
    bool has_ids(const Part&) override { return layout_.ids.has_value(); }
    void read_ids(const Part& part, std::uint64_t* out) override;
    [[nodiscard]] std::string_view type_prefix() const override { return "type "; }

private:
    [[nodiscard]] const std::optional<GadgetColumn>& find(Column column) const noexcept {
        return column == Column::positions    ? layout_.positions
               : column == Column::velocities ? layout_.velocities
                                              : layout_.masses;
    }
    void require_unchanged(const Part& part) const;

    std::optional<InputFile> file_;
    GadgetLayout layout_;
};

// A file of a set is opened again for each column.
void GadgetSource::require_unchanged(const Part& part) const {
    if (layout_.summary.header.counts[part.type] != part.rows) {
        refuse(*file_, "the file changed while it was read");
    }
}

void GadgetSource::read(Column column, const Part& part, DType dtype, void* out) {
    require_unchanged(part);
    const GadgetColumn found = find(column).value();
    const std::int64_t width = column == Column::masses ? 1 : 3;
    const std::int64_t offset = found.offset + (layout_.rows_before(part.type, column == Column::masses) + part.begin) *
                                                   width * found.item_bytes;
    const auto values = static_cast<std::size_t>(part.count * width);
    const auto read_as = [&](auto* place) {
        const std::span target(place, values);
        if (found.item_bytes == 8) {
            read_values<double>(*file_, offset, layout_.order, target);
        } else {
            read_values<float>(*file_, offset, layout_.order, target);
        }
    };
    if (dtype == DType::float32) {
        read_as(static_cast<float*>(out));
    } else {
        read_as(static_cast<double*>(out));
    }
}

void GadgetSource::read_ids(const Part& part, std::uint64_t* out) {
    require_unchanged(part);
    const GadgetColumn found = layout_.ids.value();
    const std::int64_t offset = found.offset + (layout_.rows_before(part.type, false) + part.begin) * found.item_bytes;
    const std::span target(out, static_cast<std::size_t>(part.count));
    if (found.item_bytes == 8) {
        read_values<std::uint64_t>(*file_, offset, layout_.order, target);
    } else {
        read_values<std::uint32_t>(*file_, offset, layout_.order, target);
    }
}

} // namespace

const Reader gadget_reader = {"Gadget-2 binary (formats 1 and 2)", is_gadget, header_from<GadgetSource>,
                              snapshot_from<GadgetSource>, true};

} // namespace kith::io
