// The boxes of the top planes of all ranks' trees: which ranks may have points near a box.
#pragma once

#include "distributed/corners.hpp"
#include "distributed/packed_boxes.hpp"
#include "distributed/ranks.hpp"
#include "tree/view.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kith::detail {

/// The top planes of all ranks, gathered.
template <Coordinate T>
struct TopPlanes {
    struct Node {
        Corners<T> box;
        std::int64_t points; ///< of packed boxes: 0
    };
    int own_rank;
    int ranks;
    std::vector<Node> nodes;
    std::vector<std::int64_t> firsts; ///< by rank, and their number
    std::vector<Corners<T>> of_ranks; ///< boxes of all nodes of a rank

    /// Collective. Of this rank's tree, which has no planes if there are no points.
    TopPlanes(Ranks& all_ranks, const TreeView<T>& tree, int dimension) : TopPlanes(all_ranks) {
        std::vector<std::byte> mine; // of each node its points and the corners on the axes that there are
        if (tree.top >= 0) {
            const PlaneView<T>& top = tree.planes[tree.top];
            MessageWriter writer(mine);
            for (std::int32_t node = 0; node < top.nodes; ++node) {
                writer.put_value(std::int64_t{top.points_in(node)});
                put_corners(writer, corners_of(top, node, dimension), dimension);
            }
        }
        gather(all_ranks, mine, [&](MessageReader& reader) {
            const auto points = reader.take<std::int64_t>();
            return Node{take_corners<T>(reader, dimension), points};
        });
    }
    /// Collective. Of any boxes that contain this rank's points, rounded outward (packed_boxes.hpp).
    TopPlanes(Ranks& all_ranks, std::span<const Corners<T>> boxes, int dimension) : TopPlanes(all_ranks) {
        std::vector<std::byte> mine;
        MessageWriter writer(mine);
        PackedBoxWriter<T> packed(writer, dimension);
        for (const Corners<T>& box : boxes) {
            packed.put(box);
        }
        std::optional<PackedBoxReader<T>> reader_of_rank;
        gather(all_ranks, mine, [&](MessageReader& reader) {
            if (std::ssize(nodes) == firsts.back()) {
                reader_of_rank.emplace(reader, dimension);
            }
            return Node{reader_of_rank->take(), 0};
        });
    }
    [[nodiscard]] std::int64_t first(int rank) const { return firsts[rank]; }

private:
    explicit TopPlanes(const Ranks& all_ranks) : own_rank(all_ranks.rank()), ranks(all_ranks.size()) {}

    template <class TakeNode>
    void gather(Ranks& all_ranks, const std::vector<std::byte>& mine, const TakeNode& take_node) {
        const auto all = all_ranks.template gather_lists<std::byte>(mine);
        MessageReader reader(all.values);
        for (int rank = 0; rank < ranks; ++rank) {
            firsts.push_back(std::ssize(nodes));
            const auto left = static_cast<std::size_t>(all.firsts.back() - all.firsts[rank + 1]);
            while (reader.bytes_left() > left) {
                nodes.push_back(take_node(reader));
            }
        }
        firsts.push_back(std::ssize(nodes));
        for (int rank = 0; rank < ranks; ++rank) {
            of_ranks.push_back(joined_box<T>(nodes.begin() + first(rank), nodes.begin() + first(rank + 1),
                                             [](const Node& node) -> const Corners<T>& { return node.box; }));
        }
    }
};

} // namespace kith::detail
