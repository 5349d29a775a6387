// Calls over ranks: neighbors, groups, catalogs and halos of points that are distributed over processes.
//
// A call whose execution is kith::over(communicator) is collective: each rank makes it with its own points or queries,
// possibly none; all other arguments except Execution must be the same on all ranks. These calls run over ranks: knn(),
// knn_into(), knn_visit(), radius_search(), radius_count(), sum_neighbors(), pair_counts(), fof(), dbscan(),
// hdbscan(), spanning_tree(), fof_ladder(), hierarchy(), edges_in_order(), catalog(), halos(), z_order() and gather(),
// with the engine tree or automatic, on points, not on a Tree, which belongs to one process. All others refuse it on
// every rank.
// knn(), knn_into(), radius_search(), radius_count(), fof(), dbscan() and catalog() also run on a GPU of each rank,
// with points in host memory or in that of this GPU; ranks with and without GPUs work together. Results are in host
// memory; knn_into() fills rows on either side. The others run on the CPU, and refuse a GPU on every rank. Where points
// travel between GPUs (device_communicator.hpp), their memory comes from the device and not from Execution::memory,
// within the memory budget, and a call may wait for all work of its device when it takes and frees it.
//
// Points stay on their rank; each rank gets the answers for its own points or queries, in their order. The global index
// of a point is the number of points on lower ranks plus its row. The answers are bit-identical to those of one process
// that holds the points of all ranks in this order, for any number of ranks and any distribution. Indices, labels and
// members are global and 64 bits wide, over one rank too; `distribution` in the result says which part of the answer it
// is, and what it cost. Unresolved rows and points outside the box are counted over all ranks. Relative lengths
// refer to the mean separation of all points, and to the dispersion of all velocities. Labels number the groups of all
// ranks; ties are broken by the smallest global index. Catalogs and halos are of labels of a call over as many ranks,
// and their groups are divided among ranks so that each part has about the same number of members. A group whose
// members are all on one rank is described there, the members of any other group are sent to one rank, which needs
// memory for them. Source: jz-tree paper, section III-C and appendix B (arXiv:2604.05885).
//
// Besides the errors of the call in one process: invalid_argument if ranks differ in function, dimension, type, box or
// other arguments, or if ids or weights are not as RankOptions says; too_large if a rank has more than 2^31 - 1 points
// or queries, also after rebalancing, or fetches more than 2^31 - 1 points; for radius searches, sums, groups and
// clusters, if its own points and those that it fetches are together more than that; for catalogs, if a part has more
// than 2^31 - 1 members. An error on one rank is thrown on every rank. With several ranks its text starts with the
// number of the rank on which it occurred; row and value are those on that rank. Code of the program, such as a visitor
// or progress callback, may throw: its rank throws that exception itself, the others an Error of kind other_rank with
// its what(); but a kith::Error becomes an Error of its kind on all, and std::bad_alloc one of kind out_of_memory. With
// one rank, every exception but std::bad_alloc propagates as it is.
//
// Memory per rank: that of the serial call, for radius_search() about twice that in addition to the rows; for
// pair_counts() also a tree of what it fetches from one other rank at a time; for dbscan() 8 bytes for each cluster of
// all ranks; for hdbscan() on rank 0 about 130 bytes for each point of all ranks; one copy of all points that it sends,
// each with a number of 1 to 5 bytes (up to 10 if it is an id), until they are sent; and about three copies of the
// points that it fetches from other ranks while they arrive. Ranks with GPUs hold the coordinates that they send and receive on the GPU: one copy of each, and, for
// radius searches, fof() and dbscan(), a copy of their own points joined with those received. The points of a rank
// should be near each other; otherwise it may fetch the points of all ranks. knn_visit() and sum_neighbors() by k
// neighbors search twice.
//
// Each rank calls the progress callback of its own Execution. If run_ranks() gives one Execution to all ranks, its
// callback is called concurrently, at most once at a time per rank.
#pragma once

#include <kith/communicator.hpp>
#include <kith/execution.hpp>
#include <kith/points.hpp>

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>
#include <vector>

