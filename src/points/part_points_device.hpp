// What a host reads of points of a GPU, or of its own (part_points.hpp).
//
// Cost: a pass over the points for their bounds; then the listed rows only, of which 4 bytes each go to the GPU, and a
// squared distance or, where points do not travel between GPUs, their coordinates to the host.
#pragma once

#include "cuda/device_context.hpp"
#include "cuda/device_value.hpp"
#include "cuda/device_wide.hpp"
#include "cuda/message_memory.hpp"
#include "cuda/result_memory.hpp"
#include "points/normalize_device.hpp"
#include "points/part_points.hpp"
#include "points/part_points_kernel.hpp"
#include "points/phase_space_device.hpp"
#include "points/transfer.hpp"
#include "support/number_types.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace kith::detail::inline KITH_GPU {

template <Coordinate T, int D>
class DevicePartPoints final : public PartPoints<T> {
public:
    DevicePartPoints(const Execution& execution, Context& host) : PartPoints<T>(host), context_(execution) {}

    [[nodiscard]] PointBounds<T> bounds(const PointsView& points, PointError refusal) override {
        if (!are_there(points)) {
            return PartPoints<T>::bounds(points, refusal);
        }
        PointBounds<T> found;
        context_.stage("check", [&] { found = bounds_on_device<T, D>(context_, points); });
        if (found.first_not_finite != all_are_finite) { // the host's check throws
            (void)PartPoints<T>::bounds(HostCopy(context_, points).view(), refusal);
        }
        return found;
    }

    [[nodiscard]] NormalizedPoints<T> queries(const PointsView& given, const Frame<T>& frame) override {
        if (!are_there(given)) {
            return PartPoints<T>::queries(given, frame);
        }
        NormalizedPoints<T> normalized;
        context_.stage("check", [&] { normalized = normalize_queries_on_device<T, D>(context_, given, frame); });
        return normalized;
    }

    [[nodiscard]] std::int64_t outside(const NormalizedPoints<T>& points) override {
        if (!are_there(points.view)) {
            return PartPoints<T>::outside(points);
        }
        const std::int64_t count = points.view.count();
        const DeviceBuffer<DeviceFrame<T>> frame = stored_frame(points);
        const DeviceBuffer<std::uint8_t> flags = context_.buffer<std::uint8_t>(count);
        const DeviceBuffer<std::int32_t> selected = context_.buffer<std::int32_t>(count);
        const DeviceBuffer<std::int32_t> number = context_.buffer<std::int32_t>(1);
        for_each_index(context_, "points outside the box", count,
                       FlagOutside<T, D>{DeviceView<T>::of(points.view, frame.data()), flags.data()});
        select_flagged(context_, flags.data(), count, selected.data(), number.data());
        return context_.to_host(number.data());
    }

    [[nodiscard]] HeldPoints on_host(const PointsView& points) override {
        if (!are_there(points)) {
            return PartPoints<T>::on_host(points);
        }
        auto copy = std::make_shared<const HostCopy>(context_, points);
        bytes_to_host_ += points.count() * points.dimension() * item_size(points.dtype());
        const PointsView view = copy->view();
        return {std::move(copy), view};
    }

    [[nodiscard]] std::vector<T> rows(const PointsView& points, std::span<const std::int32_t> which) override {
        if (!are_there(points)) {
            return PartPoints<T>::rows(points, which);
        }
        const DeviceBuffer<T> there = context_.buffer<T>(std::ssize(which) * D);
        gather("select", points, which, PointsView(), there.data());
        bytes_to_host_ += there.size() * static_cast<std::int64_t>(sizeof(T));
        return context_.to_host(there.data(), there.size());
    }

    [[nodiscard]] HeldPoints joined(const PointsView& points, std::span<const std::int32_t> which,
                                    const PointsView& others) override {
        if (!are_there(points) && !are_there(others)) {
            return PartPoints<T>::joined(points, which, others);
        }
        DeviceBuffer<T> rows = context_.buffer<T>(std::ssize(which) * D);
        gather("join", points, which, others, rows.data());
        return held(std::move(rows), D);
    }

    [[nodiscard]] bool is_on_gpu() const override { return true; }

    [[nodiscard]] HeldPoints rows_to_send(const PointsView& points, std::span<const std::int32_t> which) override {
        if (!are_there(points)) {
            return PartPoints<T>::rows_to_send(points, which);
        }
        const UnwrittenPoints<T> rows = rows_to_receive(std::ssize(which), D);
        gather("select", points, which, PointsView(), rows.rows);
        return rows.held;
    }

    [[nodiscard]] UnwrittenPoints<T> rows_to_receive(std::int64_t count, int dimension) override {
        const auto memory =
            std::make_shared<const MessageMemory>(context_, count * dimension * static_cast<std::int64_t>(sizeof(T)));
        T* const rows = static_cast<T*>(memory->data());
        return {rows, {memory, PointsView(static_cast<const T*>(rows), count, dimension, context_.device())}};
    }

    void copy(void* to, const void* from, std::int64_t bytes) override {
        context_.copy(to, from, bytes);
        context_.wait();
        bytes_to_host_ += is_on_device(context_, from) && is_of_host(to) ? bytes : 0;
    }

    [[nodiscard]] std::vector<T> least_squares(const NormalizedPoints<T>& points,
                                               const ReachedLists<T>& lists) override {
        std::vector<T> squares;
        context_.stage("select", [&] { squares = measure(points, lists); });
        bytes_to_host_ += std::ssize(squares) * static_cast<std::int64_t>(sizeof(T));
        return squares;
    }

