// kith::Tree: checks, then builds.
#include <kith/error.hpp>
#include <kith/tree.hpp>

#include "calls/calls.hpp"
#include "calls/device_calls.hpp"
#include "points/as_given.hpp"
#include "points/frame.hpp"
#include "support/context.hpp"
#include "support/dimension.hpp"
#include "support/message.hpp"
#include "support/number_types.hpp"
#include "tree/plane_tree.hpp"

#include <utility>
#include <vector>

namespace kith {

namespace {

void check(const TreeShape& shape) {
    const auto at_least = [](const char* name, int value, int least) {
        if (value < least) {
            throw detail::error(ErrorKind::invalid_argument, detail::of_value(value), name, " is ", value,
                                "; it must be ", least, " or more");
        }
    };
    at_least("leaf_size", shape.leaf_size, 1);
    at_least("coarsening", shape.coarsening, 2);
    at_least("top_size", shape.top_size, 1);
    if (!(shape.regularization >= 0)) {
        throw detail::error(ErrorKind::invalid_argument, detail::of_value(shape.regularization), "regularization is ",
                            shape.regularization, "; it must be positive, or 0 to switch it off");
    }
}

void require_plane(const Tree& tree, int index) {
    if (index < 0 || index >= tree.plane_count()) {
        throw detail::error(ErrorKind::invalid_argument, detail::of_value(index), "plane ", index,
                            " was asked for; the tree has ", tree.plane_count(), ", numbered from 0");
    }
}

template <Coordinate T>
const detail::PlaneTree<T>& tree_on_host(const Tree& tree) {
    if (tree.device().kind != DeviceKind::cpu) {
        throw Error(ErrorKind::unsupported,
                    "the tree is in the memory of a GPU; build it on the CPU to read its points");
    }
    if (tree.dtype() != dtype_of<T>) {
        throw detail::error(ErrorKind::invalid_argument, "the tree is of ", detail::name_of(tree.dtype()),
                            " points, but ", detail::name_of(dtype_of<T>), " was asked for");
    }
    return tree.data().as<T>();
}

/// Working coordinates, axis after axis, as rows in the units of the points.
template <Coordinate T, class Axis>
std::vector<T> in_units(const detail::Frame<T>& frame, std::int64_t rows, const Axis& axis_of) {
    const detail::PowerOfTwo<T> scale(-frame.exponent);
    std::vector<T> result(rows * frame.dimension);
    for (int axis = 0; axis < frame.dimension; ++axis) {
        const T* const from = axis_of(axis);
        for (std::int64_t row = 0; row < rows; ++row) {
            result[row * frame.dimension + axis] = scale(from[row]);
        }
    }
    return result;
}

} // namespace

Tree::Tree(const PointsView& points, const TreeOptions& options) {
    check(options.shape);
    detail::check_points(points, options.box, options.execution, detail::where_of(options.execution));
    auto data = std::make_shared<detail::TreeData>();
    data->dtype = points.dtype();
    data->shape = options.shape;
    data->device = options.execution.device;
    data->given_on = points.device();
    if (detail::is_on_gpu(options.execution)) {
        data->on_device = detail::on_gpu().build_tree(points, options, data->stages);
        data->box = data->on_device->box;
        data->wrapped_points = data->on_device->wrapped_points;
        data_ = std::move(data);
        return;
    }
    detail::Context context(options.execution);
    detail::with_dtype(points.dtype(), [&]<Coordinate T>(T) {
        detail::NormalizedPoints<T> normalized;
        context.run([&] { normalized = detail::normalize_sources<T>(points, options.box); });
        data->box = detail::resolved_box(normalized.frame);
        data->wrapped_points = normalized.frame.outside;
        detail::PlaneTree<T> tree = detail::build_plane_tree<T>(context, normalized, options.shape);
        if (normalized.has_tiny) {
            tree.as_given = detail::packed<T>(points);
        }
        data->tree = std::move(tree);
    });
    data->stages = context.take_stages();
    data_ = std::move(data);
}

std::int64_t Tree::size() const {
    return data_->on_device ? data_->on_device->size
                            : std::visit([](const auto& tree) { return tree.points.count; }, data_->tree);
}

int Tree::dimension() const {
    return data_->on_device ? data_->on_device->dimension
                            : std::visit([](const auto& tree) { return tree.points.dimension(); }, data_->tree);
}

DType Tree::dtype() const noexcept {
    return data_->dtype;
}

Device Tree::device() const noexcept {
    return data_->device;
}

const Box& Tree::box() const noexcept {
    return data_->box;
}

std::int64_t Tree::wrapped_points() const noexcept {
    return data_->wrapped_points;
}

const TreeShape& Tree::shape() const noexcept {
    return data_->shape;
}

std::span<const std::int32_t> Tree::order() const {
    return data_->on_device ? data_->on_device->order
                            : std::visit([](const auto& tree) { return tree.points.indices.span(); }, data_->tree);
}

int Tree::plane_count() const {
    return data_->on_device
               ? static_cast<int>(data_->on_device->planes.size())
               : std::visit([](const auto& tree) { return static_cast<int>(tree.planes.size()); }, data_->tree);
}

std::span<const std::int32_t> Tree::plane(int index) const {
    require_plane(*this, index);
    return data_->on_device
               ? data_->on_device->planes[index]
               : std::visit([index](const auto& tree) { return tree.planes[index].first_point.span(); }, data_->tree);
}

template <Coordinate T>
std::vector<T> Tree::sorted_points() const {
    const detail::PointSet<T>& points = tree_on_host<T>(*this).points;
    return in_units<T>(points.frame, points.count, [&](int axis) { return points.axis(axis); });
}

template <Coordinate T>
NodeBoxes<T> Tree::node_boxes(int index) const {
    const detail::PlaneTree<T>& tree = tree_on_host<T>(*this);
    require_plane(*this, index);
    const detail::Plane<T>& plane = tree.planes[index];
    const detail::Frame<T>& frame = tree.points.frame;
    return {in_units<T>(frame, plane.nodes, [&](int axis) { return plane.lower(axis); }),
            in_units<T>(frame, plane.nodes, [&](int axis) { return plane.upper(axis); })};
}

template std::vector<float> Tree::sorted_points() const;
template std::vector<double> Tree::sorted_points() const;
template NodeBoxes<float> Tree::node_boxes(int) const;
template NodeBoxes<double> Tree::node_boxes(int) const;

const StageReports& Tree::stages() const noexcept {
    return data_->stages;
}

} // namespace kith
