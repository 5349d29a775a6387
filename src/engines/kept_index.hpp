// The contents of kith::Tree: an index of any engine that outlives the call that has built it.
#pragma once

#include <kith/tree.hpp>

#include "engines/index.hpp"
#include "tree/device_handle.hpp"
#include "tree/plane_tree.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>

namespace kith::detail {

template <Coordinate T>
struct KeptIndex {
    PlaneTree<T> tree; ///< of Engine::tree; of brute force, or without points, without planes; `as_given` is of any
    std::unique_ptr<const Index<T>> index; ///< of the other engines

    [[nodiscard]] const PointSet<T>& points() const noexcept { return index ? index->points() : tree.points; }
};

/// The same of any type.
struct TreeData {
    std::variant<KeptIndex<float>, KeptIndex<double>> kept;
    std::optional<DeviceTreeHandle> on_device; ///< instead, if the index is a GPU's
    Engine engine = Engine::tree;
    std::int64_t size = 0;
    int dimension = 0;
    DType dtype = DType::float32;
    Device device;
    Device given_on; ///< where the points were
    Box box;
    std::int64_t wrapped_points = 0;
    TreeShape shape;
    StageReports stages;

    template <Coordinate T>
    [[nodiscard]] const KeptIndex<T>& as() const {
        return std::get<KeptIndex<T>>(kept);
    }
};

} // namespace kith::detail
