#include "halos/potential_tree.hpp"

#include "halos/potential.hpp"
#include "order/word_sort.hpp"
#include "support/parallel.hpp"
#include "support/parallel_sort.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace kith::detail::halos {

namespace {

constexpr std::int64_t grain = 1 << 13; ///< bodies of a large group that one thread takes at a time

/// Nodes without moments, of sorted words.
class NodeMaker {
public:
    NodeMaker(const std::uint64_t* words, PotentialNode* nodes) : words_(words), nodes_(nodes) {}

    std::int32_t make(std::int32_t first, std::int32_t last) noexcept {
        const std::int32_t node = count_++;
        nodes_[node].first = first;
        nodes_[node].last = last;
        if (last - first > potential_leaf_size) {
            const std::uint64_t differing = words_[first] ^ words_[last - 1];
            const std::uint64_t bit = std::uint64_t{1} << (std::bit_width(differing) - 1);
            const std::uint64_t second = (words_[last - 1] & ~(bit - 1)); // the least word with this bit
            const auto middle =
                static_cast<std::int32_t>(std::lower_bound(words_ + first, words_ + last, second) - words_);
            make(first, middle);
            make(middle, last);
        }
        nodes_[node].next = count_;
        return count_;
    }

private:
    const std::uint64_t* words_;
    PotentialNode* nodes_;
    std::int32_t count_ = 0;
};

/// Fills what nodes say of their bodies, children before parents.
class MomentMaker {
public:
    MomentMaker(const BodyView& bodies, double reach, PotentialNode* nodes, SecondMoments* moments)
        : bodies_(bodies), reach_(reach), nodes_(nodes), moments_(moments) {}

    /// A node whose children are known.
    void fill(std::int32_t index, double squared_radius_of_bodies) const noexcept {
        fill_limits(nodes_[index], squared_radius_of_bodies, reach_);
    }
    void sum(std::int32_t index) const noexcept {
        nodes_[index].is_leaf(index) ? sum_bodies(bodies_, nodes_[index], moments_[index])
                                     : sum_children(nodes_, moments_, index);
    }
    [[nodiscard]] double squared_radius(const PotentialNode& node, std::int64_t begin,
                                        std::int64_t end) const noexcept {
        double largest = 0;
        for (std::int64_t i = begin; i < end; ++i) {
            largest = std::max(largest, squared_distance_from_center(node, bodies_, i));
        }
        return largest;
    }
    void fill_subtree(std::int32_t root) const noexcept {
        for (std::int32_t index = nodes_[root].next - 1; index >= root; --index) {
            sum(index);
            fill(index, squared_radius(nodes_[index], nodes_[index].first, nodes_[index].last));
        }
    }

private:
    BodyView bodies_;
    double reach_;
    PotentialNode* nodes_;
    SecondMoments* moments_;
};

/// Subtrees of few bodies are filled side by side; above them the bodies of each node are divided among the threads.
void fill_by_all(const MomentMaker& maker, const PotentialNode* nodes, std::int32_t count) {
    std::vector<std::int32_t> subtrees;
    std::vector<std::int32_t> above;
    for (std::int32_t index = 0; index < count;) {
        const bool is_small = nodes[index].last - nodes[index].first <= grain;
        (is_small ? subtrees : above).push_back(index);
        index = is_small ? nodes[index].next : index + 1;
    }
    parallel_each(std::ssize(subtrees), 1, [&](std::int64_t i) { maker.fill_subtree(subtrees[i]); });
    for (auto index = above.rbegin(); index != above.rend(); ++index) {
        const PotentialNode& node = nodes[*index];
        maker.sum(*index);
        maker.fill(*index, parallel_reduce(
                               node.first, node.last, grain, 0.0,
                               [&](std::int64_t begin, std::int64_t end, double so_far) {
                                   return std::max(so_far, maker.squared_radius(node, begin, end));
                               },
                               [](double a, double b) { return std::max(a, b); }));
    }
}

} // namespace

void PotentialTree::build(Context& context, GroupBodies& group, SofteningKernel kernel) {
    const std::int64_t count = group.bodies.size();
    const WordLayout word_of(count);
    place_mask_ = (std::uint64_t{1} << word_of.place_bits) - 1;
    const bool is_shared = count > shared_group_size;
    const auto over_bodies = [&](const auto& body) {
        is_shared ? parallel_for(0, count, grain, body) : body(std::int64_t{0}, count);
    };
    const BodyView given = group.bodies.view();
    words_.reserve(count);
    spare_.reserve(count);
    over_bodies([&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            words_[i] = word_of({given.position[0][i], given.position[1][i], given.position[2][i]}, i);
        }
    });
    if (is_shared) {
        Buffer<std::uint64_t> words(context.memory_tracker(), count);
        std::copy_n(words_.data(), count, words.data());
        parallel_sort(context, words);
        std::copy_n(words.data(), count, words_.data());
    } else {
        sort_words(words_.data(), spare_.data(), count, word_of.used_bits, 0);
    }
    ordered_.resize(count);
    over_bodies([&](std::int64_t begin, std::int64_t end) {
        for (int axis = 0; axis < 3; ++axis) {
            for (std::int64_t i = begin; i < end; ++i) {
                ordered_.position(axis)[i] = given.position[axis][place(i)];
            }
        }
        for (std::int64_t i = begin; i < end; ++i) {
            ordered_.mass()[i] = given.mass[place(i)];
        }
    });
    ordered_.pad();

    nodes_.reserve(2 * count);
    node_count_ = NodeMaker(words_.data(), nodes_.data()).make(0, static_cast<std::int32_t>(count));
    moments_.reserve(node_count_);
    const MomentMaker maker(bodies(), reach_of(kernel, group.frame.softening), nodes_.data(), moments_.data());
    is_shared ? fill_by_all(maker, nodes_.data(), nodes()) : maker.fill_subtree(0);
    squared_size_ = squared_size_of(nodes_[0], moments_[0]);
}

} // namespace kith::detail::halos
