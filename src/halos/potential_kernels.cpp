// See potential_kernels.hpp. One receiver against vectors of nodes and bodies. All operations are rounded correctly, so
// all instruction sets give the same bits.
#include "halos/potential_kernels.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "halos/potential_kernels.cpp"
#include <hwy/foreach_target.h> // must come before highway.h

#include "support/simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

using namespace kith::detail::halos;

using Tag = hn::ScalableTag<double>;
using Vector = hn::Vec<Tag>;
constexpr std::int64_t vector_lanes = static_cast<std::int64_t>(hn::MaxLanes(Tag()));
constexpr std::int64_t vectors = potential_lanes / vector_lanes;

HWY_INLINE Vector fma(Vector a, Vector b, Vector c) {
    return fused_multiply_add(Tag(), a, b, c);
}
HWY_INLINE Vector set(double x) {
    return hn::Set(Tag(), x);
}
/// Distances as they are, and the spline within its reach.
struct Spline {
    Vector reach;
    Vector inverse_reach;

    explicit HWY_INLINE Spline(double length) : reach(set(2.8 * length)), inverse_reach(set(1 / (2.8 * length))) {}

    static HWY_INLINE Vector distance(Vector square) { return hn::Sqrt(square); }
    HWY_INLINE Vector operator()(Vector distance, Vector inverse) const {
        const auto near = hn::Lt(distance, reach);
        if (HWY_LIKELY(hn::AllFalse(Tag(), near))) {
            return inverse;
        }
        const Vector u = hn::Mul(distance, inverse_reach);
        const Vector uu = hn::Mul(u, u);
        const Vector inner = fma(uu, fma(uu, fma(u, set(-32.0 / 5), set(48.0 / 5)), set(-16.0 / 3)), set(14.0 / 5));
        const Vector outer = fma(uu, fma(u, fma(u, fma(u, set(32.0 / 15), set(-48.0 / 5)), set(16)), set(-32.0 / 3)),
                                 fma(hn::Mul(inverse, reach), set(-1.0 / 15), set(16.0 / 5)));
        const Vector softened = hn::IfThenElse(hn::Lt(u, set(0.5)), inner, outer);
        return hn::IfThenElse(near, hn::Mul(softened, inverse_reach), inverse);
    }
};

/// Distances that are softened once for all.
struct Plummer {
    Vector squared_length;

    explicit HWY_INLINE Plummer(double length) : squared_length(set(length * length)) {}
    [[nodiscard]] HWY_INLINE Vector distance(Vector square) const { return hn::Sqrt(hn::Add(square, squared_length)); }
    HWY_INLINE Vector operator()(Vector /*distance*/, Vector inverse) const { return inverse; }
};

struct LaneSums {
    Vector of[vectors];

    HWY_INLINE LaneSums() {
        for (Vector& sum : of) {
            sum = hn::Zero(Tag());
        }
    }
    /// Joined by pairs: lanes i and i + 8, then i and i + 4, and so on.
    [[nodiscard]] HWY_INLINE double join() const {
        HWY_ALIGN double lane[potential_lanes];
        for (std::int64_t v = 0; v < vectors; ++v) {
            hn::Store(of[v], Tag(), lane + v * vector_lanes);
        }
        for (std::int64_t half = potential_lanes / 2; half > 0; half /= 2) {
            for (std::int64_t i = 0; i < half; ++i) {
                lane[i] += lane[i + half];
            }
        }
        return lane[0];
    }
};

/// From a receiver to sources.
struct Difference {
    Vector x;
    Vector y;
    Vector z;
    Vector square;

    HWY_INLINE Difference(const Vector* from, const double* sx, const double* sy, const double* sz)
        : x(hn::Sub(from[0], hn::LoadU(Tag(), sx))), y(hn::Sub(from[1], hn::LoadU(Tag(), sy))),
          z(hn::Sub(from[2], hn::LoadU(Tag(), sz))), square(fma(z, z, fma(y, y, hn::Mul(x, x)))) {}
};

