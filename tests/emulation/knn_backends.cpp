// The emulated GPU's ways to search for neighbors: in a kept tree and other indices, among points by every engine,
// through a visitor, and stream-ordered; points and rows in memory of the host and of the device.
#include "emulation/async_search.hpp"
#include "emulation/calls_on_device.hpp"
#include "emulation/given_points.hpp"
#include "emulation/kept_tree.hpp"
#include "emulation/tested_dimensions.hpp"
#include "neighbors/conformance.hpp"
#include "neighbors/device_rows.hpp"
#include "support/engines.hpp"
#include "tree/device_entry.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace kith::test {

namespace {

using detail::DeviceContext;

/// A search's memory for rows, on either side.
template <class T, class Index>
class RowMemory {
public:
    /// `queries` is the number of those that rows in z-order name; 0: rows are in input order.
    RowMemory(DeviceContext& context, std::int64_t size, std::int64_t queries, std::int64_t k, bool on_device)
        : indices_(static_cast<std::size_t>(size), Index(-7)),
          distances_(static_cast<std::size_t>(size), std::numeric_limits<T>::quiet_NaN()),
          queries_(static_cast<std::size_t>(queries), -7), k_(k) {
        if (on_device) {
            device_indices_.emplace(context, size);
            device_distances_.emplace(context, size);
            device_queries_.emplace(context, queries);
        }
        const std::span<std::int32_t> queries_there = on_device ? device_queries_->span() : std::span(queries_);
        rows_ = on_device ? NeighborRows(device_indices_->span(), device_distances_->span(), queries_there)
                          : NeighborRows(std::span(indices_), std::span(distances_), queries_there);
    }
    [[nodiscard]] const NeighborRows* rows() const { return &rows_; }
    [[nodiscard]] oracle::Rows<T> found() const {
        const std::vector<Index> indices = device_indices_ ? device_indices_->on_host() : indices_;
        const oracle::Rows<T> rows{{indices.begin(), indices.end()},
                                   device_distances_ ? device_distances_->on_host() : distances_};
        return queries_.empty() ? rows
                                : in_input_order(rows, device_queries_ ? device_queries_->on_host() : queries_, k_);
    }

private:
    std::vector<Index> indices_;
    std::vector<T> distances_;
    std::vector<std::int32_t> queries_;
    std::int64_t k_;
    std::optional<ThereOn<Index>> device_indices_;
    std::optional<ThereOn<T>> device_distances_;
    std::optional<ThereOn<std::int32_t>> device_queries_;
    NeighborRows rows_;
};

/// Points, queries and what becomes of a request, for a search that waits.
template <class T>
class WaitingTrial {
public:
    WaitingTrial(const KnnRequest<T>& request, Random& draw)
        : request_(request), points_(context_, request.points, draw.integer(2) == 0),
          rows_on_device_(draw.integer(2) == 0), call_{request.k, request.options, nullptr, nullptr} {
        if (request.queries != nullptr) {
            queries_.emplace(context_, *request.queries, draw.integer(2) == 0);
        }
    }
    DeviceContext& context() { return context_; }
    [[nodiscard]] const PointsView& points() const { return points_.view(); }
    [[nodiscard]] const PointsView* queries() const { return queries_ ? &queries_->view() : nullptr; }
    [[nodiscard]] const detail::DeviceKnnCall& call() const { return call_; }
    void want_z_order(bool z_order) { call_.options.z_order = z_order; }

    /// The rows that search() writes.
    template <class Search>
    oracle::Rows<T> rows_of(const Search& search) {
        return request_.options.index_type == IndexType::int32 ? rows_of<std::int32_t>(search)
                                                               : rows_of<std::int64_t>(search);
    }

private:
    template <class Index, class Search>
    oracle::Rows<T> rows_of(const Search& search) {
        const RowMemory<T, Index> memory(context_, request_.rows() * request_.k,
                                         call_.options.z_order ? request_.rows() : 0, request_.k, rows_on_device_);
        call_.rows = memory.rows();
        const oracle::Unresolved unresolved(search().unresolved);
        oracle::Rows<T> found = memory.found();
        found.unresolved = unresolved;
        return found;
    }

