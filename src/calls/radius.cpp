// The public radius searches: a call is normalized, checked once, and dispatched once; rows are counted, then filled.
#include <kith/error.hpp>
#include <kith/radius.hpp>

#include "calls/choose.hpp"
#include "calls/device_calls.hpp"
#include "engines/brute_force/radius.hpp"
#include "neighbors/query_tree.hpp"
#include "neighbors/radius.hpp"
#include "points/frame.hpp"
#include "support/context.hpp"
#include "support/dimension.hpp"
#include "support/item_size.hpp"
#include "support/message.hpp"
#include "support/result_memory.hpp"
#include "tree/node_attributes.hpp"
#include "tree/plane_tree.hpp"
#include "walk/tasks.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace kith {

namespace detail {

namespace {

/// Any public radius search.
struct RadiusCall {
    const Tree* tree = nullptr; ///< or else points in the box of the options
    PointsView points = {};
    const PointsView* queries = nullptr; ///< null: a self-search
    const Radii* radii = nullptr;
    const RadiusOptions* options = nullptr;

    [[nodiscard]] std::int64_t source_count() const { return tree != nullptr ? tree->size() : points.count(); }
    [[nodiscard]] std::int64_t row_count() const { return queries != nullptr ? queries->count() : source_count(); }
    [[nodiscard]] DType dtype() const { return tree != nullptr ? tree->dtype() : points.dtype(); }
    [[nodiscard]] int dimension() const { return tree != nullptr ? tree->dimension() : points.dimension(); }
    [[nodiscard]] Engine engine() const {
        return choose(Task::neighbors, options->engine,
                      {source_count(), row_count(), queries != nullptr, dimension(), tree != nullptr});
    }
};

void check_radii(const Radii& radii, std::int64_t rows) {
    if (!radii.is_uniform() && radii.count() != rows) {
        throw Error(ErrorKind::invalid_argument,
                    message("there are ", radii.count(), " radii for ", rows, rows == 1 ? " query" : " queries",
                            "; give one radius, or one for each query"));
    }
    const std::int64_t count = radii.is_uniform() ? 1 : radii.count();
    for (std::int64_t i = 0; i < count; ++i) {
        if (!(radii[i] >= 0)) {
            throw Error(ErrorKind::invalid_argument,
                        message("the radius", radii.is_uniform() ? "" : message(" of query ", i), " is ", radii[i],
                                "; it must be 0 or more, or infinity"));
        }
    }
}

/// All that can be checked without looking at the points.
void check(const RadiusCall& call) {
    const RadiusOptions& options = *call.options;
    if (is_on_gpu(options.execution)) {
        throw Error(ErrorKind::unsupported, "radius search runs on the CPU only; use kith::cpu()");
    }
    if (call.tree != nullptr) {
        require_device_of(*call.tree, options.execution);
        if (!options.box.is_open()) {
            throw Error(ErrorKind::invalid_argument, "the options have a box, but a tree has its own; build the tree "
                                                     "with the box and leave it out of the options");
        }
    } else {
        check_view(call.points, "points");
    }
    if (call.queries != nullptr) {
        check_view(*call.queries, "queries");
        if (options.exclude_self) {
            throw Error(ErrorKind::invalid_argument,
                        "exclude_self was asked for with separate queries, which have no self among the sources; leave "
                        "it off or search without queries");
        }
    }
    if (options.max_result_bytes < 0) {
        throw Error(ErrorKind::invalid_argument,
                    message("max_result_bytes is ", options.max_result_bytes, "; it must be 0 or more"));
    }
    check_radii(*call.radii, call.row_count());
}

/// The points of a call in working coordinates, as trees or, for brute force, in any order.
template <Coordinate T>
class RadiusSearch {
public:
    RadiusSearch(Context& context, const RadiusCall& call) : context_(context), call_(call), engine_(call.engine()) {
        const PlaneTree<T>* kept = call.tree != nullptr ? &call.tree->data().template as<T>() : nullptr;
        std::optional<NormalizedPoints<T>> sources;
        std::optional<NormalizedPoints<T>> queries;
        context.run([&] {
            if (kept == nullptr) {
                sources = normalize_sources<T>(call.points, call.options->box);
            }
            if (call.queries != nullptr) {
                queries = normalize_queries(*call.queries, kept != nullptr ? kept->points.frame : sources->frame);
            }
        });
        frame_ = kept != nullptr ? kept->points.frame : sources->frame;
        if (call.row_count() == 0 || call.source_count() == 0) {
            return;
        }
        if (engine_ == Engine::brute_force) {
            context.stage("gather", [&] {
                if (kept == nullptr) {
                    source_points_ = gather_points(context, *sources);
                }
                if (queries) {
                    query_points_ = gather_points(context, *queries);
                }
            });
            sources_.points = (kept != nullptr ? kept->points : source_points_).view();
            sources_.period = frame_.working_period;
            receivers_ = sources_;
            if (queries) {
                receivers_.points = query_points_.view();
            }
        } else {
            if (kept == nullptr) {
                kept = &source_tree_.emplace(build_plane_tree<T>(context, *sources, TreeOptions{}));
            }
            sources_ = kept->view();
            receivers_ = sources_;
            if (queries) {
                const TreeOptions options = call.tree != nullptr ? call.tree->data().options : TreeOptions{};
                query_tree_.emplace(build_plane_tree<T>(
                    context, *queries, query_tree_options(options, call.source_count(), call.row_count())));
                receivers_ = query_tree_->view();
            }
            plane_ = plane_of_tasks(receivers_, context.threads());
            schedule_ = make_schedule(receivers_, plane_, sources_);
        }
        context.run([&] { load_radii(); });
    }