/// A whole number of blocks of lanes.
template <class Kernel>
HWY_INLINE void add_bodies(const Kernel& kernel, const Vector* receiver, const BodyView& bodies, LaneSums& sums) {
    for (std::int64_t i = 0; i < bodies.count; i += potential_lanes) {
        for (std::int64_t v = 0; v < vectors; ++v) {
            const std::int64_t at = i + v * vector_lanes;
            const Difference d(receiver, bodies.position[0] + at, bodies.position[1] + at, bodies.position[2] + at);
            const Vector distance = kernel.distance(d.square);
            const Vector weight = kernel(distance, hn::Div(set(1), distance));
            sums.of[v] = fma(hn::LoadU(Tag(), bodies.mass + at), weight, sums.of[v]);
        }
    }
}

HWY_INLINE Vector of_node(const InteractionLists& lists, int array, std::int64_t at) {
    return hn::LoadU(Tag(), lists.of_nodes[array].data() + at);
}

/// M / u + (3/2 sum m (y d)^2 / u^2 - sum m y^2 / 2) / u^3, u the softened distance.
template <class Kernel>
HWY_INLINE void add_nodes(const Kernel& kernel, const Vector* receiver, const InteractionLists& lists,
                          std::int64_t count, LaneSums& sums) {
    const auto& of = lists.of_nodes;
    for (std::int64_t i = 0; i < count; i += potential_lanes) {
        for (std::int64_t v = 0; v < vectors; ++v) {
            const std::int64_t at = i + v * vector_lanes;
            const Difference d(receiver, of[0].data() + at, of[1].data() + at, of[2].data() + at);
            const Vector inverse = hn::Div(set(1), kernel.distance(d.square));
            const Vector inverse2 = hn::Mul(inverse, inverse);
            const Vector along_x =
                fma(of_node(lists, 4, at), d.x, fma(of_node(lists, 5, at), d.y, hn::Mul(of_node(lists, 6, at), d.z)));
            const Vector along_y = fma(of_node(lists, 7, at), d.y, hn::Mul(of_node(lists, 8, at), d.z));
            const Vector product =
                fma(along_x, d.x, fma(along_y, d.y, hn::Mul(hn::Mul(of_node(lists, 9, at), d.z), d.z)));
            const Vector second = fma(product, inverse2, of_node(lists, 10, at));
            sums.of[v] = fma(inverse, fma(second, inverse2, of_node(lists, 3, at)), sums.of[v]);
        }
    }
}

template <class Kernel>
HWY_INLINE double sum_of(const Kernel& kernel, const double* receiver, const InteractionLists* lists,
                         std::int64_t nodes, const BodyView& bodies) {
    const Vector at[] = {set(receiver[0]), set(receiver[1]), set(receiver[2])};
    LaneSums sums;
    if (nodes > 0) {
        add_nodes(kernel, at, *lists, nodes, sums);
    }
    add_bodies(kernel, at, bodies, sums);
    return sums.join();
}

/// The receivers' own masses are those of the bodies from `masses[own]` on: each is left out for its receiver. If
/// `masses` is null, none is.
template <class Kernel>
void sum_receivers(double softening, const BodyView& receivers, const InteractionLists* lists, std::int64_t nodes,
                   BodyView bodies, double* masses, std::int64_t own, double* out) {
    const Kernel kernel(softening);
    bodies.count = whole_lanes(bodies.count);
    for (std::int64_t i = 0; i < receivers.count; ++i) {
        const double receiver[] = {receivers.position[0][i], receivers.position[1][i], receivers.position[2][i]};
        const double mass = masses != nullptr ? std::exchange(masses[own + i], 0.0) : 0;
        out[i] = sum_of(kernel, receiver, lists, nodes, bodies);
        if (masses != nullptr) {
            masses[own + i] = mass;
        }
    }
}

