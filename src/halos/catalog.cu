// Groups on a GPU: their catalog, and arrays in their order. Columns are brought there if they are the host's.
#include "cuda/result_memory.hpp"
#include "halos/catalog_device.hpp"
#include "halos/device_entry.hpp"
#include "halos/group_order_device.hpp"
#include "halos/particles_on_device.hpp"
#include "points/normalize_device.hpp"
#include "support/dimension.hpp"
#include "support/number_types.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace kith::detail::inline KITH_GPU {

namespace {

/// As halos/columns.hpp has it for positions of the host.
halos::PositionFrame frame_of_all(DeviceContext& context, const PointsView& positions, const Box& box) {
    halos::PositionFrame frame;
    with_dtype(positions.dtype(), [&]<Coordinate T>(T) {
        with_dimension(positions.dimension(), [&]<int D>(std::integral_constant<int, D>) {
            frame = halos::position_frame(normalize_sources_on_device<T, D>(context, positions, box).frame);
        });
    });
    return frame;
}

/// Calls use(groups on the device) within the stage "catalog".
template <class Use>
void describe(DeviceContext& context, const halos::LabeledGroups& groups, const Particles& given,
              const FofSummary& found, const CatalogOptions& options, const Use& use) {
    if (!given.types.empty() && halos::plain_types(given).empty() && is_on_device(context, given.types.data())) {
        throw Error(ErrorKind::invalid_argument, "types: in memory of a GPU they must be contiguous std::uint8_t; "
                                                 "convert them");
    }
    std::vector<std::uint8_t> memory_of_types;
    const Particles particles = halos::with_plain_types(given, memory_of_types);
    std::optional<ParticlesOnDevice> there;
    ElementsOnDevice<std::int32_t> labels;
    context.stage("upload", [&] {
        there.emplace(context, particles);
        labels = ElementsOnDevice<std::int32_t>(context, groups.labels);
    });
    context.stage("catalog", [&] {
        const PointsView& positions = there->particles().positions;
        GroupsOnDevice described;
        const auto describe_in = [&](const halos::PositionFrame& frame) {
            described = describe_groups(context, {labels.elements(), groups.sizes}, there->particles(), frame, options);
            return described.are_below;
        };
        const std::optional<halos::PositionFrame> known = halos::known_frame(found, positions);
        if (!known || !describe_in(*known)) {
            (void)describe_in(frame_of_all(context, positions, found.box));
        }
        use(std::move(described));
    });
}

} // namespace

Catalog catalog_on_device(const halos::LabeledGroups& groups, const Particles& particles, const FofSummary& found,
                          const CatalogOptions& options) {
    DeviceContext context(options.execution);
    Catalog catalog;
    describe(context, groups, particles, found, options, [&](const GroupsOnDevice& there) {
        static_cast<CatalogSummary&>(catalog) = there.summary;
        copy_to_host(context, there.columns.pointers().columns, there.members.data(), groups.sizes,
                     particles.velocities.has_value(), catalog);
    });
    catalog.stages = context.take_stages();
    return catalog;
}

DeviceCatalog device_catalog(const halos::LabeledGroups& groups, const Particles& particles, const FofSummary& found,
                             const CatalogOptions& options) {
    DeviceContext context(options.execution);
    context.memory()->take_apart();
    auto there = std::make_shared<GroupsOnDevice>();
    describe(context, groups, particles, found, options,
             [&](GroupsOnDevice&& described) { *there = std::move(described); });
    there->summary.stages = context.take_stages();
    CatalogMemory memory;
    std::ranges::copy(there->columns.pointers().columns, memory.columns.begin());
    memory.members = {there->members.data(), static_cast<std::size_t>(there->members.size())};
    memory.sizes = groups.sizes;
    memory.has_velocities = particles.velocities.has_value();
    CatalogSummary summary = there->summary;
    memory.owner = std::move(there);
    return {std::move(summary), context.device(), std::move(memory)};
}

Catalog catalog_on_host(const DeviceCatalog& catalog, const Execution& execution) {
    DeviceContext context(execution);
    Catalog copy;
    static_cast<CatalogSummary&>(copy) = catalog;
    const CatalogMemory& memory = catalog.memory();
    copy_to_host(context, memory.columns, memory.members.data(), memory.sizes, memory.has_velocities, copy);
    return copy;
}