    [[nodiscard]] Engine engine() const { return engine_; }
    [[nodiscard]] const Frame<T>& frame() const { return frame_; }

    /// Runs a stage that brings all rows to the sink.
    void run(const char* stage, const RadiusSink<T>& sink) {
        context_.stage(stage, [&] {
            if (receivers_.points.count == 0) {
                pass_empty_rows(sink);
                return;
            }
            RadiusJob<T> job{&receivers_,
                             &sources_,
                             frame_.dimension,
                             frame_.periodic,
                             call_.options->exclude_self,
                             &schedule_,
                             uniform_,
                             nullptr,
                             {},
                             call_.options->order,
                             ReportScale<T>(frame_, call_.options->squared),
                             sink};
            if (!call_.radii->is_uniform()) {
                job.squared_radii = squared_radii_.data();
                std::transform(of_nodes_.begin(), of_nodes_.end(), job.of_nodes.begin(),
                               [](const Buffer<RadiusRange<T>>& plane) { return plane.data(); });
            }
            context_.expect(receivers_.points.count);
            if (engine_ == Engine::brute_force) {
                compare_all(context_, job);
                return;
            }
            const PlaneView<T>& tasks = receivers_.planes[static_cast<std::size_t>(plane_)];
            PerThread<RadiusScratch<T>> scratch;
            for_each_task(context_, tasks, [&](std::int64_t node) { search_radius(job, node, scratch.local()); });
        });
    }

private:
    /// Without sources every row is empty: counts and offsets are 0 already.
    void pass_empty_rows(const RadiusSink<T>& sink) const {
        if (sink.visitor == nullptr || call_.row_count() == 0) {
            return;
        }
        std::vector<std::int32_t> queries(static_cast<std::size_t>(call_.row_count()));
        std::iota(queries.begin(), queries.end(), 0);
        const std::vector<std::int64_t> offsets(queries.size() + 1, 0);
        (*sink.visitor)({queries, offsets, {}, dtype_of<T>, nullptr});
    }

    [[nodiscard]] T squared(double radius) const {
        const T loaded = frame_.load_radius(radius);
        return loaded * loaded;
    }

    void load_radii() {
        const Radii& radii = *call_.radii;
        if (radii.is_uniform()) {
            uniform_ = {squared(radii[0]), squared(radii[0])};
            return;
        }
        const PointSetView<T>& points = receivers_.points;
        squared_radii_ = Buffer<T>(context_.memory_tracker(), points.count);
        parallel_for(0, points.count, 1 << 14, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                squared_radii_[i] = squared(radii[points.indices[i]]);
            }
        });
        of_nodes_ = node_attributes<RadiusRange<T>>(
            context_, receivers_,
            [&](std::int32_t i) {
                return RadiusRange<T>{squared_radii_[i], squared_radii_[i]};
            },
            [](const RadiusRange<T>& a, const RadiusRange<T>& b) {
                return RadiusRange<T>{std::min(a.smallest, b.smallest), std::max(a.largest, b.largest)};
            });
    }

    Context& context_;
    const RadiusCall& call_;
    Engine engine_;
    Frame<T> frame_;
    PointSet<T> source_points_; ///< for brute force
    PointSet<T> query_points_;
    std::optional<PlaneTree<T>> source_tree_;
    std::optional<PlaneTree<T>> query_tree_;
    TreeView<T> receivers_;
    TreeView<T> sources_;
    int plane_ = 0; ///< of the tasks
    std::vector<Step> schedule_;
    RadiusRange<T> uniform_{};
    Buffer<T> squared_radii_;
    std::vector<Buffer<RadiusRange<T>>> of_nodes_;
};

/// Calls function(context, RadiusSearch<T>&) and returns what the call took.
template <class Function>
StageReports searched(const RadiusCall& call, const Function& function) {
    check(call);
    Context context(call.options->execution);
    with_dtype(call.dtype(), [&]<Coordinate T>(T) {
        RadiusSearch<T> search(context, call);
        function(search);
    });
    return context.take_stages();
}

std::vector<std::int64_t> counted(const RadiusCall& call) {
    std::vector<std::int64_t> counts;
    searched(call, [&]<Coordinate T>(RadiusSearch<T>& search) {
        counts.assign(static_cast<std::size_t>(call.row_count()), 0);
        RadiusSink<T> sink;
        sink.counts = counts.data();
        search.run("count", sink);
    });
    return counts;
}

