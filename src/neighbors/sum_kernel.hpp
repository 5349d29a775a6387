// Sums over the rows of neighbors that a search on a GPU has found (docs/semantics.md, "Sums over neighbors"): half a
// warp for each row.
//
// Thread i has the terms i, i + 16 and so on of its row, one of the 16 lanes in which terms of k neighbors are added;
// lanes are joined by shuffles, i and i + 8 first, then i and i + 4, 2, 1. Within a radius the threads' parts are
// integers of 128 bits (support/fixed_sum.hpp). A weight is computed again in each pass over the row, of which a
// density takes one and a field two: nothing is stored but results. Operations are those of neighbor_sums.hpp, so the
// bits are.
#pragma once

#include "cuda/lane_sums.hpp"
#include "geometry/distances_kernel.hpp"
#include "neighbors/smoothing_device.hpp"
#include "points/frame.hpp"
#include "points/point_set_view.hpp"
#include "support/fixed_sum.hpp"

#include <cstdint>
#include <limits>

namespace kith::detail::inline KITH_GPU {

inline constexpr int lanes_of_sum = 16;

/// A field, and where what is asked for of it goes; null is not wanted.
struct DeviceField {
    const double* values = nullptr; ///< by original index
    int exponent = 0;               ///< of the largest, within a radius
    double* sum = nullptr;
    double* mean = nullptr;
    double* variance = nullptr;
    double* least = nullptr;
    double* greatest = nullptr;
    double* gradient = nullptr;
};

template <class T>
struct SumKernelJob {
    // Rows, sorted queries that follow each other: of k neighbors each, of which -1 ends a row, or from offsets on.
    std::int64_t rows = 0;
    std::int64_t k = 0;
    const std::int64_t* offsets = nullptr;
    const std::int32_t* queries = nullptr; ///< original indices
    const std::int32_t* indices = nullptr;
    const T* distances = nullptr; ///< as they are reported
    // What is summed.
    SmoothingKernel kernel = SmoothingKernel::cubic_spline;
    double normalization = 0;
    int dimension = 0;
    const double* masses = nullptr;  ///< by original index, as all that follow; null: 1 each
    const double* volumes = nullptr; ///< m/rho: gradients of fields are summed, else all but these
    const T* radii = nullptr;        ///< of the queries, as they are reported; null: of all
    T radius = 0;
    const T* positions = nullptr; ///< working coordinates, row-major; null: there are no gradients
    const T* query_positions = nullptr;
    Periods<T> period{};
    PowerOfTwo<double> raw; ///< from working to given units
    const DeviceField* fields = nullptr;
    int field_count = 0;
    // Of sums without order: see FixedUnits.
    std::int64_t terms = 0; ///< 0: sums are in lanes
    int value_top = 0;      ///< exponent above m w
    int slope_top = 0;      ///< above m w'(u)/u, or (m/rho) w'(u)/u
    // Results.
    double* density = nullptr;
    double* reach = nullptr;
    std::int64_t* counts = nullptr;
    double* density_gradient = nullptr;
};

/// The sum of a thread's products and those of the other threads of its row.
template <bool Fixed>
class ProductSum {
public:
    /// `top`: the exponent above all products.
    __device__ ProductSum(int top, std::int64_t terms) {
        if constexpr (Fixed) {
            fixed_ = FixedSum(top, terms);
        }
    }
    __device__ void add(double a, double b) {
        if constexpr (!Fixed) {
            lane_ = fused_multiply_add(a, b, lane_);
        } else if (a != 0 && b != 0) { // zeros have no exponent
            fixed_.add(split(a), split(b));
        }
    }
    /// To be called by the whole warp, for half a warp each.
    [[nodiscard]] __device__ double joined() {
#pragma unroll
        for (int lanes = lanes_of_sum / 2; lanes > 0; lanes /= 2) {
            if constexpr (Fixed) {
                fixed_.join(fixed_, OfLane{lanes});
            } else {
                lane_ += OfLane{lanes}(lane_);
            }
        }
        if constexpr (Fixed) {
            return to_double(fixed_.value());
        } else {
            return lane_;
        }
    }

private:
    double lane_ = 0;
    FixedSum fixed_;
};

/// One row. All members are called by the whole warp, each half of which has its own row.
template <class T, bool Fixed>
class RowSum {
public:
    __device__ RowSum(const SumKernelJob<T>& job, std::int64_t row, bool has_row)
        : job_(job), lane_(static_cast<int>(threadIdx.x) % lanes_of_sum), writes_(has_row && lane_ == 0),
          query_(job.queries[row]) {
        const std::int64_t begin = job.offsets != nullptr ? job.offsets[row] : row * job.k;
        indices_ = job.indices + begin;
        distances_ = job.distances + begin;
        size_ = job.offsets != nullptr ? job.offsets[row + 1] - begin : neighbors_of_row();
        reach_ =
            !Fixed ? (size_ > 0 ? static_cast<double>(distances_[size_ - 1]) : std::numeric_limits<double>::infinity())
                   : static_cast<double>(job.radii != nullptr ? job.radii[query_] : job.radius);
        const double inverse = 1 / reach_;
        inverse_reach_ = inverse <= std::numeric_limits<double>::max() ? inverse : 0;
    }

