// Sums over neighbors on a GPU, from a search's blocks of rows to results on the host: what runs after what.
//
// A visitor of the search (visit_device.hpp, radius_device.hpp) sums each block of rows in memory of the device by a
// kernel (sum_kernel.hpp) that follows the block's own work on the stream, so that rows are never kept. Memory of the
// device besides the search: 8 bytes a point for masses and for each field, 8 a query for each number that is asked
// for, and for gradients the positions.
#pragma once

#include <kith/sum_neighbors.hpp>

#include "cuda/device_context.hpp"
#include "cuda/launch.hpp"
#include "neighbors/neighbor_sums.hpp"
#include "neighbors/sum_kernel.hpp"
#include "points/device_point_set.hpp"
#include "support/allocation_errors.hpp"
#include "support/context.hpp"
#include "support/parallel.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace kith::detail::inline KITH_GPU {

template <Coordinate T>
class DeviceSums {
public:
    /// `sums` has memory for all results. The context of the host runs its own part.
    DeviceSums(DeviceContext& context, Context& host, const Frame<T>& frame, const SumOptions& options,
               const FixedUnits& units, NeighborSums& sums)
        : context_(context), host_(host), units_(units), constants_(constants_of(options.kernel)) {
        job_.kernel = options.kernel;
        job_.dimension = frame.dimension;
        job_.normalization = constants_.normalization[static_cast<std::size_t>(frame.dimension - 2)];
        job_.period = frame.working_period;
        job_.raw = PowerOfTwo<double>(-frame.exponent);
        job_.terms = units.terms;
        job_.value_top = units.masses + constants_.value_exponent;
        job_.slope_top = units.masses + constants_.slope_exponent;
        job_.masses = options.masses ? uploaded(*options.masses) : nullptr;
        job_.density = result(sums.density);
        job_.reach = result(sums.reach);
        job_.counts = result(sums.counts);
        job_.density_gradient = result(sums.density_gradient);
        for (std::size_t i = 0; i < options.fields.size(); ++i) {
            FieldSums& field = sums.fields[i];
            fields_.push_back({uploaded(options.fields[i]), units.terms > 0 ? units.fields[i] : 0, result(field.sum),
                               result(field.mean), result(field.variance), result(field.least), result(field.greatest),
                               result(field.gradient)});
        }
        job_.field_count = static_cast<int>(fields_.size());
        fields_there_ = context.buffer<DeviceField>(job_.field_count);
        context.copy(fields_there_.data(), fields_.data(),
                     job_.field_count * static_cast<std::int64_t>(sizeof(DeviceField)));
        job_.fields = fields_there_.data();
    }

    /// For sums within radii, which are the kernels' reach.
    void set_radii(const Radii& radii) {
        if (radii.is_uniform()) {
            job_.radius = static_cast<T>(radii[0]);
            return;
        }
        const std::vector<T> rounded = with_allocation_errors("the radii", [&] {
            std::vector<T> numbers;
            for (std::int64_t i = 0; i < radii.count(); ++i) {
                numbers.push_back(static_cast<T>(radii[i]));
            }
            return numbers;
        });
        radii_ = on_device(rounded);
        job_.radii = radii_.data();
    }

    /// For gradients; `queries` may be the sources.
    void set_positions(const DevicePointSet<T>& sources, const DevicePointSet<T>& queries) {
        job_.positions = scattered(sources);
        job_.query_positions = &queries == &sources ? job_.positions : scattered(queries);
    }

    /// Turns to the gradients of fields, which need all densities of a self-search.
    void turn_to_field_gradients(std::int64_t points) {
        volumes_ = context_.buffer<double>(points);
        const DeviceBuffer<std::int32_t> largest = context_.buffer<std::int32_t>(1);
        const std::int32_t least = SplitNumber::exponent_of_zero;
        context_.copy(largest.data(), &least, sizeof least);
        for_each_index(context_, "volumes of points", points,
                       FindVolumes{job_.masses, job_.density, volumes_.data(), largest.data()});
        const std::int32_t exponent = context_.to_host(largest.data());
        job_.slope_top = exponent + constants_.slope_exponent;
        job_.volumes = volumes_.data();
    }

