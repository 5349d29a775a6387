// Rows of neighbors within radii among own points and ghost points, block by block, without memory for all of them.
//
// The receivers of a block (search_parts.hpp) that have ghost points within reach are searched in the tree of the ghost
// points; these rows are kept, and appended to those that are then found among the own points. How long they are is not
// known before: a block that has found more than may be kept drops them and is searched in smaller ones, down to about
// a leaf of receivers, whose rows one process keeps, too. Few receivers are searched more than twice.
#pragma once

#include <kith/radius.hpp>

#include "distributed/search_parts.hpp"
#include "neighbors/radius_search.hpp"
#include "support/context.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kith::detail {

template <Coordinate T>
class BallsInParts {
public:
    /// Refers to all of these; radii by receiver.
    BallsInParts(Context& context, const SearchParts<T>& parts, const Radii& radii)
        : context_(context), parts_(parts), radii_(radii) {}

    /// Shows the rows of all receivers, which include these, to the visitor, concurrently: rows of the parts as
    /// indices, in any order, and distances. Stages "search pieces" and "search".
    void search_all(const RadiusVisitor& visitor) const {
        constexpr std::int64_t least_rows = 16384;
        parts_.for_each_block(parts_.rows_of_block(least_rows),
                              [&](std::int64_t begin, std::int64_t end) { search(begin, end, visitor); });
    }

private:
    struct Ball {
        std::vector<std::int32_t> indices;
        std::vector<T> distances;
    };
    using Balls = std::unordered_map<std::int32_t, Ball>; // by receiver

    void search(std::int64_t begin, std::int64_t end, const RadiusVisitor& visitor) const {
        constexpr std::int64_t least_rows = 32;
        const std::int64_t most = end - begin > least_rows ? parts_.most_kept(std::int64_t{1} << 22)
                                                           : std::numeric_limits<std::int64_t>::max();
        std::optional<ReceiverBlock<T>> block;
        Balls kept;
        std::int64_t found = 0;
        context_.stage("search pieces", [&] {
            block.emplace(context_, parts_, begin, end);
            found = search_ghosts(*block, most, kept);
        });
        if (found <= most) {
            context_.stage("search", [&] { search_own(*block, kept, visitor); });
            return;
        }
        block.reset();
        kept = {};
        const std::int64_t each = std::max((end - begin) / (found / most + 1), least_rows);
        for (std::int64_t first = begin; first < end; first += each) {
            search(first, std::min(first + each, end), visitor);
        }
    }

    void search_own(const ReceiverBlock<T>& block, const Balls& kept, const RadiusVisitor& visitor) const {
        const RadiusVisitor appending = [&](const RadiusBlock& rows) { append(rows, kept, visitor); };
        const RadiusVisitor& own = kept.empty() ? visitor : appending;
        if (parts_.own.sources.points.count > 0) {
            search(block.tree(), parts_.own.sources, own);
            return;
        }
        const std::span<const std::int32_t> receivers = block.tree().points.indices.span();
        parallel_for(0, block.tree().points.count, 256, [&](std::int64_t begin, std::int64_t end) {
            const std::vector<std::int64_t> offsets(static_cast<std::size_t>(end - begin + 1));
            own({receivers.subspan(begin, end - begin),
                 offsets,
                 0,
                 nullptr,
                 IndexType::int32,
                 nullptr,
                 dtype_of<T>,
                 {},
                 nullptr});
        });
    }

    /// Returns the number of neighbors; keeps none if they are more than `most`.
    [[nodiscard]] std::int64_t search_ghosts(const ReceiverBlock<T>& block, std::int64_t most, Balls& kept) const {
        const PlaneTree<T> near = block.near();
        if (near.points.count == 0) {
            return 0;
        }
        std::int64_t found = 0;
        const auto own_points = static_cast<std::int32_t>(parts_.own_points());
        std::mutex keeping;
        search(near, parts_.tree_of_ghosts, [&](const RadiusBlock& rows) {
            {
                const std::lock_guard lock(keeping);
                found += rows.size;
                if (found > most) {
                    kept.clear();
                    return;
                }
            }
            const T* const distances = static_cast<const T*>(rows.distances_data);
            for (std::size_t row = 0; row < rows.query_indices.size(); ++row) {
                const std::int64_t begin = rows.offsets[row];
                const std::int64_t end = rows.offsets[row + 1];
                if (begin == end) {
                    continue;
                }
                Ball ball;
                ball.indices.reserve(end - begin);
                for (std::int64_t i = begin; i < end; ++i) {
                    ball.indices.push_back(own_points + rows.indices()[i]);
                }
                ball.distances.assign(distances + begin, distances + end);
                const std::lock_guard lock(keeping);
                kept.emplace(rows.query_indices[row], std::move(ball));
            }
        });
        return found;
    }

    static void append(const RadiusBlock& rows, const Balls& kept, const RadiusVisitor& visitor) {
        std::vector<std::int64_t> offsets{0};
        std::vector<std::int32_t> indices;
        std::vector<T> distances;
        const T* const from = static_cast<const T*>(rows.distances_data);
        for (std::size_t row = 0; row < rows.query_indices.size(); ++row) {
            const std::int64_t begin = rows.offsets[row];
            const std::int64_t end = rows.offsets[row + 1];
            if (begin < end) {
                indices.insert(indices.end(), rows.indices().data() + begin, rows.indices().data() + end);
                distances.insert(distances.end(), from + begin, from + end);
            }
            if (const auto found = kept.find(rows.query_indices[row]); found != kept.end()) {
                const Ball& ball = found->second;
                indices.insert(indices.end(), ball.indices.begin(), ball.indices.end());
                distances.insert(distances.end(), ball.distances.begin(), ball.distances.end());
            }
            offsets.push_back(std::ssize(indices));
        }
        visitor({rows.query_indices,
                 offsets,
                 std::ssize(indices),
                 indices.data(),
                 IndexType::int32,
                 distances.data(),
                 dtype_of<T>,
                 {},
                 nullptr});
    }

    /// Neither tree is empty.
    void search(const PlaneTree<T>& receivers, const PlaneTree<T>& sources, const RadiusVisitor& visitor) const {
        const TreeView<T> receiver_view = receivers.view();
        const ReceiverRadii<T> squared(context_, radii_, receiver_view, parts_.frame());
        RadiusSink<T> sink;
        sink.visitor = &visitor;
        search_tree(context_, receiver_view, sources.view(), parts_.frame(), squared, sink);
    }

    Context& context_;
    const SearchParts<T>& parts_;
    const Radii& radii_;
};

} // namespace kith::detail
