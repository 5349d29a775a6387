// kith::Tree: checks, then builds.
#include <kith/error.hpp>
#include <kith/tree.hpp>

#include "calls/device_calls.hpp"
#include "points/frame.hpp"
#include "support/context.hpp"
#include "support/dimension.hpp"
#include "support/message.hpp"
#include "tree/plane_tree.hpp"

#include <cmath>
#include <string>
#include <string_view>

namespace kith {

namespace {

void check(const TreeOptions& options) {
    const auto at_least = [](const char* name, int value, int least) {
        if (value < least) {
            throw Error(ErrorKind::invalid_argument,
                        detail::message(name, " is ", value, "; it must be ", least, " or more"));
        }
    };
    at_least("leaf_size", options.leaf_size, 1);
    at_least("coarsening", options.coarsening, 2);
    at_least("top_size", options.top_size, 1);
    if (!(options.regularization >= 0)) {
        throw Error(ErrorKind::invalid_argument, detail::message("regularization is ", options.regularization,
                                                                 "; it must be positive, or 0 to switch it off"));
    }
}

} // namespace

namespace detail {

void require_device_of(const Tree& tree, const Execution& execution) {
    const auto name_of = [](const Device& device) {
        return device.kind == DeviceKind::cpu ? std::string("the CPU") : message("GPU ", device.index);
    };
    if (tree.device() != execution.device) {
        throw Error(ErrorKind::invalid_argument,
                    message("the tree was built on ", std::string_view(name_of(tree.device())),
                            ", but the call runs on ", std::string_view(name_of(execution.device)),
                            "; run it where the tree is, or build the tree there"));
    }
}

} // namespace detail

Tree::Tree(const PointsView& points, const Box& box, const TreeOptions& options, const Execution& execution) {
    check(options);
    auto data = std::make_shared<detail::TreeData>();
    data->dtype = points.dtype();
    data->options = options;
    data->device = execution.device;
    data->given_on = points.device();
    detail::check_sources(points, execution);
    if (detail::is_on_gpu(execution)) {
        data->on_device = detail::build_tree_on_device(points, box, options, execution, data->stages);
        data->box = data->on_device->box;
        data_ = std::move(data);
        return;
    }
    detail::Context context(execution);
    detail::with_dtype(points.dtype(), [&]<Coordinate T>(T) {
        detail::NormalizedPoints<T> normalized;
        context.run([&] { normalized = detail::normalize_sources<T>(points, box); });
        data->box = detail::resolved_box(normalized.frame);
        data->tree = detail::build_plane_tree<T>(context, normalized, options);
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
    if (index < 0 || index >= plane_count()) {
        throw Error(ErrorKind::invalid_argument, detail::message("plane ", index, " was asked for; the tree has ",
                                                                 plane_count(), ", numbered from 0"));
    }
    return data_->on_device
               ? data_->on_device->planes[static_cast<std::size_t>(index)]
               : std::visit([index](const auto& tree) { return tree.planes[index].first_point.span(); }, data_->tree);
}

const StageReports& Tree::stages() const noexcept {
    return data_->stages;
}

} // namespace kith
