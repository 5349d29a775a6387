#include "halos/potential_tree.hpp"

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

/// Two zeros after each of the lowest 21 bits.
std::uint64_t spread(std::uint64_t v) noexcept {
    v = (v | v << 32) & 0x001f00000000ffff;
    v = (v | v << 16) & 0x001f0000ff0000ff;
    v = (v | v << 8) & 0x100f00f00f00f00f;
    v = (v | v << 4) & 0x10c30c30c30c30c3;
    return (v | v << 2) & 0x1249249249249249;
}

/// The words of all bodies: cells above places.
class WordMaker {
public:
    explicit WordMaker(const BodyView& bodies)
        : bodies_(bodies), place_bits_(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bodies.count - 1)))) {
        const int bits = std::min(bits_of_side, (64 - place_bits_) / 3);
        units_ = std::ldexp(1.0, bits - bits_of_side);
        used_bits_ = 3 * bits + place_bits_;
    }
    [[nodiscard]] std::uint64_t operator()(std::int64_t i) const noexcept {
        std::uint64_t cell = 0;
        for (int axis = 0; axis < 3; ++axis) {
            cell |= spread(static_cast<std::uint64_t>(bodies_.position[axis][i] * units_)) << (2 - axis);
        }
        return cell << place_bits_ | static_cast<std::uint64_t>(i);
    }
    [[nodiscard]] int used_bits() const noexcept { return used_bits_; }
    [[nodiscard]] int place_bits() const noexcept { return place_bits_; }

private:
    BodyView bodies_;
    int place_bits_;
    double units_;
    int used_bits_;
};

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

void add_products(double mass, const std::array<double, 3>& d, SecondMoments& sum) noexcept {
    std::size_t at = 0;
    for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = i; j < 3; ++j) {
            sum[at++] += mass * d[i] * d[j];
        }
    }
}

std::array<double, 3> difference(const std::array<double, 3>& a, const std::array<double, 3>& b) noexcept {
    return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}

/// Fills what nodes say of their bodies, children before parents.
class MomentMaker {
public:
    MomentMaker(const BodyView& bodies, double reach, PotentialNode* nodes, SecondMoments* moments)
        : bodies_(bodies), reach_(reach), nodes_(nodes), moments_(moments) {}

    /// A node whose children are known.
    void fill(std::int32_t index, double squared_radius_of_bodies) const noexcept {
        PotentialNode& node = nodes_[index];
        const double opened = squared_radius_of_bodies / (node_opening * node_opening);
        const double softened = std::sqrt(squared_radius_of_bodies) + reach_;
        node.nearest = std::max(opened, softened * softened);
        node.third_moments =
            node.mass * node.mass * squared_radius_of_bodies * squared_radius_of_bodies * squared_radius_of_bodies;
    }
    void sum(std::int32_t index) const noexcept {
        nodes_[index].is_leaf(index) ? sum_bodies(nodes_[index], moments_[index]) : sum_children(index);
    }
    [[nodiscard]] double squared_radius(const PotentialNode& node, std::int64_t begin,
                                        std::int64_t end) const noexcept {
        double largest = 0;
        for (std::int64_t i = begin; i < end; ++i) {
            const std::array<double, 3> d = from_center(node, i);
            largest = std::max(largest, d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
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
    [[nodiscard]] std::array<double, 3> from_center(const PotentialNode& node, std::int64_t i) const noexcept {
        return difference({bodies_.position[0][i], bodies_.position[1][i], bodies_.position[2][i]}, node.center);
    }
    void sum_bodies(PotentialNode& node, SecondMoments& moments) const noexcept {
        double mass = 0;
        std::array<double, 3> sums{};
        for (std::int32_t i = node.first; i < node.last; ++i) {
            mass += bodies_.mass[i];
            for (std::size_t axis = 0; axis < 3; ++axis) {
                sums[axis] += bodies_.mass[i] * bodies_.position[axis][i];
            }
        }
        node.mass = mass;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            node.center[axis] = mass > 0 ? sums[axis] / mass : bodies_.position[axis][node.first];
        }
        moments = {};
        for (std::int32_t i = node.first; i < node.last; ++i) {
            add_products(bodies_.mass[i], from_center(node, i), moments);
        }
    }
    void sum_children(std::int32_t index) const noexcept {
        PotentialNode& node = nodes_[index];
        const PotentialNode& left = nodes_[index + 1];
        const PotentialNode& right = nodes_[left.next];
        node.mass = left.mass + right.mass;
        const double share = node.mass > 0 ? right.mass / node.mass : 0;
        const std::array<double, 3> apart = difference(right.center, left.center);
        for (std::size_t axis = 0; axis < 3; ++axis) {
            node.center[axis] = left.center[axis] + share * apart[axis];
        }
        SecondMoments& sum = moments_[index];
        for (std::size_t i = 0; i < sum.size(); ++i) {
            sum[i] = moments_[index + 1][i] + moments_[left.next][i];
        }
        add_products(left.mass * share, apart, sum);
    }

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
    const WordMaker word_of(group.bodies.view());
    place_mask_ = (std::uint64_t{1} << word_of.place_bits()) - 1;
    const bool is_shared = count > shared_group_size;
    const auto over_bodies = [&](const auto& body) {
        is_shared ? parallel_for(0, count, grain, body) : body(std::int64_t{0}, count);
    };
    words_.reserve(count);
    spare_.reserve(count);
    over_bodies([&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            words_[i] = word_of(i);
        }
    });
    if (is_shared) {
        Buffer<std::uint64_t> words(context.memory_tracker(), count);
        std::copy_n(words_.data(), count, words.data());
        parallel_sort(context, words);
        std::copy_n(words.data(), count, words_.data());
    } else {
        sort_words(words_.data(), spare_.data(), count, word_of.used_bits(), 0);
    }
    ordered_.resize(count);
    const BodyView given = group.bodies.view();
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
    const double reach = kernel == SofteningKernel::spline ? 2.8 * group.softening : 0;
    const MomentMaker maker(bodies(), reach, nodes_.data(), moments_.data());
    is_shared ? fill_by_all(maker, nodes_.data(), nodes()) : maker.fill_subtree(0);
    const SecondMoments& whole = moments_[0];
    squared_size_ = nodes_[0].mass > 0 ? (whole[0] + whole[3] + whole[5]) / nodes_[0].mass : 0;
}

} // namespace kith::detail::halos
