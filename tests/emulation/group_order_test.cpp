// Arrays in the order of groups, and catalogs that stay on the device, on the emulated GPU: the CPU's, to the last bit,
// and what crosses the bus for them.
#include "emulation/calls_on_device.hpp"

#include "cuda_emulation/cuda_runtime.hpp"
#include "halos/orders.hpp"
#include "halos/samples.hpp"

#include <kith/device_catalog.hpp>
#include <kith/group_order.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace kith::test {
namespace {

/// Elements in memory of the device, a few bytes behind where it is aligned.
template <class T>
class OnDevice {
public:
    explicit OnDevice(const std::vector<T>& elements, std::size_t shift = 0)
        : memory_(detail::on_gpu().result_memory(static_cast<std::int64_t>(elements.size() * sizeof(T) + shift + 1),
                                                 cuda())),
          data_(reinterpret_cast<T*>(static_cast<std::byte*>(memory_.get()) + shift)), size_(elements.size()) {
        (void)cudaMemcpyAsync(data_, elements.data(), size_ * sizeof(T), cudaMemcpyDefault, nullptr);
        emulation::touch([] {});
    }
    [[nodiscard]] std::span<T> span() const { return {data_, size_}; }

private:
    std::shared_ptr<void> memory_;
    T* data_;
    std::size_t size_;
};

template <class T>
std::vector<std::remove_const_t<T>> on_host(std::span<T> there) {
    std::vector<std::remove_const_t<T>> elements;
    emulation::touch([&] { elements.assign(there.begin(), there.end()); });
    return elements;
}

/// Bytes between host and device that a call copies.
std::int64_t bytes_over_the_bus(const std::function<void()>& call) {
    const std::int64_t before = emulation::requests().host_bytes;
    call();
    return emulation::requests().host_bytes - before;
}

/// What a call puts on the stream, and how often it waits.
struct Cost {
    int kernels = 0;
    int array_passes = 0; ///< sorts and selections of CUB
    int waits = 0;
    friend bool operator==(const Cost&, const Cost&) = default;
};

Cost cost_of(const std::function<void()>& call) {
    Cost cost;
    const int waits = emulation::requests().waits;
    emulation::observe(
        [&](const emulation::Work& work) { ++(work.kernel != nullptr ? cost.kernels : cost.array_passes); });
    call();
    emulation::observe({});
    cost.waits = emulation::requests().waits - waits;
    return cost;
}

GroupOrderSummary order_on_device(std::span<const std::int32_t> labels, std::int64_t groups,
                                  std::span<std::int32_t> indices, std::span<std::int64_t> offsets) {
    GroupOrderSummary summary;
    detail::on_gpu().group_order(labels, groups, indices, offsets, cuda(), summary);
    return summary;
}

TEST(GroupOrderOnDevice, IsTheCpus) {
    for (const LabeledCase& each : labeled_cases(1500)) {
        const GroupOrder expected = sorted_by_label(each.labels, each.groups);
        std::vector<std::int32_t> indices(each.labels.size(), -9);
        std::vector<std::int64_t> offsets(static_cast<std::size_t>(each.groups) + 1, -9);
        {
            const OnDevice labels_there(each.labels);
            const OnDevice indices_there(indices);
            const OnDevice offsets_there(offsets);
            const std::int64_t bytes = bytes_over_the_bus([&] {
                EXPECT_EQ(order_on_device(labels_there.span(), each.groups, indices_there.span(), offsets_there.span())
                              .members,
                          expected.members);
            });
            EXPECT_EQ(bytes, 32) << each.name; // what the survey of the rows has counted
            EXPECT_EQ(on_host(indices_there.span()), expected.indices) << each.name;
            EXPECT_EQ(on_host(offsets_there.span()), expected.offsets) << each.name;
        }
        EXPECT_EQ(order_on_device(each.labels, each.groups, indices, {}).members, expected.members);
        EXPECT_EQ(indices, expected.indices) << each.name;
        EXPECT_EQ(order_on_device(each.labels, each.groups, indices, offsets).members, expected.members);
        EXPECT_EQ(offsets, expected.offsets) << each.name;
        EXPECT_EQ(emulation::held_on_device(), 0);
    }
}

TEST(GroupOrderOnDevice, TakesFewLaunches) { // as docs/catalogs.md has it
    const LabeledCase each = labeled_cases(1500).at(4);
    const OnDevice labels(each.labels);
    const OnDevice indices(each.labels);
    const OnDevice offsets(std::vector<std::int64_t>(static_cast<std::size_t>(each.groups) + 1));
    const OnDevice columns(std::vector<double>(3 * each.labels.size()));
    const OnDevice out(std::vector<double>(3 * each.labels.size()));
    EXPECT_EQ(cost_of([&] { (void)order_on_device(labels.span(), each.groups, indices.span(), offsets.span()); }),
              (Cost{.kernels = 5, .array_passes = 3, .waits = 3}));
    EXPECT_EQ(cost_of([&] {
                  detail::on_gpu().gather_rows(indices.span(), columns.span().data(), 3 * sizeof(double),
                                               out.span().data(), cuda());
              }),
              (Cost{.kernels = 1, .array_passes = 0, .waits = 2}));
}

TEST(RowsOnDevice, AreGatheredWhateverTheirWidthAndAddress) {
    const std::vector<std::int32_t> indices{5, 0, 0, 41, 7, 40, 2};
    const OnDevice indices_there(indices);
    for (const std::size_t width : {1, 2, 3, 4, 7, 8, 12, 16, 20, 24, 40, 64, 300}) {
        std::vector<std::uint8_t> rows(42 * width);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            rows[i] = static_cast<std::uint8_t>(i * 31 + i / 256);
        }
        std::vector<std::uint8_t> expected(indices.size() * width);
        gather_rows(indices, rows.data(), width, expected.data());
        for (const std::size_t shift : {0, 4, 1}) {
            const OnDevice there(rows, shift);
            const OnDevice out(std::vector<std::uint8_t>(expected.size(), 0xEE));
            const std::int64_t bytes = bytes_over_the_bus([&] {
                detail::on_gpu().gather_rows(indices_there.span(), there.span().data(),
                                             static_cast<std::int64_t>(width), out.span().data(), cuda());
            });
            EXPECT_EQ(bytes, 4);
            EXPECT_EQ(on_host(out.span()), expected) << width << ", " << shift;
        }
    }
}