    const KnnRequest<T>& request_;
    DeviceContext context_{cuda(1)};
    GivenPoints<T> points_;
    std::optional<GivenPoints<T>> queries_;
    bool rows_on_device_;
    detail::DeviceKnnCall call_;
};

constexpr auto in_a_kept_tree = []<class T>(const KnnRequest<T>& request, Random& draw) {
    oracle::Rows<T> found;
    with_tested_dimension(request.points.dimension(), [&]<int D>(std::integral_constant<int, D>) {
        WaitingTrial<T> trial(request, draw);
        const TreeShape shape = drawn_shape(draw);
        const auto tree =
            detail::build_tree_on_device<T, D>(trial.context(), trial.points(), request.options.box, shape);
        EXPECT_EQ(tree.size, request.points.count());
        trial.want_z_order(draw.integer(2) == 0);
        found = trial.rows_of([&] {
            return detail::search_tree_on_device<T, D>(trial.context(), tree, shape, trial.queries(), trial.call());
        });
    });
    EXPECT_EQ(emulation::held_on_device(), 0);
    return found;
};

/// Among points, as calls of that engine search them. One thread: shared memory of the emulator is every thread's own,
/// and more than a new one has room for.
KnnBackend among_points_by(Engine engine, std::int64_t one_in) {
    const auto search = [engine]<class T>(const KnnRequest<T>& request, Random& draw) {
        oracle::Rows<T> found;
        with_tested_dimension(request.points.dimension(), [&]<int D>(std::integral_constant<int, D>) {
            WaitingTrial<T> trial(request, draw);
            trial.want_z_order(engine == Engine::tree && draw.integer(3) == 0);
            found = trial.rows_of([&] {
                detail::DeviceKnnCall call = trial.call();
                call.options.execution = cuda(1);
                call.options.execution.threads = 1;
                const SearchSummary summary = detail::on_gpu().knn(trial.points(), trial.queries(), call, engine);
                EXPECT_EQ(summary.engine, engine);
                return summary;
            });
        });
        EXPECT_EQ(emulation::held_on_device(), 0);
        return found;
    };
    return knn_backend("emulated GPU, " + name_of(engine), search, one_in);
}

/// In an index of another engine than the tree, on one thread, too; every second one is CLOVER's flat form.
constexpr auto in_a_kept_index = []<class T>(const KnnRequest<T>& request, Random& draw) {
    const Engine engine = draw.integer(4) == 0 ? Engine::kdtree : Engine::clover;
    CloverOptions clover;
    if (engine == Engine::clover && draw.integer(3) > 0) {
        clover = {.form = CloverForm::flat, .hubs = 40, .hub_selection = static_cast<HubSelection>(draw.integer(2))};
    }
    WaitingTrial<T> trial(request, draw);
    oracle::Rows<T> found;
    {
        const Tree index = index_on_device(
            trial.points(), {.box = request.options.box, .engine = engine, .clover = clover}, cuda(1).device);
        found = trial.rows_of([&] {
            detail::DeviceKnnCall call = trial.call();
            call.options.execution = cuda(1);
            call.options.execution.threads = 1;
            return detail::on_gpu().knn(index, trial.queries(), call, engine);
        });
    }
    return found;
};

constexpr auto through_a_visitor = []<class T>(const KnnRequest<T>& request, Random& draw) {
    const auto size = static_cast<std::size_t>(request.rows() * request.k);
    oracle::Rows<T> found{std::vector<std::int64_t>(size, -7), std::vector<T>(size)};
    with_tested_dimension(request.points.dimension(), [&]<int D>(std::integral_constant<int, D>) {
        WaitingTrial<T> trial(request, draw);
        std::int64_t next = 0;
        const NeighborVisitor visitor = [&](const NeighborBlock& block) {
            EXPECT_EQ(block.device, (Device{DeviceKind::cuda, 1}));
            EXPECT_EQ(block.first, next);
            const auto rows = static_cast<std::int64_t>(block.query_indices.size());
            next += rows;
            const auto queries = trial.context().to_host(block.query_indices.data(), rows);
            const auto indices = trial.context().to_host(block.indices().data(), rows * block.k);
            const auto distances = trial.context().to_host(block.template distances<T>().data(), rows * block.k);
            for (std::int64_t row = 0; row < rows; ++row) {
                const std::int64_t to = queries[static_cast<std::size_t>(row)] * block.k;
                std::copy_n(indices.begin() + row * block.k, block.k, found.indices.begin() + to);
                std::copy_n(distances.begin() + row * block.k, block.k, found.distances.begin() + to);
            }
        };
        detail::DeviceKnnCall visit = trial.call();
        visit.visitor = &visitor;
        const TreeShape shape = drawn_shape(draw);
        const auto tree =
            detail::build_tree_on_device<T, D>(trial.context(), trial.points(), request.options.box, shape);
        found.unresolved = oracle::Unresolved(
            detail::search_tree_on_device<T, D>(trial.context(), tree, shape, trial.queries(), visit).unresolved);
        EXPECT_EQ(next, request.rows());
    });
    EXPECT_EQ(emulation::held_on_device(), 0);
    return found;
};

template <class T, class Index>
oracle::Rows<T> stream_ordered(const KnnRequest<T>& request, KnnOptions options,
                               const std::optional<TreeShape>& shape) {
    DeviceContext context(cuda(1));
    const GivenPoints<T> points(context, request.points, true);
    std::optional<GivenPoints<T>> queries;
    if (request.queries != nullptr) {
        queries.emplace(context, *request.queries, true);
    }
    std::optional<Tree> tree;
    if (shape) {
        tree.emplace(tree_there(points.view(), {.box = options.box, .shape = *shape, .execution = cuda(1)}));
        options.box = {};
    }
    AsyncTrial<T, Index> trial(tree ? PointsOrTree(*tree) : PointsOrTree(points.view()),
                               queries ? std::optional(queries->view()) : std::nullopt, request.k, options);
    trial.run();
    EXPECT_EQ(trial.status().refusal, PointError::none);
    return trial.rows();
}

/// With planes of that shape in a kept tree, or else among points.
KnnBackend stream_ordered_by(Engine engine, bool keeps, std::int64_t one_in) {
    const auto search = [engine, keeps]<class T>(const KnnRequest<T>& request, Random& draw) {
        KnnOptions options = request.options;
        options.engine = engine;
        options.z_order = engine == Engine::tree && draw.integer(3) == 0;
        const std::optional<TreeShape> shape = keeps ? std::optional(drawn_shape(draw)) : std::nullopt;
        const oracle::Rows<T> found = options.index_type == IndexType::int32
                                          ? stream_ordered<T, std::int32_t>(request, options, shape)
                                          : stream_ordered<T, std::int64_t>(request, options, shape);
        EXPECT_EQ(emulation::held_on_device(), 0);
        return found;
    };
    return knn_backend("emulated GPU, stream-ordered, " + name_of(engine) + (keeps ? " that is kept" : ""), search,
                       one_in);
}

} // namespace

std::vector<KnnBackend> knn_backends() {
    std::vector<KnnBackend> backends{knn_backend("emulated GPU, kept tree", in_a_kept_tree),
                                     knn_backend("emulated GPU, kept index", in_a_kept_index, 3),
                                     knn_backend("emulated GPU, visitor", through_a_visitor, 4)};
    const std::map<Engine, std::int64_t> one_in{{Engine::brute_force, 1}, {Engine::clover, 3}};
    for (const Engine engine : named_engines_of(detail::Task::neighbors, detail::Where::gpu)) {
        backends.push_back(among_points_by(engine, one_in.contains(engine) ? one_in.at(engine) : 8));
    }
    for (const Engine engine : named_engines_of(detail::Task::neighbors, detail::Where::stream)) {
        backends.push_back(stream_ordered_by(engine, false, engine == Engine::tree ? 1 : 4));
    }
    backends.push_back(stream_ordered_by(Engine::tree, true, 2));
    return backends;
}

KnnEffort knn_effort() {
    return {.every_k = false, .self_points = 24, .points = 150, .queries = 8};
}

} // namespace kith::test
