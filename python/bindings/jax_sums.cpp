// Sums over neighbors as a custom call of XLA, on CPUs: densities, and sums and means of fields (sum_neighbors.hpp).
//
// The operands of queries and masses have no rows where a flag says that there are none. Fields are f x n. Sums are
// float64 inside, and stored in the type of the points.
#include "jax_call.hpp"
#include "jax_trees.hpp"

#include <kith/sum_neighbors.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::python {

namespace {

struct SumAttributes {
    std::int64_t k;
    std::int64_t kernel; ///< of SmoothingKernel
    bool exclude_self;
    bool has_queries;
    bool has_masses;
    Numbers periods;
    Numbers origins;
    bool is_kept;
};

struct SumOperands {
    ffi::AnyBuffer points;
    ffi::AnyBuffer queries;
    ffi::AnyBuffer masses;
    ffi::AnyBuffer fields;
};

struct SumResults {
    Output density;
    Output reach;
    Output sums;
    Output means;
};

/// Column `row` of an array of columns of n numbers.
ScalarsView column_of(const ffi::AnyBuffer& buffer, std::size_t own, std::int64_t array, std::int64_t row) {
    const std::int64_t count = buffer.dimensions().back();
    const auto bytes = static_cast<std::int64_t>(bytes_of_element(buffer));
    return {array_in(buffer, own, array) + row * count * bytes, dtype_of(buffer), count, bytes};
}

/// Writes row `row` of an element of a result.
void store(Output result, std::size_t own, std::int64_t element, std::size_t row, const std::vector<double>& values) {
    const auto write = [&]<class T>(std::span<T> memory) {
        std::ranges::transform(values, memory.subspan(row * values.size()).begin(),
                               [](double value) { return static_cast<T>(value); });
    };
    if (dtype_of(*result) == DType::float64) {
        write(elements_of<double>(result, own, element));
    } else {
        write(elements_of<float>(result, own, element));
    }
}

ffi::Error sum(const SumOperands& operands, SumResults results, const SumAttributes& attributes) {
    return guarded([&] {
        const Batch batch(results.density, 1);
        batch.for_each([&](std::int64_t element) {
            const PointsView points = points_of(operands.points, {}, batch.array_of(operands.points, element));
            const KeptOrPoints index(points, box_of(attributes.periods, attributes.origins), attributes.is_kept);
            SumOptions options{.box = index.box(),
                               .kernel = static_cast<SmoothingKernel>(attributes.kernel),
                               .exclude_self = attributes.exclude_self,
                               .statistics = {.sum = true, .mean = true}};
            if (attributes.has_masses) {
                options.masses = column_of(operands.masses, 1, batch.array_of(operands.masses, element), 0);
            }
            for (std::int64_t field = 0; field < operands.fields.dimensions()[operands.fields.dimensions().size() - 2];
                 ++field) {
                options.fields.push_back(
                    column_of(operands.fields, 2, batch.array_of(operands.fields, element), field));
            }
            const Neighborhood nearest = Nearest{attributes.k};
            const NeighborSums found =
                attributes.has_queries
                    ? sum_neighbors(index.get(),
                                    points_of(operands.queries, {}, batch.array_of(operands.queries, element)), nearest,
                                    options)
                    : sum_neighbors(index.get(), nearest, options);
            store(results.density, 1, element, 0, found.density);
            store(results.reach, 1, element, 0, found.reach);
            for (std::size_t field = 0; field < found.fields.size(); ++field) {
                store(results.sums, 2, element, field, found.fields[field].sum);
                store(results.means, 2, element, field, found.fields[field].mean);
            }
        });
    });
}

XLA_FFI_DEFINE_HANDLER(
    sum_on_cpu,
    ([](ffi::AnyBuffer points, ffi::AnyBuffer queries, ffi::AnyBuffer masses, ffi::AnyBuffer fields, Output density,
        Output reach, Output sums, Output means, auto... attributes) {
        return sum({points, queries, masses, fields}, {density, reach, sums, means}, {attributes...});
    }),
    ffi::Ffi::Bind()
        .Arg<ffi::AnyBuffer>()
        .Arg<ffi::AnyBuffer>()
        .Arg<ffi::AnyBuffer>()
        .Arg<ffi::AnyBuffer>()
        .Ret<ffi::AnyBuffer>()
        .Ret<ffi::AnyBuffer>()
        .Ret<ffi::AnyBuffer>()
        .Ret<ffi::AnyBuffer>()
        .Attr<std::int64_t>("k")
        .Attr<std::int64_t>("kernel")
        .Attr<bool>("exclude_self")
        .Attr<bool>("has_queries")
        .Attr<bool>("has_masses")
        .Attr<Numbers>("periods")
        .Attr<Numbers>("origins")
        .Attr<bool>("is_kept"));

} // namespace

void add_sum_handlers(nb::dict& handlers) {
    handlers[nb::make_tuple("kith_sum", "cpu")] = capsule_of(sum_on_cpu);
}

} // namespace kith::python