TEST(RowsOnDevice, AreNotGatheredByNegativeIndicesOrFromTheHost) {
    const OnDevice indices(std::vector<std::int32_t>{0, 2, -5, -6});
    const OnDevice rows(std::vector<float>(3));
    const OnDevice out(std::vector<float>(4));
    const auto gather = [&](std::span<const std::int32_t> order, const void* from, void* to) {
        detail::on_gpu().gather_rows(order, from, 4, to, cuda());
    };
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"indices[2] is -5"},
                           [&] { gather(indices.span(), rows.span().data(), out.span().data()); }));
    const std::vector<std::int32_t> of_host(4);
    std::vector<float> to_host(4);
    const std::vector<std::string> words{"gather_rows() on a GPU", "memory of that GPU"};
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, words,
                           [&] { gather(of_host, rows.span().data(), out.span().data()); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, words,
                           [&] { gather(indices.span(), rows.span().data(), to_host.data()); }));
}

/// A column as the host sees it.
template <auto Member>
void expect_column(const DeviceCatalog& found, const Catalog& expected) {
    EXPECT_EQ(on_host(found.column<Member>()), expected.*Member);
}

/// Into arrays with fewer rows than there are groups, and with more.
template <class To, class T>
void expect_stored(const DeviceCatalog& found, const CatalogColumn& column, const std::vector<T>& values) {
    for (const std::int64_t rows : {found.groups - 2, found.groups + 3}) {
        const auto size = static_cast<std::size_t>(rows * column.width(found.dimension));
        std::vector<To> expected(size);
        for (std::size_t i = 0; i < std::min(size, values.size()); ++i) {
            expected[i] = static_cast<To>(values[i]);
        }
        const OnDevice<To> there(std::vector<To>(size, To(7)));
        const std::size_t number =
            std::ranges::find(catalog_columns, column.name, &CatalogColumn::name) - catalog_columns.begin();
        EXPECT_EQ(bytes_over_the_bus([&] { detail::on_gpu().store_column(found, number, there.span(), cuda()); }), 0);
        EXPECT_EQ(on_host(std::span<const To>(there.span())), expected) << column.field;
    }
}

