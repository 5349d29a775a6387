#include "calls/sources.hpp"

#include <kith/error.hpp>

#include "support/message.hpp"

#include <string>

namespace kith::detail {

namespace {

std::string name_of(const Device& device) {
    return device.kind == DeviceKind::cpu ? "the CPU" : message("GPU ", device.index);
}

/// Shape and type, and that the call can read them.
void check_view_for(const PointsView& view, const char* what, const Execution& execution) {
    is_on_gpu(execution) ? check_shape(view, what) : check_view(view, what);
}

} // namespace

void check_points(const PointsOrTree& points, const Box& box, const Execution& execution) {
    if (points.tree() == nullptr) {
        check_view_for(points.points(), "points", execution);
        if (is_on_gpu(execution)) {
            require_device(points.dimension());
        }
        return;
    }
    const Device device = points.tree()->device();
    if (device != execution.device) {
        throw error(ErrorKind::invalid_argument, "the tree was built on ", name_of(device), ", but the call runs on ",
                    name_of(execution.device), "; run it where the tree is, or build the tree there");
    }
    if (box != Box{}) {
        throw Error(ErrorKind::invalid_argument, "the options have a box, but a tree has its own; build the tree with "
                                                 "the box and leave it out of the options");
    }
}

void check_queries(const PointsView& queries, const PointsOrTree& points, const Execution& execution) {
    check_view_for(queries, "queries", execution);
    check_queries(queries, points.dimension(), points.dtype());
}

} // namespace kith::detail

bool kith::has_cuda() noexcept {
    return detail::finds_device();
}

void kith::release_memory(const Device& device) {
    if (device.kind == DeviceKind::cuda) {
        detail::release_memory_on_device(device);
    }
}