    __device__ void sum_all_else() {
        ProductSum<Fixed> density(job_.value_top + exponent_of_one, job_.terms);
        each([&](std::int64_t i) { density.add(weight(i), 1); });
        const double total = density.joined();
        write(job_.density, size_ > 0 ? normalized(total, job_.dimension) : 0);
        write(job_.reach, reach_);
        if (writes_ && job_.counts != nullptr) {
            job_.counts[query_] = size_;
        }
        for (int field = 0; field < job_.field_count; ++field) {
            sum_field(job_.fields[field], total);
        }
        if (job_.density_gradient != nullptr) {
            sum_gradient(job_.density_gradient, job_.slope_top, [&](std::int64_t i) { return slope(i); });
        }
    }

    __device__ void sum_field_gradients() {
        for (int number = 0; number < job_.field_count; ++number) {
            const DeviceField field = job_.fields[number];
            const double own = field.values[query_];
            sum_gradient(field.gradient, job_.slope_top + field.exponent + 1,
                         [&](std::int64_t i) { return slope(i) * (field.values[indices_[i]] - own); });
        }
    }

private:
    static constexpr int exponent_of_one = 1;

    [[nodiscard]] __device__ std::int64_t neighbors_of_row() const {
        std::int64_t begin = 0; // no -1 is before it
        std::int64_t end = job_.k;
        while (begin < end) {
            const std::int64_t middle = begin + (end - begin) / 2;
            const bool is_neighbor = indices_[middle] >= 0;
            begin = is_neighbor ? middle + 1 : begin;
            end = is_neighbor ? end : middle;
        }
        return begin;
    }

    /// Calls function(i) for this thread's terms.
    template <class Function>
    __device__ void each(const Function& function) const {
        for (std::int64_t i = lane_; i < size_; i += lanes_of_sum) {
            function(i);
        }
    }
    [[nodiscard]] __device__ double reduced_distance(std::int64_t i) const {
        return static_cast<double>(distances_[i]) * inverse_reach_;
    }
    [[nodiscard]] __device__ double weight(std::int64_t i) const {
        const double value = kernel_value(job_.kernel, reduced_distance(i));
        return job_.masses != nullptr ? job_.masses[indices_[i]] * value : value;
    }
    [[nodiscard]] __device__ double slope(std::int64_t i) const {
        const double value = kernel_slope(job_.kernel, reduced_distance(i));
        const double* const factors = job_.volumes != nullptr ? job_.volumes : job_.masses;
        return factors != nullptr ? factors[indices_[i]] * value : value;
    }
    /// A sum as a density, or with two more powers of the reach as its gradient.
    [[nodiscard]] __device__ double normalized(double sum, int powers) const {
        double power = reach_;
        for (int i = 1; i < powers; ++i) {
            power *= reach_;
        }
        return job_.normalization * sum / power;
    }