TEST_F(CallsOnDevice, LeaveTheCatalogOnTheDevice) {
    const Sample<float> made = sample<float>({1100, 300, 64, 33, 32, 31, 20, 20, 19, 3, 1, 1}, 3, 7);
    const FofResult groups = in_box(made.groups, Box::periodic(sample_period));
    const OnDevice labels(on_host(groups.labels()));
    const OnDevice positions(made.positions);
    const OnDevice velocities(made.velocities);
    const OnDevice masses(made.masses);
    const OnDevice types(made.types);
    for (const bool everything : {false, true}) {
        const Particles particles = everything ? made.everything() : made.positions_only();
        Particles there = particles;
        there.positions = PointsView(positions.span().data(), made.count(), 3, Device{DeviceKind::cuda, 0});
        if (everything) {
            there.velocities = PointsView(velocities.span().data(), made.count(), 3, Device{DeviceKind::cuda, 0});
            there.masses = ScalarsView(std::span<const float>(masses.span()));
            there.types = std::span<const std::uint8_t>(types.span());
        }
        const CatalogOptions options{.min_members = 20, .execution = cuda()};
        const Catalog expected = catalog(groups, particles, {.min_members = 20, .execution = cpu(1)});
        const std::int64_t before = emulation::held_on_device();
        {
            DeviceCatalog found;
            const std::int64_t bytes = bytes_over_the_bus([&] {
                found = detail::on_gpu().device_catalog({labels.span(), groups.sizes}, there, groups, options);
            });
            EXPECT_LT(bytes, 1000); // bounds of the points, counts, and 16 for each size that occurs
            const DeviceCatalog copy = found;
            found = {};
            EXPECT_EQ(copy.groups, expected.groups);
            EXPECT_EQ(copy.device(), (Device{DeviceKind::cuda, 0}));
            EXPECT_EQ(copy.stages.back().name, "catalog");
            EXPECT_EQ(on_host(copy.members()), on_host(expected.member_array.as_int32()));
            expect_column<&Catalog::offset>(copy, expected);
            expect_column<&Catalog::count>(copy, expected);
            expect_column<&Catalog::mass_by_type>(copy, expected);
            expect_column<&Catalog::center>(copy, expected);
            expect_column<&Catalog::velocity>(copy, expected);
            expect_column<&Catalog::is_ambiguous>(copy, expected);
            const Catalog on_the_host = detail::on_gpu().catalog_on_host(copy, cuda());
            EXPECT_EQ(on_the_host.member_array, expected.member_array);
            EXPECT_EQ(on_the_host.min_members, 20);
            EXPECT_TRUE(same_values(on_the_host, expected));
            for_each_field(expected, [&]<class T>(const CatalogColumn& column, const std::vector<T>& values) {
                if constexpr (std::is_same_v<T, double>) {
                    expect_stored<float>(copy, column, values);
                    expect_stored<double>(copy, column, values);
                } else {
                    expect_stored<std::conditional_t<std::is_same_v<T, std::uint8_t>, T, std::int32_t>>(copy, column,
                                                                                                        values);
                }
            });
        }
        EXPECT_EQ(emulation::held_on_device(), before);
    }
}

TEST(DeviceCatalogs, WithoutGroupsOrOnTheCpu) {
    const DeviceCatalog none;
    EXPECT_EQ(none.column<&Catalog::mass>().size(), 0U);
    EXPECT_TRUE(none.members().empty());
    EXPECT_EQ(none.to_host().groups, 0);
    std::vector<float> numbers(3);
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"no field 'weight'"},
                           [&] { store_column(none, "weight", std::span(numbers)); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"'count'", "whole ones std::int32_t"},
                           [&] { store_column(none, "count", std::span(numbers)); }));
    EXPECT_TRUE(lacks_its_gpu([&] { store_column(none, "mass", std::span(numbers)); }));
    const Sample<float> made = sample<float>({20}, 3, 1);
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"device_catalog() runs on a GPU"},
                           [&] { (void)device_catalog(made.groups, made.positions_only(), {.execution = cpu(1)}); }));
    EXPECT_TRUE(
        lacks_its_gpu([&] { (void)device_catalog(made.groups, made.positions_only(), {.execution = on_no_gpu}); }));
}

} // namespace
} // namespace kith::test