    /// Sums rows of k nearest neighbors, a block of a visitor.
    void operator()(const NeighborBlock& block) {
        SumKernelJob<T> job = job_;
        job.rows = std::ssize(block.query_indices);
        job.k = block.k;
        job.queries = block.query_indices.data();
        job.indices = static_cast<const std::int32_t*>(block.indices_data);
        job.distances = static_cast<const T*>(block.distances_data);
        launch_rows(sum_rows_kernel<T, false>, job);
    }
    /// Sums rows within radii.
    void operator()(const RadiusBlock& block) {
        SumKernelJob<T> job = job_;
        job.rows = std::ssize(block.query_indices);
        job.offsets = block.offsets.data();
        job.queries = block.query_indices.data();
        job.indices = static_cast<const std::int32_t*>(block.indices_data);
        job.distances = static_cast<const T*>(block.distances_data);
        launch_rows(sum_rows_kernel<T, true>, job);
    }

    /// Brings all results to the host.
    void deliver() {
        context_.stage("download", [&] {
            for (const Result& result : results_) {
                context_.copy(result.to, result.there.data(), result.there.size());
            }
            context_.wait();
        });
    }

private:
    struct Result {
        void* to;
        DeviceBuffer<std::byte> there;
    };

    /// Memory for a column of results, or null where it is empty.
    template <class Number>
    Number* result(std::vector<Number>& column) {
        if (column.empty()) {
            return nullptr;
        }
        const auto bytes = static_cast<std::int64_t>(column.size() * sizeof(Number));
        return reinterpret_cast<Number*>(
            results_.emplace_back(Result{column.data(), context_.buffer<std::byte>(bytes)}).there.data());
    }

    /// A copy of numbers of the host, which may go when this returns.
    template <class Number>
    [[nodiscard]] DeviceBuffer<Number> on_device(const std::vector<Number>& numbers) const {
        DeviceBuffer<Number> there = context_.buffer<Number>(std::ssize(numbers));
        context_.copy(there.data(), numbers.data(), std::ssize(numbers) * static_cast<std::int64_t>(sizeof(Number)));
        context_.wait();
        return there;
    }
    const double* uploaded(const ScalarsView& column) {
        std::vector<double> numbers =
            with_allocation_errors("a column of numbers", [&] { return std::vector<double>(column.count()); });
        host_.run([&] {
            parallel_each(column.count(), 1 << 14, [&](std::int64_t i) { numbers[i] = column[i] + 0.0; }); // no -0.0
        });
        return columns_.emplace_back(on_device(numbers)).data();
    }
    const T* scattered(const DevicePointSet<T>& points) {
        const int dimension = job_.dimension;
        T* const rows = positions_.emplace_back(context_.buffer<T>(points.count * dimension)).data();
        for_each_index(context_, "positions of points", points.count,
                       ScatterPositions<T>{points.view(), dimension, rows});
        return rows;
    }
    void launch_rows(void (*kernel)(SumKernelJob<T>), const SumKernelJob<T>& job) {
        launch_threads(context_, "sums over neighbors", kernel, job.rows * lanes_of_sum, job);
    }

    DeviceContext& context_;
    Context& host_;
    const FixedUnits& units_;
    const KernelConstants& constants_;
    SumKernelJob<T> job_;
    std::vector<DeviceField> fields_;
    DeviceBuffer<DeviceField> fields_there_;
    std::deque<Result> results_;
    std::deque<DeviceBuffer<double>> columns_; ///< masses and fields
    std::deque<DeviceBuffer<T>> positions_;
    DeviceBuffer<T> radii_;
    DeviceBuffer<double> volumes_;
};

} // namespace kith::detail::inline KITH_GPU