/// A number in another type, and zeros behind the last.
template <class From, class To>
struct StoreColumn {
    const From* from;
    std::int64_t count;
    To* to;

    __device__ void operator()(std::int64_t i) const { to[i] = i < count ? static_cast<To>(from[i]) : To(0); }
};

void store_column(const DeviceCatalog& catalog, std::size_t column, const ColumnMemory& to,
                  const Execution& execution) {
    const std::int64_t count =
        catalog_columns[column].size(catalog.groups, catalog.dimension, catalog.memory().has_velocities);
    const void* const from = catalog.memory().columns[column];
    DeviceWork work(execution);
    std::visit(
        [&]<class To>(std::span<To> memory) {
            if (!memory.empty() && !is_on_device(work, memory.data())) {
                throw error(ErrorKind::invalid_argument, "the memory for a column is not that of GPU ",
                            work.device().index, ", on which its catalog is");
            }
            using From = std::conditional_t<std::is_floating_point_v<To>, double,
                                            std::conditional_t<sizeof(To) == 1, std::uint8_t, std::int64_t>>;
            for_each_index(work, "column of a catalog", std::ssize(memory),
                           StoreColumn<From, To>{static_cast<const From*>(from), count, memory.data()});
        },
        to);
}

namespace {

/// To the host go the columns of the groups, and 4 bytes per member.
class DevicePartDescriber final : public halos::PartDescriber {
public:
    explicit DevicePartDescriber(const Execution& execution) : context_(execution) {}

    [[nodiscard]] Catalog describe(const char* stage, const halos::LabeledGroups& groups, const Particles& given,
                                   const halos::ParticleUnits& units) override {
        Catalog catalog;
        if (groups.groups() == 0) {
            catalog.dimension = given.positions.dimension();
            return catalog;
        }
        std::optional<ParticlesOnDevice> there;
        ElementsOnDevice<std::int32_t> labels;
        context_.stage("upload", [&] {
            there.emplace(context_, given);
            labels = ElementsOnDevice<std::int32_t>(context_, groups.labels);
        });
        context_.stage(stage, [&] {
            const GroupsOnDevice described =
                describe_groups(context_, {labels.elements(), groups.sizes}, there->particles(), units.positions,
                                {.min_members = 1}, units.largest_velocity);
            static_cast<CatalogSummary&>(catalog) = described.summary;
            copy_to_host(context_, described.columns.pointers().columns, described.members.data(), groups.sizes,
                         given.velocities.has_value(), catalog);
        });
        for_each_field(catalog, [&]<class T>(const CatalogColumn& column, const std::vector<T>& values) {
            bytes_to_host_ += halos::follows_from_sizes(column) ? 0 : std::ssize(values) * std::int64_t{sizeof(T)};
        });
        bytes_to_host_ += catalog.member_array.size() * 4;
        return catalog;
    }

    [[nodiscard]] StageReports take_stages() override { return context_.take_stages(); }
    [[nodiscard]] std::int64_t bytes_to_host() const override { return bytes_to_host_; }

private:
    DeviceContext context_;
    std::int64_t bytes_to_host_ = 0;
};

} // namespace

std::unique_ptr<halos::PartDescriber> part_describer(const Execution& execution) {
    return std::make_unique<DevicePartDescriber>(execution);
}

void group_order(std::span<const std::int32_t> given, std::int64_t groups, std::span<std::int32_t> indices,
                 std::span<std::int64_t> offsets, const Execution& execution, GroupOrderSummary& result) {
    DeviceContext context(execution);
    const ResultMemory of_indices(context, indices.data(), static_cast<std::int64_t>(indices.size_bytes()));
    const ResultMemory of_offsets(context, offsets.data(), static_cast<std::int64_t>(offsets.size_bytes()));
    context.stage("order", [&] {
        const ElementsOnDevice<std::int32_t> labels(context, given);
        result.members =
            order_by_group(context, labels.elements(), groups, static_cast<std::int32_t*>(of_indices.on_device()),
                           static_cast<std::int64_t*>(of_offsets.on_device()));
        of_indices.copy(context);
        of_offsets.copy(context);
    });
    result.stages = context.take_stages();
}

void gather_rows(std::span<const std::int32_t> indices, const void* rows, std::int64_t row_bytes, void* out,
                 const Execution& execution) {
    DeviceContext context(execution);
    gather_rows(context, indices, rows, row_bytes, out);
}

} // namespace kith::detail::inline KITH_GPU