    __device__ void sum_field(const DeviceField& field, double total) {
        const int top = job_.value_top + field.exponent;
        ProductSum<Fixed> products(top, job_.terms);
        double least = std::numeric_limits<double>::infinity();
        double greatest = -least;
        each([&](std::int64_t i) {
            const double value = field.values[indices_[i]];
            products.add(weight(i), value);
            least = device_min(least, value);
            greatest = device_max(greatest, value);
        });
        const double sum = products.joined();
#pragma unroll
        for (int lanes = lanes_of_sum / 2; lanes > 0; lanes /= 2) {
            least = device_min(least, OfLane{lanes}(least));
            greatest = device_max(greatest, OfLane{lanes}(greatest));
        }
        constexpr double undefined = std::numeric_limits<double>::quiet_NaN();
        const double mean = total > 0 ? device_min(device_max(sum / total, least), greatest) : undefined;
        write(field.sum, size_ > 0 ? normalized(sum, job_.dimension) : 0);
        write(field.least, size_ > 0 ? least : undefined);
        write(field.greatest, size_ > 0 ? greatest : undefined);
        write(field.mean, size_ > 0 ? mean : undefined);
        if (field.variance != nullptr) {
            ProductSum<Fixed> squares(top + field.exponent + 2, job_.terms);
            each([&](std::int64_t i) {
                const double offset = field.values[indices_[i]] - mean;
                if (total > 0) {
                    squares.add(weight(i) * offset, offset);
                }
            });
            const double of_squares = squares.joined();
            write(field.variance, size_ > 0 ? of_squares / total : undefined);
        }
    }

    /// Sums factor(i) times the vector from each neighbor to the query. `top`: the exponent above the factors.
    template <class Factor>
    __device__ void sum_gradient(double* gradient, int top, const Factor& factor) {
        for (int axis = 0; axis < job_.dimension; ++axis) {
            ProductSum<Fixed> products(Fixed ? top + split(reach_).exponent + 1 : 0, job_.terms);
            each([&](std::int64_t i) {
                if (reach_ > 0) {
                    products.add(factor(i), offset(i, axis));
                }
            });
            const double sum = products.joined();
            if (writes_) {
                gradient[std::int64_t{query_} * job_.dimension + axis] =
                    !(reach_ > 0) ? std::numeric_limits<double>::quiet_NaN()
                    : size_ > 0   ? normalized(sum, job_.dimension + 2)
                                  : 0;
            }
        }
    }
    /// From a neighbor to the query, nearest image, in raw units.
    [[nodiscard]] __device__ double offset(std::int64_t i, int axis) const {
        const T difference = job_.query_positions[std::int64_t{query_} * job_.dimension + axis] -
                             job_.positions[std::int64_t{indices_[i]} * job_.dimension + axis];
        const T length = difference < 0 ? -difference : difference;
        const T image = job_.period[axis] - length;
        const T nearest = image < length ? (difference < 0 ? image : -image) : difference;
        return job_.raw(static_cast<double>(nearest));
    }

    __device__ void write(double* numbers, double number) const {
        if (writes_ && numbers != nullptr) {
            numbers[query_] = number;
        }
    }

    const SumKernelJob<T>& job_;
    int lane_;
    bool writes_;
    std::int32_t query_;
    const std::int32_t* indices_ = nullptr;
    const T* distances_ = nullptr;
    std::int64_t size_ = 0;
    double reach_ = 0;
    double inverse_reach_ = 0;
};

/// The grid has 16 threads for each row, in whole warps; half a warp without a row goes over the last one once more.
template <class T, bool Fixed>
__global__ void sum_rows_kernel(const __grid_constant__ SumKernelJob<T> job) {
    static_assert(sizeof(job) <= 4096, "parameters of a kernel");
    const std::int64_t row = thread_index() / lanes_of_sum;
    const bool has_row = row < job.rows;
    RowSum<T, Fixed> sum(job, has_row ? row : job.rows - 1, has_row);
    if (job.volumes != nullptr) {
        sum.sum_field_gradients();
    } else {
        sum.sum_all_else();
    }
}

/// Writes the positions of sorted points by original index.
template <class T>
struct ScatterPositions {
    PointSetView<T> points;
    int dimension;
    T* rows;

    __device__ void operator()(std::int64_t point) const {
        for (int axis = 0; axis < dimension; ++axis) {
            rows[std::int64_t{points.indices[point]} * dimension + axis] = points.axis(axis)[point];
        }
    }
};

/// Masses over densities, 0 where there is no density.
struct FindVolumes {
    const double* masses; ///< null: 1 each
    const double* density;
    double* volumes;
    std::int32_t* largest_exponent; ///< raised

    __device__ void operator()(std::int64_t point) const {
        const double of_point = density[point];
        const double volume = of_point > 0 ? (masses != nullptr ? masses[point] : 1.0) / of_point : 0;
        volumes[point] = volume;
        const std::int32_t exponent = split(volume).exponent;
        if (load_relaxed(largest_exponent) < exponent) { // seldom
            atomicMax(largest_exponent, exponent);
        }
    }
};

} // namespace kith::detail::inline KITH_GPU