void sum_any(const SofteningInFrame& softening, const BodyView& receivers, const InteractionLists* lists,
             std::int64_t nodes, const BodyView& bodies, double* masses, std::int64_t own, double* out) {
    if (softening.kernel == SofteningKernel::spline) {
        sum_receivers<Spline>(softening.length, receivers, lists, nodes, bodies, masses, own, out);
    } else {
        sum_receivers<Plummer>(softening.length, receivers, lists, nodes, bodies, masses, own, out);
    }
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::detail {

HWY_EXPORT(sum_any);

} // namespace kith::detail

namespace kith::detail::halos {

namespace {

LeafBox box_of(const BodyView& bodies, const PotentialNode& leaf) {
    LeafBox box;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const auto [least, most] =
            std::minmax_element(bodies.position[axis] + leaf.first, bodies.position[axis] + leaf.last);
        box.lower[axis] = *least;
        box.upper[axis] = *most;
    }
    return box;
}

/// Lists the nodes that a leaf takes whole, and the runs of bodies of all others, in the order of the tree.
void list_interactions(const PotentialTree& tree, const LeafBox& box, InteractionLists& lists) {
    lists.nodes.clear();
    lists.runs.clear();
    const PotentialNode* const nodes = tree.node_data();
    const double limit = box.limit(nodes[0], tree.squared_size());
    const std::int32_t end = tree.nodes();
    for (std::int32_t index = 0; index < end;) {
        const PotentialNode& node = nodes[index];
        if (box.takes_whole(node, limit)) {
            lists.nodes.push_back(index);
            index = node.next;
            continue;
        }
        if (node.is_leaf(index)) {
            if (!lists.runs.empty() && lists.runs.back().second == node.first) {
                lists.runs.back().second = node.last;
            } else {
                lists.runs.emplace_back(node.first, node.last);
            }
        }
        ++index;
    }
}

std::int64_t gather_nodes(const PotentialTree& tree, InteractionLists& lists) {
    const std::int64_t count = std::ssize(lists.nodes);
    const std::int64_t padded = whole_lanes(count);
    for (ScratchArray<double>& array : lists.of_nodes) {
        array.reserve(padded);
    }
    auto& of = lists.of_nodes;
    for (std::int64_t i = 0; i < count; ++i) {
        const PotentialNode& node = tree.node_data()[lists.nodes[i]];
        const std::array<double, 7> form = quadratic_form(tree.moment_data()[lists.nodes[i]]);
        for (std::size_t axis = 0; axis < 3; ++axis) {
            of[axis][i] = node.center[axis];
        }
        of[3][i] = node.mass;
        for (std::size_t k = 0; k < form.size(); ++k) {
            of[4 + k][i] = form[k];
        }
    }
    for (std::int64_t i = count; i < padded; ++i) {
        for (std::size_t array = 0; array < of.size(); ++array) {
            of[array][i] = array < 3 ? padding_position : 0;
        }
    }
    return padded;
}

/// Returns where the leaf's own bodies are.
std::int64_t gather_bodies(const BodyView& bodies, std::int32_t first_own, InteractionLists& lists) {
    std::int64_t count = 0;
    for (const auto& [first, last] : lists.runs) {
        count += last - first;
    }
    lists.bodies.resize(count);
    std::int64_t own = 0;
    std::int64_t at = 0;
    for (const auto& [first, last] : lists.runs) {
        for (int axis = 0; axis < 3; ++axis) {
            std::copy(bodies.position[axis] + first, bodies.position[axis] + last, lists.bodies.position(axis) + at);
        }
        std::copy(bodies.mass + first, bodies.mass + last, lists.bodies.mass() + at);
        own = first <= first_own && first_own < last ? at + first_own - first : own;
        at += last - first;
    }
    lists.bodies.pad();
    return own;
}

} // namespace

void sum_leaf(const LeafJob& job, std::int32_t leaf, InteractionLists& lists, double* out) {
    const PotentialTree& tree = *job.tree;
    const PotentialNode& node = tree.node_data()[leaf];
    const BodyView bodies = tree.bodies();
    list_interactions(tree, box_of(bodies, node), lists);
    const std::int64_t nodes = gather_nodes(tree, lists);
    const std::int64_t own = gather_bodies(bodies, node.first, lists);
    const BodyView receivers{
        {bodies.position[0] + node.first, bodies.position[1] + node.first, bodies.position[2] + node.first},
        bodies.mass + node.first,
        node.last - node.first};
    HWY_DYNAMIC_DISPATCH(sum_any)
    (job.softening, receivers, &lists, nodes, lists.bodies.view(), lists.bodies.mass(), own, out + node.first);
}

void sum_sources(const SofteningInFrame& softening, const BodyView& receivers, const BodyView& sources, double* out) {
    HWY_DYNAMIC_DISPATCH(sum_any)(softening, receivers, nullptr, 0, sources, nullptr, 0, out);
}

void sum_pairs(GroupBodies& group, SofteningKernel kernel, double* out) {
    const BodyView bodies = group.bodies.view();
    HWY_DYNAMIC_DISPATCH(sum_any)
    ({kernel, group.frame.softening}, bodies, nullptr, 0, bodies, group.bodies.mass(), 0, out);
}

} // namespace kith::detail::halos
#endif
