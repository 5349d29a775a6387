// The points of a rank, as a spanning tree over ranks knows them: by the numbers that its edges hold.
#pragma once

#include <kith/error.hpp>
#include <kith/spanning_tree.hpp>

#include "distributed/given_ids.hpp"
#include "distributed/ownership.hpp"
#include "distributed/point_numbers.hpp"
#include "mst/edges.hpp"
#include "support/message.hpp"

#include <cstdint>

namespace kith::detail {

class TreePoints {
public:
    /// Collective. `given_ids` are those of this rank's points, or empty. Throws invalid_argument on all ranks unless
    /// there are ids if the tree was found with ids.
    TreePoints(Ranks& ranks, const SpanningTree& tree, const IntegersView& given_ids)
        : ids(ranks, given_ids, SpanningTreeAccess::part(tree).points),
          ownership(ranks, SpanningTreeAccess::part(tree).points), numbers(ids.sorted_numbers(ownership)) {
        Ranks::alike([&] {
            if (ids.are_given() != SpanningTreeAccess::part(tree).has_ids) {
                throw Error(ErrorKind::invalid_argument,
                            ids.are_given() ? "ids: the spanning tree was found without; leave them out"
                                            : "ids: the spanning tree was found with ids; pass them");
            }
        });
    }
    TreePoints(const TreePoints&) = delete;
    TreePoints& operator=(const TreePoints&) = delete;

    [[nodiscard]] std::int64_t count() const { return ownership.end() - ownership.first(); }
    /// The row, by ascending number, of a point that the tree says is of this rank.
    [[nodiscard]] std::int64_t row_of(std::int64_t number) const {
        const std::int64_t row = numbers.row_of(number);
        if (row < 0) {
            throw error(ErrorKind::invalid_argument, {.value = static_cast<double>(number)},
                        "ids: the spanning tree has a point ", number,
                        " on this rank, which is not among them; pass the ids that it was found with");
        }
        return row;
    }

    const GivenIds ids;
    const Ownership ownership;
    const PointNumbers numbers; ///< by ascending number
};

} // namespace kith::detail
