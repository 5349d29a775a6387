// Friends-of-friends over ranks: points are linked (linked_points.hpp), and components numbered
// (number_components.hpp), on the ranks that passed the points, or rebalanced.
#include "distributed/fof.hpp"

#include "distributed/given_ids.hpp"
#include "distributed/linked_points.hpp"
#include "distributed/linking_length.hpp"
#include "distributed/number_components.hpp"
#include "distributed/phase_space.hpp"
#include "distributed/rebalance.hpp"
#include "groups/linking_length.hpp"
#include "groups/part_linker_cpu.hpp"
#include "support/allocation_errors.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace kith::detail {

namespace {

/// Fills labels, sizes and the number of groups of points in the frame of all ranks, in the order of their numbers, as
/// the labels are; the linking length of the result has been resolved. Adds what it took to the stages of the result.
template <Coordinate T>
void group_points(Ranks& ranks, Context& context, const SharedPoints<T>& shared, const MakePartLinker<T>& on_gpu,
                  FofResult& result) {
    std::vector<std::int64_t>& labels = result.label_array.vector<std::int64_t>();
    PlaneTree<T> tree; // on the host
    std::unique_ptr<PartLinker<T>> linker;
    ranks.agreed([&] {
        with_allocation_errors("the labels", [&] { labels.resize(shared.points.view.count()); });
        if (on_gpu) {
            linker = on_gpu(shared.points);
            return;
        }
        if (shared.points.view.count() > 0) {
            tree = build_plane_tree<T>(context, shared.points, {});
        }
        linker = std::make_unique<HostPartLinker<T>>(context, tree);
    });
    const LinkedPoints linked =
        link_points(ranks, context, shared, *linker, shared.points.frame.squared_radius(result.linking_length));
    ranks.count_from_device(linker->bytes_to_host());
    const auto add = [&](const StageReports& stages) {
        result.stages.insert(result.stages.end(), stages.begin(), stages.end());
    };
    ranks.agreed([&] { add(linker->take_stages()); });
    linker.reset(); // frees memory of a GPU
    result.sizes =
        number_components(ranks, context, shared.ownership, shared.numbers, linked, ComponentOrder::size, labels);
    result.groups = result.sizes.size();
    add(context.take_stages());
    account_for(ranks, *shared.there, result.stages);
}

template <Coordinate T>
void group_rebalanced(Ranks& ranks, Context& context, const SharedPoints<T>& shared, std::span<const std::int64_t> ids,
                      const RankOptions& options, const MakePartLinker<T>& on_gpu, FofResult& result,
                      std::vector<float>& work) {
    Rebalanced<T> here(ranks, context, shared, ids, options);
    ranks.agreed([&] { here.ids->sort(here.points); });
    group_points(ranks, context, here.points, on_gpu, result);
    work = here.moved.work(seconds_of(result.stages));
    std::vector<std::int64_t>& labels = result.label_array.vector<std::int64_t>();
    std::vector<std::int64_t> moved;
    ranks.agreed([&] {
        here.ids->restore(labels);
        moved = std::exchange(labels, std::vector<std::int64_t>(shared.given.count()));
    });
    here.moved.bring_back(std::span<const std::int64_t>(moved), 1, std::span(labels));
}

} // namespace

template <Coordinate T>
void fof_over_ranks(Ranks& ranks, Context& context, const FofOverRanks& call, const MakePartLinker<T>& on_gpu,
                    const MakePartPoints<T>& points_on_gpu, FofResult& result, std::vector<float>& work) {
    const FofOptions& options = call.options;
    const GivenIds ids(ranks, call.of_ranks.ids, call.points.count());
    SharedPoints<T> shared = share_frame<T>(ranks, context, call.points, options.box, points_on_gpu);
    ids.number(shared);
    resolve_length(ranks, shared, call.length, result);
    describe_frame(shared.points.frame, result);
    SharedPoints<T> in_phase_space;
    if (options.phase_space) {
        in_phase_space =
            share_phase_space(ranks, context, shared, options.box, *options.phase_space, result, points_on_gpu);
        account_for(ranks, *shared.there, result.stages);
    }
    SharedPoints<T>& linked = options.phase_space ? in_phase_space : shared;
    if (call.of_ranks.rebalance && ranks.size() > 1) {
        group_rebalanced(ranks, context, linked, ids.given(), call.of_ranks, on_gpu, result, work);
    } else {
        ranks.agreed([&] { ids.sort(linked); });
        group_points(ranks, context, linked, on_gpu, result);
        ranks.agreed([&] { ids.restore(result.label_array.vector<std::int64_t>()); });
    }
}

void widen(const Execution& execution, IndexArray& numbers) {
    const IndexArray narrow = std::exchange(numbers, {});
    std::vector<std::int64_t>& wide = numbers.vector<std::int64_t>();
    with_allocation_errors("64-bit numbers", [&] { wide.resize(narrow.size()); });
    Context(execution).run(
        [&] { parallel_each(narrow.size(), 1 << 16, [&](std::int64_t i) { wide[i] = narrow.as_int32()[i]; }); });
}

template void fof_over_ranks<float>(Ranks&, Context&, const FofOverRanks&, const MakePartLinker<float>&,
                                    const MakePartPoints<float>&, FofResult&, std::vector<float>&);
template void fof_over_ranks<double>(Ranks&, Context&, const FofOverRanks&, const MakePartLinker<double>&,
                                     const MakePartPoints<double>&, FofResult&, std::vector<float>&);

} // namespace kith::detail