namespace kith {

/// Options of every call over ranks.
struct RankOptions {
    /// Optional: an id for each point of this rank: 0 to 2^63 - 1, in any order, unique over all ranks. Ids replace
    /// global indices: they alone break ties, and results contain them. Either all ranks that have points pass ids, or
    /// none. The answers are those of one process that holds the points of all ranks by ascending id; each rank gets
    /// the answers for its own points, in their order. Memory: a copy of the rank's points if their ids are not
    /// ascending, and one of the ids unless they are contiguous std::int64_t.
    IntegersView ids = {};
    /// Redistributes the points for the call, with their columns, so that each rank has about as many, near each other,
    /// and returns the answers to the ranks that passed them. Separate queries are sent to where the points near them
    /// are. Worth it if the points of a rank are scattered, or if it has far more of them than others. Must be the same
    /// on all ranks. It makes no difference to catalog(), whose groups are divided among ranks anyway, to z_order() and
    /// gather(), and to calls on a spanning tree.
    bool rebalance = false;
    /// Optional, used if the call rebalances several ranks, and by z_order(): the cost of each point of this rank in
    /// any unit, finite and 0 or more. Each rank then gets about the same sum of weights instead of the same number of
    /// points. A weight below 1/64 of the mean counts as that; if all are 0, all points are alike. Either all ranks
    /// that have points pass weights, or none. The answers do not depend on them. In a simulation, pass the `work` of
    /// the previous result's Distribution.
    ScalarsView weights = {};
    /// Used if the call rebalances, and by z_order(): how much the parts of ranks may differ, as a fraction of the mean
    /// number of points or weight, from 0 to 1. 0 divides points as equally as their number, or weights, allow; that
    /// takes more rounds of counting, of 16 bytes per rank each. Must be the same on all ranks.
    double imbalance = 0.01;
};

/// Runs a call over the ranks of a communicator, on each with `local`, which may be on a GPU for some calls:
/// `kith::knn(points, 16, {.execution = kith::over(ranks)})`. Refers to the communicator, and to the ids and weights,
/// for as long as it is used; for one call at a time, since calls over ranks are collective.
[[nodiscard]] Execution over(Communicator& communicator, Execution local = cpu(), RankOptions rank_options = {});

/// Collective. The GPU of this rank, for `kith::over(ranks, kith::cuda(kith::gpu_of_rank(ranks)))`: the ranks of a
/// machine, which its host name tells, take the GPUs that they see there in turn. Throws unsupported in a build without
/// CUDA, and device if a rank sees no GPU; on all ranks.
[[nodiscard]] int gpu_of_rank(Communicator& ranks);

namespace detail {
/// Rows that are sent as bytes, and where they go.
template <class Row, class Gathered>
concept SentAs = std::is_same_v<Row, Gathered> && std::is_trivially_copyable_v<Row>;
} // namespace detail

/// A point of all ranks, by where it is.
struct RankRow {
    std::int32_t rank = -1;
    std::int64_t row = -1; ///< on that rank
    friend bool operator==(const RankRow&, const RankRow&) = default;
};

/// Which global indices belong to which rank: those of rank r are first(r) to first(r + 1) - 1.
class RankOffsets {
public:
    /// Collective. `count` is the number of points of this rank.
    RankOffsets(Communicator& communicator, std::int64_t count);