StageReports visited(const RadiusVisitor& visitor, const RadiusCall& call) {
    return searched(call, [&]<Coordinate T>(RadiusSearch<T>& search) {
        RadiusSink<T> sink;
        sink.visitor = &visitor;
        search.run("search", sink);
    });
}

/// Throws out_of_memory, with the bytes needed, if the rows are more than the options or the machine allow.
void require_memory(std::int64_t neighbors, std::int64_t bytes_each, std::int64_t max_bytes) {
    const std::int64_t limit = max_bytes > 0 ? max_bytes : machine_memory();
    if (neighbors > limit / bytes_each) {
        throw Error(ErrorKind::out_of_memory,
                    message("the result has ", neighbors, " neighbors and needs ",
                            static_cast<double>(neighbors) * static_cast<double>(bytes_each), " bytes; ",
                            max_bytes > 0 ? "max_result_bytes is " : "this machine has ", limit,
                            "; take a smaller radius, or radius_count or radius_visit"));
    }
}

} // namespace

} // namespace detail

struct RadiusResultAccess {
    static RadiusResult run(const detail::RadiusCall& call) {
        RadiusResult result;
        const RadiusOptions& options = *call.options;
        result.index_type_ = options.index_type;
        result.dtype_ = call.dtype();
        result.stages = detail::searched(call, [&]<Coordinate T>(detail::RadiusSearch<T>& search) {
            std::vector<std::int64_t>& offsets = result.offsets_;
            offsets.assign(static_cast<std::size_t>(call.row_count()) + 1, 0);
            detail::RadiusSink<T> counts;
            counts.counts = offsets.data() + 1;
            search.run("count", counts);
            std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
            const std::int64_t index_bytes = detail::item_size(options.index_type);
            const std::int64_t distance_bytes = detail::item_size(call.dtype());
            detail::require_memory(result.size(), index_bytes + distance_bytes, options.max_result_bytes);
            const auto what = [&] { return detail::message(result.size(), " neighbors"); };
            result.indices_ = detail::allocate_result(result.size() * index_bytes, what);
            result.distances_ = detail::allocate_result(result.size() * distance_bytes, what);
            detail::RadiusSink<T> rows;
            rows.offsets = offsets.data();
            rows.distances = static_cast<T*>(result.distances_.get());
            if (options.index_type == IndexType::int32) {
                rows.indices = static_cast<std::int32_t*>(result.indices_.get());
            } else {
                rows.wide_indices = static_cast<std::int64_t*>(result.indices_.get());
            }
            search.run("search", rows);
            result.engine_ = search.engine();
            result.box_ = detail::resolved_box(search.frame());
        });
        return result;
    }
};

RadiusResult radius_search(const Tree& tree, const Radii& radii, const RadiusOptions& options) {
    return RadiusResultAccess::run({.tree = &tree, .radii = &radii, .options = &options});
}

RadiusResult radius_search(const Tree& tree, const PointsView& queries, const Radii& radii,
                           const RadiusOptions& options) {
    return RadiusResultAccess::run({.tree = &tree, .queries = &queries, .radii = &radii, .options = &options});
}

RadiusResult radius_search(const PointsView& points, const Radii& radii, const RadiusOptions& options) {
    return RadiusResultAccess::run({.points = points, .radii = &radii, .options = &options});
}

RadiusResult radius_search(const PointsView& points, const PointsView& queries, const Radii& radii,
                           const RadiusOptions& options) {
    return RadiusResultAccess::run({.points = points, .queries = &queries, .radii = &radii, .options = &options});
}

std::vector<std::int64_t> radius_count(const Tree& tree, const Radii& radii, const RadiusOptions& options) {
    return detail::counted({.tree = &tree, .radii = &radii, .options = &options});
}

std::vector<std::int64_t> radius_count(const Tree& tree, const PointsView& queries, const Radii& radii,
                                       const RadiusOptions& options) {
    return detail::counted({.tree = &tree, .queries = &queries, .radii = &radii, .options = &options});
}

std::vector<std::int64_t> radius_count(const PointsView& points, const Radii& radii, const RadiusOptions& options) {
    return detail::counted({.points = points, .radii = &radii, .options = &options});
}

std::vector<std::int64_t> radius_count(const PointsView& points, const PointsView& queries, const Radii& radii,
                                       const RadiusOptions& options) {
    return detail::counted({.points = points, .queries = &queries, .radii = &radii, .options = &options});
}

StageReports radius_visit(const RadiusVisitor& visitor, const Tree& tree, const Radii& radii,
                          const RadiusOptions& options) {
    return detail::visited(visitor, {.tree = &tree, .radii = &radii, .options = &options});
}

StageReports radius_visit(const RadiusVisitor& visitor, const Tree& tree, const PointsView& queries, const Radii& radii,
                          const RadiusOptions& options) {
    return detail::visited(visitor, {.tree = &tree, .queries = &queries, .radii = &radii, .options = &options});
}

} // namespace kith