    [[nodiscard]] FiniteVelocities velocities(const PointsView& view) override {
        if (!are_there(view)) {
            return PartPoints<T>::velocities(view);
        }
        FiniteVelocities found;
        context_.stage("check", [&] { found = finite_velocities_on_device<D>(context_, view); });
        return found;
    }

    [[nodiscard]] HeldPoints in_phase_space(const PointsView& positions, const PointsView& velocities,
                                            double scale) override {
        if constexpr (2 * D <= max_dimension) {
            if (are_there(positions)) {
                const PointsOnDevice there(context_, velocities);
                DeviceBuffer<T> rows = context_.buffer<T>(positions.count() * 2 * D);
                with_dtype(velocities.dtype(), [&]<Coordinate V>(V) {
                    for_each_index(context_, "points of phase space", positions.count(),
                                   JoinVelocities<T, D, V>{Coordinates<T>(positions), Coordinates<V>(there.view()),
                                                           scale, rows.data()});
                });
                context_.wait(); // for the velocities
                return held(std::move(rows), 2 * D);
            }
        }
        return PartPoints<T>::in_phase_space(positions, on_host(velocities).view, scale);
    }

    [[nodiscard]] StageReports take_stages() override { return context_.take_stages(); }
    [[nodiscard]] std::int64_t bytes_to_host() const override { return bytes_to_host_; }

private:
    static bool are_there(const PointsView& points) {
        return points.device().kind == DeviceKind::cuda && points.count() > 0;
    }

    /// Memory of no GPU.
    static bool is_of_host(const void* memory) {
        cudaPointerAttributes attributes{};
        check_cuda(cudaPointerGetAttributes(&attributes, memory), "asking where memory is");
        return attributes.type == cudaMemoryTypeHost || attributes.type == cudaMemoryTypeUnregistered;
    }

    [[nodiscard]] DeviceBuffer<DeviceFrame<T>> stored_frame(const NormalizedPoints<T>& points) {
        return stored(context_, "frame of points", DeviceFrame<T>(points.frame, points.wraps));
    }

    /// The elements must be there until the stream has been waited for.
    template <class Element>
    [[nodiscard]] DeviceBuffer<Element> uploaded(std::span<const Element> elements) {
        DeviceBuffer<Element> there = context_.buffer<Element>(std::ssize(elements));
        context_.copy(there.data(), elements.data(), static_cast<std::int64_t>(elements.size_bytes()));
        return there;
    }

    /// To the host, within a stage.
    [[nodiscard]] std::vector<T> measure(const NormalizedPoints<T>& points, const ReachedLists<T>& lists) {
        const std::int64_t count = std::ssize(lists.rows);
        const DeviceBuffer<DeviceFrame<T>> frame = stored_frame(points);
        const auto boxes = uploaded(std::span(lists.boxes));
        const auto rows = uploaded(std::span(lists.rows));
        const auto list_of_row = uploaded(std::span(lists.list_of_row));
        const auto box_numbers = uploaded(std::span(lists.box_numbers));
        const auto first_number = uploaded(std::span(lists.first_number));
        const DeviceBuffer<T> least = context_.buffer<T>(count);
        for_each_index(context_, "distances from boxes", count,
                       LeastSquares<T, D>{DeviceView<T>::of(points.view, frame.data()), boxes.data(), rows.data(),
                                          list_of_row.data(), box_numbers.data(), first_number.data(), least.data()});
        return context_.to_host(least.data(), count);
    }

    /// Of points of the host the rows that are named are uploaded, and all others, which are row-major.
    void gather(const char* stage, const PointsView& points, std::span<const std::int32_t> which,
                const PointsView& others, T* to) {
        context_.stage(stage, [&] { gather(points, which, others, to); });
    }
    void gather(const PointsView& points, std::span<const std::int32_t> which, const PointsView& others, T* to) {
        std::vector<std::int32_t> numbers;
        std::vector<T> named;
        PointsView own = points;
        if (!are_there(points)) {
            numbers.assign(which.begin(), which.end());
            std::vector<std::int32_t> rows;
            for (std::int32_t& number : numbers) {
                if (number >= 0) {
                    rows.push_back(std::exchange(number, static_cast<std::int32_t>(rows.size())));
                }
            }
            named = PartPoints<T>::rows(points, rows);
            own = PointsView(named, D);
            which = numbers;
        }
        const PointsOnDevice there(context_, own);
        const PointsOnDevice more(context_, others);
        const DeviceBuffer<std::int32_t> rows = uploaded(which);
        for_each_index(
            context_, "taking rows", std::ssize(which),
            JoinRows<T, D>{Coordinates<T>(there.view()), static_cast<const T*>(more.view().axis(0)), rows.data(), to});
        context_.wait(); // for what was uploaded
    }

    [[nodiscard]] HeldPoints held(DeviceBuffer<T> rows, int dimension) const {
        const auto memory = std::make_shared<const DeviceBuffer<T>>(std::move(rows));
        return {memory, PointsView(static_cast<const T*>(memory->data()), memory->size() / dimension, dimension,
                                   context_.device())};
    }

    DeviceContext context_;
    std::int64_t bytes_to_host_ = 0;
};

} // namespace kith::detail::inline KITH_GPU
