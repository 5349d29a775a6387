// Barnes-Hut gravity with quadrupoles: a receiver walk over the planes of a kept tree (kith/walk.hpp).
//
// A leaf of bodies receives together. A node whose radius b about its center of mass is at most `opening` times its
// distance from the box of the receivers is taken whole, by its mass and second moments; other nodes are opened, down to
// leaves, whose bodies count one by one. What is left out, third moments and higher, is of the order of opening^3.
// Gravity is softened as Plummer's, 1 / sqrt(r^2 + eps^2), in the moments as well; G = 1. Source: Barnes, Hut (1986),
// Nature 324, 446.
#pragma once

#include <kith/tree.hpp>
#include <kith/walk.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

namespace gravity {

namespace walk = kith::walk;
using Planes = walk::Planes<float, 3>;
using View = Planes::View;
using Vector = std::array<float, 3>;

/// Of the bodies of a node, about their center of mass: sums of m x_i x_j are xx, xy, xz, yy, yz, zz.
struct Moments {
    double mass = 0;
    double center[3] = {};
    double second[6] = {};
    float radius = 0; ///< no body is farther from the center of mass
};

/// Makes them from bodies, or from the moments of children.
struct MomentsOf {
    const View& tree;
    const std::vector<float>& masses; ///< of sorted bodies

    Moments leaf(walk::Node node) const {
        const std::int32_t first = tree.first_point(node);
        return sum(node, tree.points_in(node), [&](std::int32_t i) {
            const auto x = tree.point(first + i);
            return Moments{masses[first + i], {x[0], x[1], x[2]}};
        });
    }
    Moments join(walk::Node node, const Moments* children, std::int32_t count) const {
        return sum(node, count, [children](std::int32_t i) { return children[i]; });
    }

private:
    template <class Part>
    Moments sum(walk::Node node, std::int32_t count, const Part& part) const {
        Moments sum;
        for (std::int32_t i = 0; i < count; ++i) {
            const Moments& one = part(i);
            sum.mass += one.mass;
            for (int axis = 0; axis < 3; ++axis) {
                sum.center[axis] += one.mass * one.center[axis];
            }
        }
        for (double& x : sum.center) {
            x /= sum.mass;
        }
        for (std::int32_t i = 0; i < count; ++i) {
            const Moments& one = part(i);
            const double d[3] = {one.center[0] - sum.center[0], one.center[1] - sum.center[1],
                                 one.center[2] - sum.center[2]};
            for (int a = 0, k = 0; a < 3; ++a) {
                for (int b = a; b < 3; ++b, ++k) {
                    sum.second[k] += one.second[k] + one.mass * d[a] * d[b];
                }
            }
        }
        double square = 0; // of the distance from the center to the farthest corner of the box
        for (int axis = 0; axis < 3; ++axis) {
            const double farthest =
                std::max(sum.center[axis] - tree.box(node).lower[axis], tree.box(node).upper[axis] - sum.center[axis]);
            square += farthest * farthest;
        }
        sum.radius = static_cast<float>(std::sqrt(square));
        return sum;
    }
};

/// Accelerations of the bodies of one leaf, the policy of the walk.
class Receivers {
public:
    Receivers(const View& tree, const std::vector<float>& masses, const std::vector<Moments>& moments, float opening,
              float softening)
        : tree_(tree), masses_(masses), moments_(moments), opening_(opening), eps2_(softening * softening) {}

    /// Walks for a leaf, and writes what it receives to accelerations[original index].
    void receive(walk::Node leaf, std::vector<Vector>& accelerations) {
        box_ = tree_.box(leaf);
        first_ = tree_.first_point(leaf);
        count_ = tree_.points_in(leaf);
        for (auto& sums : sums_) {
            sums.assign(count_, 0);
        }
        walk::receive(tree_, *this);
        for (std::int32_t i = 0; i < count_; ++i) {
            accelerations[tree_.order[first_ + i]] = {sums_[0][i], sums_[1][i], sums_[2][i]};
        }
    }

