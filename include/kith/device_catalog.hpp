// A catalog in memory of a GPU: its columns for kernels, and copied to the host on request.
//
// The numbers are those of kith::catalog, bit for bit. Nothing of the size of the catalog crosses the bus if labels and
// particles are in memory of the GPU.
#pragma once

#include <kith/catalog_columns.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace kith {

namespace detail {

/// The numbers of a catalog in memory of a GPU.
struct CatalogMemory {
    std::array<const void*, catalog_columns.size()> columns{};
    std::span<const std::int32_t> members;
    GroupSizes sizes; ///< of all groups that were found
    bool has_velocities = false;
    std::shared_ptr<const void> owner;
};

} // namespace detail

/// One entry per group, in label order. Copies share the memory. Device work that reads it must complete before the
/// last copy is destroyed, and an Execution::memory must outlive that copy.
class DeviceCatalog : public CatalogSummary {
public:
    DeviceCatalog() = default; ///< without groups
    DeviceCatalog(CatalogSummary summary, Device device, detail::CatalogMemory memory)
        : CatalogSummary(std::move(summary)), device_(device), memory_(std::move(memory)) {}

    [[nodiscard]] Device device() const noexcept { return device_; } ///< device that owns the memory

    /// Input rows of all members, as Catalog::members(). In memory of device(), as all columns.
    [[nodiscard]] std::span<const std::int32_t> members() const noexcept { return memory_.members; }
    /// A column, which a member of Catalog names: column<&Catalog::mass>(). Those of velocities are empty without them.
    template <auto Member>
    [[nodiscard]] auto column() const noexcept {
        using Number = typename std::remove_reference_t<decltype(std::declval<Catalog&>().*Member)>::value_type;
        constexpr std::size_t index = detail::index_of_column<Member>();
        const std::int64_t size = catalog_columns[index].size(groups, dimension, memory_.has_velocities);
        return std::span(static_cast<const Number*>(memory_.columns[index]), static_cast<std::size_t>(size));
    }

    /// A copy in host memory: what kith::catalog returns. Waits for the stream. Throws Error: out_of_memory, device.
    [[nodiscard]] Catalog to_host(CudaStream stream = nullptr) const;

    [[nodiscard]] const detail::CatalogMemory& memory() const noexcept { return memory_; }

private:
    Device device_;
    detail::CatalogMemory memory_;
};

/// The catalog of groups in memory of the GPU on which the call runs; arguments are as for catalog(), in host memory or
/// in memory of that GPU. Throws as catalog(), and invalid_argument for an execution that is not cuda().
[[nodiscard]] DeviceCatalog device_catalog(std::span<const std::int32_t> labels, const FofSummary& groups,
                                           const Particles& particles,
                                           const CatalogOptions& options = {.execution = cuda()});
[[nodiscard]] DeviceCatalog device_catalog(const FofResult& groups, const Particles& particles,
                                           const CatalogOptions& options = {.execution = cuda()});

/// Memory of a GPU for a column: of real numbers float or double, of whole ones std::int32_t, of flags std::uint8_t.
using ColumnMemory =
    std::variant<std::span<float>, std::span<double>, std::span<std::int32_t>, std::span<std::uint8_t>>;

/// Writes the column of a field (the name of a member of Catalog) to memory of the catalog's GPU, on the stream,
/// without a wait: as many numbers as there is memory for, in its type, and zeros behind the last group. The catalog
/// must live until the stream has completed the work. Throws Error: invalid_argument (no such field, numbers of another
/// kind, memory of the host or of another GPU), device.
void store_column(const DeviceCatalog& catalog, std::string_view field, const ColumnMemory& to,
                  CudaStream stream = nullptr);

} // namespace kith
