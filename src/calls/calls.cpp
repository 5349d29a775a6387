#include "calls/calls.hpp"

#include <kith/error.hpp>

#include "calls/device_calls.hpp"
#include "groups/checks.hpp"
#include "groups/resolve_eps.hpp"
#include "neighbors/checks.hpp"
#include "neighbors/mass_scale.hpp"
#include "neighbors/radius_checks.hpp"
#include "neighbors/sum_checks.hpp"
#include "pairs/edges.hpp"
#include "pairs/pair_weights.hpp"
#include "points/frame.hpp"
#include "support/at_least.hpp"
#include "support/dimension.hpp"
#include "support/message.hpp"
#include "support/number_types.hpp"
#include "support/one_process.hpp"

#include <cmath>
#include <string>
#include <variant>

namespace kith::detail::inline KITH_GPU {

namespace {

/// Whether the points may be a GPU's.
bool is_on_device(Where where) {
    return where == Where::gpu || where == Where::stream || where == Where::gpu_ranks;
}

std::string name_of(const Device& device) {
    return device.kind == DeviceKind::cpu ? "the CPU" : message("GPU ", device.index);
}

/// Shape and type, and that the call can read it.
void check_view_for(const PointsView& view, const char* what, Where where) {
    if (is_on_device(where)) {
        check_shape(view, what);
    } else {
        check_view(view, what);
    }
}

void check_memory_of(const PointsView& view, const char* what, const Execution& execution, Where where) {
    if (where == Where::stream && view.count() > 0 && view.device().kind != DeviceKind::cuda) {
        throw error(ErrorKind::invalid_argument, what,
                    " are in the memory of the host; a call that does not wait needs them in that of GPU ",
                    execution.device.index);
    }
    if (is_on_device(where)) {
        require_readable_by(execution.device, view, what);
    }
}

void check_queries(const PointsView& queries, const PointsOrTree& points, const Execution& execution, Where where) {
    check_view_for(queries, "queries", where);
    detail::check_queries(queries, points.dimension(), points.dtype());
    check_memory_of(queries, "queries", execution, where);
}

void check_phase_space_for(const PhaseSpace& phase_space, const PointsOrTree& points, const Execution& execution,
                           Where where) {
    check_phase_space(phase_space, points);
    check_view_for(phase_space.velocities, "velocities", where);
    check_memory_of(phase_space.velocities, "velocities", execution, where);
    if (is_on_device(where)) {
        on_gpu().require_dimension(2 * points.dimension());
    }
}

/// Of a call on points, or on an index, which has an engine of its own.
void check_engine(Engine wanted, const PointsOrTree& points, Task task, Where where) {
    detail::check_engine(wanted, task, where);
    if (points.tree() == nullptr || is_over_ranks(where)) { // which refuse an index of any engine
        return;
    }
    const Engine kept = points.tree()->engine();
    if (wanted != Engine::automatic && wanted != kept) {
        throw error(ErrorKind::invalid_argument, "the engine '", name_of(wanted), "' was asked for, but the index of ",
                    "the points is of the engine '", name_of(kept), "'; leave the engine out, or build a Tree of '",
                    name_of(wanted), "'");
    }
    detail::check_engine(kept, task, where);
}

} // namespace

void require_readable_by(const Device& device, const PointsView& view, const char* what) {
    if (view.device().kind == DeviceKind::cuda && device.kind == DeviceKind::cuda && view.device() != device) {
        throw error(ErrorKind::invalid_argument, what, " are in the memory of GPU ", view.device().index,
                    ", but the call runs on GPU ", device.index, "; run it there or copy them");
    }
}

void check_points(const PointsOrTree& points, const Box& box, const Execution& execution, Where where) {
    if (where == Where::stream) {
        require_one_process(execution);
    }
    if (where == Where::stream && !is_on_gpu(execution)) {
        throw Error(ErrorKind::invalid_argument, "calls that only put work on a stream run on a GPU; give them "
                                                 "kith::cuda() with your stream");
    }
    if (points.tree() == nullptr) {
        check_view_for(points.points(), "points", where);
        if (is_on_device(where)) {
            on_gpu().require_dimension(points.dimension());
        }
        check_memory_of(points.points(), "points", execution, where);
        if (where == Where::stream) { // other calls check it with the coordinates
            with_dtype(points.dtype(), [&]<Coordinate T>(T) { check_box<T>(box, points.dimension()); });
        }
        return;
    }
    if (is_over_ranks(where)) {
        throw Error(ErrorKind::unsupported,
                    "a tree belongs to one process; give the points of each rank to a call over ranks");
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

namespace {

void check_labels(const KnnCall& call) {
    const auto require = [](std::size_t labels, std::int64_t points, const char* whose) {
        if (static_cast<std::int64_t>(labels) != points) {
            throw error(ErrorKind::invalid_argument, labels, " labels were given for ", points, " ", whose,
                        "; give one for each");
        }
    };
    require(call.labels->of_points.size(), call.points.count(), "points");
    require(call.labels->of_queries.size(), call.row_count(), call.queries != nullptr ? "queries" : "points");
    if (call.options.z_order) {
        throw Error(ErrorKind::invalid_argument,
                    "z_order is given, but rows of neighbors of other labels are in input order; leave it out");
    }
}

} // namespace

void check(const KnnCall& call, Where where) {
    const KnnOptions& options = call.options;
    check_engine(options.engine, call.points, call.task(), where);
    check_request(call.k, options, call.queries != nullptr);
    check_points(call.points, options.box, options.execution, where);
    if (call.queries != nullptr) {
        check_queries(*call.queries, call.points, options.execution, where);
    }
    if (call.rows != nullptr) {
        check_rows(*call.rows, call.row_count(), call.k, call.points.dtype(), options.z_order);
    }
    if (call.labels != nullptr) {
        check_labels(call);
    }
    if (call.visitor != nullptr && options.z_order) {
        throw Error(ErrorKind::invalid_argument, "z_order is for rows that are stored; leave it out: each block that a "
                                                 "visitor sees names its queries");
    }
}

std::int64_t check(const RadiusCall& call, Where where) {
    const RadiusOptions& options = call.options;
    check_engine(options.engine, call.points, Task::radius, where);
    check_points(call.points, options.box, options.execution, where);
    if (call.queries != nullptr) {
        check_queries(*call.queries, call.points, options.execution, where);
        require_no_self(options.exclude_self);
    }
    require_at_least(0, "max_result_bytes", options.max_result_bytes);
    return check_radii(call.radii, call.row_count());
}

std::int64_t check(const SumCall& call, Where where) {
    const SumOptions& options = call.options;
    check_engine(options.engine, call.points, call.task(), where);
    check_points(call.points, options.box, options.execution, where);
    if (call.queries != nullptr) {
        check_queries(*call.queries, call.points, options.execution, where);
    }
    check_sums(options, call.points.count(), call.queries != nullptr);
    if (const Nearest* const nearest = std::get_if<Nearest>(&call.neighborhood)) {
        check_request(nearest->k, {.exclude_self = options.exclude_self}, call.queries != nullptr);
        return -1;
    }
    require_no_self(options.exclude_self && call.queries != nullptr);
    const Radii& radii = std::get<Within>(call.neighborhood).radii;
    const std::int64_t smallest = check_radii(radii, call.row_count());
    require_finite(radii, call.points.dtype());
    return smallest;
}

std::string_view warning_of(const SumCall& call, const SumRange& range) {
    const Nearest* const nearest = std::get_if<Nearest>(&call.neighborhood);
    const SmoothingKernel kernel = call.options.kernel;
    if (nearest == nullptr) {
        return "";
    }
    if (nearest->k == 1 && call.queries == nullptr && !call.options.exclude_self) {
        return "k is 1: the only neighbor of each point is at distance 0, the kernel has no reach, and densities are "
               "infinite; take a larger k";
    }
    if (nearest->k == 1 && kernel != SmoothingKernel::top_hat && kernel != SmoothingKernel::gaussian) {
        return "k is 1: the kernel reaches to the only neighbor and is 0 there, so that densities are 0, or "
               "infinite where a query is at a point; take a larger k";
    }
    return range.is_too_small()
               ? "the masses times the numbers of a field are below about 1e-290: too small for float64, so that its "
                 "sums and means lose digits or become 0; give the masses or the field in a smaller unit"
               : "";
}

void check(const FofCall& call, Where where) {
    const FofOptions& options = call.options;
    check_engine(options.engine, call.points, call.task(), where);
    check_length(call.length);
    check_points(call.points, options.box, options.execution, where);
    if (options.phase_space) {
        check_phase_space_for(*options.phase_space, call.points, options.execution, where);
    }
}

void check(const DbscanCall& call, Where where) {
    check_engine(call.options.engine, call.points, Task::clusters, where);
    check_eps(call.eps);
    require_at_least(1, "min_samples", call.min_samples, "1 or more, as it counts the point itself");
    check_points(call.points, call.options.box, call.options.execution, where);
}

void check(const SpanningTreeCall& call, Where where) {
    const SpanningTreeOptions& options = call.options;
    check_engine(options.engine, call.points, call.task(), where);
    check_points(call.points, options.box, options.execution, where);
    if (options.phase_space) {
        check_length(options.phase_space->linking_length);
        check_phase_space_for(options.phase_space->phase_space, call.points, options.execution, where);
    }
}

void check(const HdbscanCall& call, Where where) {
    const HdbscanOptions& options = call.options;
    check_engine(options.engine, call.points, Task::density_clusters, where);
    require_at_least(2, "min_cluster_size", call.min_cluster_size);
    require_at_least(0, "min_samples", options.min_samples,
                     "1 or more, as it counts the point itself, or 0 for min_cluster_size");
    require_at_least(0, "selection_epsilon", options.selection_epsilon);
    require_at_least(0, "max_cluster_size", options.max_cluster_size, "1 or more, or 0 for no limit");
    check_points(call.points, options.box, options.execution, where);
}

void check(const ZOrderCall& call, Where where) {
    if (is_on_device(where)) {
        throw Error(ErrorKind::unsupported,
                    "the z-order is found on the CPU only; run on the CPU, with kith::cpu(), or "
                    "build a kith::Tree on the GPU, which has it: order()");
    }
    check_points(call.points, call.options.box, call.options.execution, where);
}

void check(const PairCall& call, Where where) {
    const PairCountOptions& options = call.options;
    check_engine(options.engine, call.points, Task::pair_counts, where);
    check_bins(call.edges, options, call.points.dimension());
    check_separations(call.edges, options, call.points.dtype());
    check_points(call.points, options.box, options.execution, where);
    if (call.other != nullptr) {
        check_view_for(*call.other, "the other points", where);
        if (call.other->dimension() != call.points.dimension() || call.other->dtype() != call.points.dtype()) {
            throw error(ErrorKind::invalid_argument, "the other points are ", detail::name_of(call.other->dtype()),
                        " of ", call.other->dimension(), " dimensions, the points ",
                        detail::name_of(call.points.dtype()), " of ", call.points.dimension(), "; both must agree");
        }
    } else if (options.other_weights) {
        throw Error(ErrorKind::invalid_argument,
                    "other_weights are given without another set; the weights of both points "
                    "of a pair are `weights`");
    }
    if (options.weights) {
        check_weights(*options.weights, call.points.count(), "weights");
    }
    if (options.other_weights) {
        check_weights(*options.other_weights, call.other->count(), "other_weights");
    }
}

} // namespace kith::detail::inline KITH_GPU
