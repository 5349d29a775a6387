// Points that an index is built from: those of a set, in any order, or a caller's, which no stage has copied yet.
#pragma once

#include "points/frame.hpp"
#include "points/point_set.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace kith::detail {

template <Coordinate T>
struct UnsortedPoints {
    const PointSet<T>* set = nullptr;                ///< or else
    const NormalizedPoints<T>* normalized = nullptr; ///< in the order given

    [[nodiscard]] const Frame<T>& frame() const { return set != nullptr ? set->frame : normalized->frame; }
    [[nodiscard]] std::int64_t count() const { return set != nullptr ? set->count : normalized->view.count(); }
};

/// Reads them in working coordinates.
template <Coordinate T>
class UnsortedReader {
public:
    explicit UnsortedReader(const UnsortedPoints<T>& points) : set_(points.set) {
        if (set_ == nullptr) {
            given_.emplace(*points.normalized);
        }
    }
    [[nodiscard]] T operator()(std::int64_t point, int axis) const noexcept {
        return set_ != nullptr ? set_->axis(axis)[point] : (*given_)(point, axis);
    }
    template <int D>
    [[nodiscard]] std::array<T, D> position(std::int64_t point) const noexcept {
        std::array<T, D> x;
        for (int axis = 0; axis < D; ++axis) {
            x[axis] = (*this)(point, axis);
        }
        return x;
    }
    /// The coordinates along an axis of the points [begin, end).
    void copy(int axis, std::int64_t begin, std::int64_t end, T* to) const noexcept {
        if (set_ != nullptr) {
            std::copy(set_->axis(axis) + begin, set_->axis(axis) + end, to);
            return;
        }
        const PointReader<T> read = *given_; // in registers: the numbers could lie where `to` does
        for (std::int64_t i = begin; i < end; ++i) {
            to[i - begin] = read(i, axis);
        }
    }
    /// The original index.
    [[nodiscard]] std::int32_t index(std::int64_t point) const noexcept {
        return set_ != nullptr ? set_->indices[point] : static_cast<std::int32_t>(point);
    }

private:
    const PointSet<T>* set_;
    std::optional<PointReader<T>> given_;
};

} // namespace kith::detail