    [[nodiscard]] int ranks() const noexcept { return static_cast<int>(firsts_.size()) - 1; }
    /// Global index of the first point of a rank, 0 to ranks(); first(ranks()) is the number of all points.
    [[nodiscard]] std::int64_t first(int rank) const { return firsts_.at(static_cast<std::size_t>(rank)); }
    [[nodiscard]] std::int64_t total() const noexcept { return firsts_.back(); }
    /// Rank and row of a global index. Throws Error: invalid_argument (index outside 0 to total() - 1).
    [[nodiscard]] RankRow locate(std::int64_t index) const;

private:
    std::vector<std::int64_t> firsts_;
};

/// A column of this rank's points, and memory for the rows that gather() fetches. Rows are trivially copyable values,
/// which are sent as bytes: a mass, a std::array, a whole struct. A view: both must outlive the call.
class GatherColumn {
public:
    /// One element per point, and one per index.
    template <std::ranges::contiguous_range Column, std::ranges::contiguous_range Gathered>
        requires(detail::SentAs<std::ranges::range_value_t<Column>, std::ranges::range_value_t<Gathered>>)
    GatherColumn(const Column& column, Gathered&& gathered)
        : GatherColumn(std::ranges::data(column), static_cast<std::int64_t>(std::ranges::size(column)),
                       sizeof(std::ranges::range_value_t<Column>), sizeof(std::ranges::range_value_t<Column>),
                       std::ranges::data(gathered), static_cast<std::int64_t>(std::ranges::size(gathered))) {}
    /// A member of the points' struct.
    template <std::ranges::contiguous_range Range, class Struct, class T, std::ranges::contiguous_range Gathered>
        requires(detail::SentAs<T, std::ranges::range_value_t<Gathered>>)
    GatherColumn(const Range& structs, T Struct::*member, Gathered&& gathered)
        : GatherColumn(std::ranges::empty(structs) ? nullptr : &(std::ranges::data(structs)->*member),
                       static_cast<std::int64_t>(std::ranges::size(structs)), sizeof(T),
                       sizeof(std::ranges::range_value_t<Range>), std::ranges::data(gathered),
                       static_cast<std::int64_t>(std::ranges::size(gathered))) {}
    /// Rows of row_bytes bytes, `stride` bytes apart; those gathered are contiguous.
    GatherColumn(const void* column, std::int64_t count, std::int64_t row_bytes, std::int64_t stride, void* gathered,
                 std::int64_t gathered_count)
        : column_(static_cast<const std::byte*>(column)), gathered_(static_cast<std::byte*>(gathered)), count_(count),
          gathered_count_(gathered_count), row_bytes_(row_bytes), stride_(stride) {}

    [[nodiscard]] const std::byte* row(std::int64_t i) const noexcept { return column_ + i * stride_; }
    [[nodiscard]] std::byte* gathered(std::int64_t i) const noexcept { return gathered_ + i * row_bytes_; }
    [[nodiscard]] std::int64_t count() const noexcept { return count_; }
    [[nodiscard]] std::int64_t gathered_count() const noexcept { return gathered_count_; }
    [[nodiscard]] std::int64_t row_bytes() const noexcept { return row_bytes_; }

private:
    const std::byte* column_;
    std::byte* gathered_;
    std::int64_t count_;
    std::int64_t gathered_count_;
    std::int64_t row_bytes_;
    std::int64_t stride_;
};

/// Fetches rows of columns from the ranks that have them: for example the masses of the neighbors that knn() found.
/// Each rank passes the columns of its points, in the same order as the points, and any global indices, such as
/// neighbors.indices64(). With RankOptions::ids, which are those of this rank's points, the indices are ids. Element i
/// of the gathered memory becomes the row of indices[i]; for an index of -1, a missing neighbor, its bytes become 0.
/// Each rank gets a row once, however often it asks for it. Cost: two exchanges of the indices and rows of other ranks;
/// with ids another two, in which each rank also sends all its ids. Memory: the rows that this rank asks for, each
/// once, and 24 bytes per index.
/// Throws Error, on every rank: invalid_argument (an index below -1 or that no point has; columns or gathered memory of
/// another size or at no address; rows of less than a byte; ranks that differ in the number of columns or the bytes of
/// a row; ids that are not as RankOptions says), out_of_memory. The contents of the gathered memory are then
/// unspecified.
Traffic gather(Communicator& communicator, std::span<const std::int64_t> indices, std::span<const GatherColumn> columns,
               const RankOptions& rank_options = {});
/// The same over the ranks of an execution, with its ids. Also throws invalid_argument for an execution without ranks.
Traffic gather(const Execution& execution, std::span<const std::int64_t> indices,
               std::span<const GatherColumn> columns);

/// The same for one column.
template <std::ranges::contiguous_range Column>
    requires(std::is_trivially_copyable_v<std::ranges::range_value_t<Column>> &&
             !std::is_same_v<std::ranges::range_value_t<Column>, GatherColumn>)
[[nodiscard]] std::vector<std::ranges::range_value_t<Column>> gather(Communicator& communicator,
                                                                     std::span<const std::int64_t> indices,
                                                                     const Column& column,
                                                                     const RankOptions& rank_options = {}) {
    std::vector<std::ranges::range_value_t<Column>> gathered(indices.size());
    const GatherColumn columns[] = {GatherColumn(column, gathered)};
    gather(communicator, indices, std::span<const GatherColumn>(columns), rank_options);
    return gathered;
}

} // namespace kith