    walk::Step step(walk::Node node) const {
        const Moments& moments = moments_[tree_.number(node)];
        float square = 0; // of the distance from the receivers' box to the center of mass
        for (int axis = 0; axis < 3; ++axis) {
            const float center = static_cast<float>(moments.center[axis]);
            const float t = std::max({box_.lower[axis] - center, center - box_.upper[axis], 0.0F});
            square += t * t;
        }
        return moments.radius * moments.radius < opening_ * opening_ * square ? walk::Step::take : walk::Step::open;
    }
    void take(walk::Node node) {
        const Moments& moments = moments_[tree_.number(node)];
        const float m = static_cast<float>(moments.mass);
        float c[3];
        float s[6];
        std::copy_n(moments.center, 3, c);
        std::copy_n(moments.second, 6, s);
        const float trace = s[0] + s[3] + s[5];
        each_receiver([=, eps2 = eps2_](float x, float y, float z, float& ax, float& ay, float& az) {
            const float dx = c[0] - x;
            const float dy = c[1] - y;
            const float dz = c[2] - z;
            const float inverse2 = 1 / (dx * dx + dy * dy + dz * dz + eps2);
            const float inverse3 = inverse2 * std::sqrt(inverse2);
            const float inverse5 = inverse3 * inverse2;
            const float sx = s[0] * dx + s[1] * dy + s[2] * dz;
            const float sy = s[1] * dx + s[3] * dy + s[4] * dz;
            const float sz = s[2] * dx + s[4] * dy + s[5] * dz;
            const float along =
                m * inverse3 + inverse5 * (7.5F * inverse2 * (dx * sx + dy * sy + dz * sz) - 1.5F * trace);
            ax += along * dx - 3 * inverse5 * sx;
            ay += along * dy - 3 * inverse5 * sy;
            az += along * dz - 3 * inverse5 * sz;
        });
    }
    void leaf(walk::Node node) {
        for (std::int32_t j = tree_.first_point(node); j < tree_.end_point(node); ++j) {
            const auto source = tree_.point(j);
            const float m = masses_[j];
            each_receiver([=, eps2 = eps2_](float x, float y, float z, float& ax, float& ay, float& az) {
                const float dx = source[0] - x;
                const float dy = source[1] - y;
                const float dz = source[2] - z;
                const float r2 = dx * dx + dy * dy + dz * dz + eps2;
                const float inverse2 = r2 > 0 ? 1 / r2 : 0; // the body itself, without softening
                const float factor = m * inverse2 * std::sqrt(inverse2);
                ax += factor * dx;
                ay += factor * dy;
                az += factor * dz;
            });
        }
    }

private:
    /// A loop without branches over separate arrays, of which compilers make vectors (with -O3 -fno-math-errno).
    template <class Body>
    void each_receiver(const Body& body) {
        const float* const x = tree_.axis(0) + first_;
        const float* const y = tree_.axis(1) + first_;
        const float* const z = tree_.axis(2) + first_;
        float* const ax = sums_[0].data();
        float* const ay = sums_[1].data();
        float* const az = sums_[2].data();
        for (std::int32_t i = 0; i < count_; ++i) {
            body(x[i], y[i], z[i], ax[i], ay[i], az[i]);
        }
    }

    const View& tree_;
    const std::vector<float>& masses_;
    const std::vector<Moments>& moments_;
    float opening_;
    float eps2_;
    walk::NodeBox<float, 3> box_{};
    std::int32_t first_ = 0;
    std::int32_t count_ = 0;
    std::array<std::vector<float>, 3> sums_;
};

/// Every thread makes itself a worker and takes tasks in [0, count) until none is left: a program has its own way.
template <class MakeWorker>
void in_threads(int threads, std::int32_t count, const MakeWorker& make_worker) {
    std::atomic<std::int32_t> next = 0;
    std::vector<std::jthread> running;
    for (int t = 0; t < threads; ++t) {
        running.emplace_back([&] {
            auto work = make_worker();
            for (std::int32_t task = next++; task < count; task = next++) {
                work(task);
            }
        });
    }
}

/// The acceleration of every body, in the order given.
inline std::vector<Vector> accelerations(const kith::Tree& tree, std::span<const float> masses, float opening,
                                         float softening, int threads) {
    const Planes planes(tree);
    const View view = planes.view();
    std::vector<float> sorted_masses(view.count);
    for (std::int32_t i = 0; i < view.count; ++i) {
        sorted_masses[i] = masses[view.order[i]];
    }
    const std::vector<Moments> moments = walk::reduce<Moments>(view, MomentsOf{view, sorted_masses});
    std::vector<Vector> result(view.count);
    const std::vector<walk::Node> leaves = walk::nodes_of(view, 0);
    in_threads(threads, static_cast<std::int32_t>(leaves.size()), [&] {
        return [&, receivers = Receivers(view, sorted_masses, moments, opening, softening)](std::int32_t task) mutable {
            receivers.receive(leaves[task], result);
        };
    });
    return result;
}

} // namespace gravity
