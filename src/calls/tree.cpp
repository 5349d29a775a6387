// kith::Tree: checks, then builds the index of its engine.
#include <kith/error.hpp>
#include <kith/tree.hpp>

#include "calls/calls.hpp"
#include "calls/device_calls.hpp"
#include "engines/kept_index.hpp"
#include "points/as_given.hpp"
#include "points/frame.hpp"
#include "support/at_least.hpp"
#include "support/context.hpp"
#include "support/dimension.hpp"
#include "support/message.hpp"
#include "support/number_types.hpp"

#include <utility>
#include <vector>

namespace kith {

namespace {

void check(const TreeShape& shape) {
    detail::require_at_least(1, "leaf_size", shape.leaf_size);
    detail::require_at_least(2, "coarsening", shape.coarsening);
    detail::require_at_least(1, "top_size", shape.top_size);
    detail::require_at_least(0, "regularization", shape.regularization, "positive, or 0 to switch it off");
}

/// Options of one engine mean nothing to another. Returns the engine, which is not automatic.
Engine checked_engine(const TreeOptions& options, std::int64_t points) {
    const Engine engine = options.engine == Engine::automatic ? Engine::tree : options.engine;
    detail::check_engine(engine, detail::Task::index, detail::where_of(options.execution));
    check(options.shape);
    detail::require_at_least(1, "leaf_size", options.kdtree.leaf_size);
    if (engine != Engine::tree && options.shape != TreeShape{}) {
        throw detail::error(ErrorKind::invalid_argument, "a shape of planes was given for an index of the engine '",
                            name_of(engine), "', which has none; leave the shape out");
    }
    const auto refuse_other = [engine](Engine of, bool is_given) {
        if (engine != of && is_given) {
            throw detail::error(ErrorKind::invalid_argument, "options of the engine '", name_of(of),
                                "' were given for an index of '", name_of(engine), "'; leave them out");
        }
    };
    refuse_other(Engine::kdtree, options.kdtree != KdTreeOptions{});
    refuse_other(Engine::clover, options.clover != CloverOptions{});
    if (engine == Engine::clover) {
        detail::check_clover(options.clover, points);
    }
    return engine;
}

void require_planes(const detail::TreeData& data) {
    if (data.engine != Engine::tree) {
        throw detail::error(ErrorKind::unsupported, "the index is of the engine '", name_of(data.engine),
                            "', which has no planes and no z-order; build a Tree of the engine 'tree'");
    }
}

/// Calls function(tree) with the tree of planes in memory of the host.
template <class Function>
auto visit_planes(const detail::TreeData& data, const Function& function) {
    return std::visit([&](const auto& kept) { return function(kept.tree); }, data.kept);
}

void require_plane(const Tree& tree, int index) {
    if (index < 0 || index >= tree.plane_count()) {
        throw detail::error(ErrorKind::invalid_argument, detail::of_value(index), "plane ", index,
                            " was asked for; the tree has ", tree.plane_count(), ", numbered from 0");
    }
}

template <Coordinate T>
const detail::KeptIndex<T>& kept_on_host(const Tree& tree) {
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
    auto data = std::make_shared<detail::TreeData>();
    data->engine = checked_engine(options, points.count());
    detail::check_points(points, options.box, options.execution, detail::where_of(options.execution));
    data->size = points.count();
    data->dimension = points.dimension();
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
        detail::KeptIndex<T> kept;
        if (data->engine == Engine::tree) {
            kept.tree = detail::build_plane_tree<T>(context, normalized, options.shape);
        } else if (data->engine == Engine::brute_force || data->size == 0) {
            context.stage("gather", [&] { kept.tree.points = detail::gather_points(context, normalized); });
        } else {
            kept.index = detail::build_index<T>(context, {nullptr, &normalized}, options);
        }
        if (normalized.has_tiny) {
            kept.tree.as_given = detail::packed<T>(points);
        }
        data->kept = std::move(kept);
    });
    data->stages = context.take_stages();
    data_ = std::move(data);
}

std::int64_t Tree::size() const {
    return data_->size;
}

int Tree::dimension() const {
    return data_->dimension;
}

DType Tree::dtype() const noexcept {
    return data_->dtype;
}

Engine Tree::engine() const noexcept {
    return data_->engine;
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

template <Coordinate T>
std::vector<T> Tree::points() const {
    const detail::PointSet<T>& points = kept_on_host<T>(*this).points();
    return detail::unscaled_rows(points.frame, points.view(), size());
}

std::span<const std::int32_t> Tree::order() const {
    require_planes(*data_);
    return data_->on_device ? data_->on_device->order
                            : visit_planes(*data_, [](const auto& tree) { return tree.points.indices.span(); });
}

int Tree::plane_count() const {
    require_planes(*data_);
    return static_cast<int>(data_->on_device
                                ? data_->on_device->planes.size()
                                : visit_planes(*data_, [](const auto& tree) { return tree.planes.size(); }));
}

std::span<const std::int32_t> Tree::plane(int index) const {
    require_plane(*this, index);
    return data_->on_device
               ? data_->on_device->planes[index]
               : visit_planes(*data_, [index](const auto& tree) { return tree.planes[index].first_point.span(); });
}

template <Coordinate T>
std::vector<T> Tree::sorted_points() const {
    require_planes(*data_);
    const detail::PointSet<T>& points = kept_on_host<T>(*this).tree.points;
    return in_units<T>(points.frame, points.count, [&](int axis) { return points.axis(axis); });
}

template <Coordinate T>
NodeBoxes<T> Tree::node_boxes(int index) const {
    require_planes(*data_);
    const detail::PlaneTree<T>& tree = kept_on_host<T>(*this).tree;
    require_plane(*this, index);
    const detail::Plane<T>& plane = tree.planes[index];
    const detail::Frame<T>& frame = tree.points.frame;
    return {in_units<T>(frame, plane.nodes, [&](int axis) { return plane.lower(axis); }),
            in_units<T>(frame, plane.nodes, [&](int axis) { return plane.upper(axis); })};
}

template std::vector<float> Tree::points() const;
template std::vector<double> Tree::points() const;
template std::vector<float> Tree::sorted_points() const;
template std::vector<double> Tree::sorted_points() const;
template NodeBoxes<float> Tree::node_boxes(int) const;
template NodeBoxes<double> Tree::node_boxes(int) const;

const StageReports& Tree::stages() const noexcept {
    return data_->stages;
}

} // namespace kith
