// Linking lengths at which a spanning tree is cut.
#pragma once

#include <kith/error.hpp>
#include <kith/hierarchy.hpp>

#include "groups/checks.hpp"
#include "groups/resolve_length.hpp"
#include "mst/edges.hpp"
#include "points/as_given.hpp"
#include "support/at_least.hpp"
#include "support/denormals.hpp"
#include "support/dimension.hpp"
#include "support/message.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::detail {

/// The linking length in the units of the points, into a result.
template <class Result>
void resolve(const LinkingLength& length, const Separation& separation, DType dtype, Result& result) {
    const DenormalGuard guard;
    ResolvedLength resolved;
    with_dtype(dtype, [&]<Coordinate T>(T) {
        check(length.is_relative() ? resolve_relative<T>(length.value(), separation, resolved)
                                   : round_length<T>(length.value(), resolved));
    });
    const double unrounded = length.is_relative() ? length.value() * separation.mean : length.value();
    if (unrounded > 0 && resolved.length < separation.shortest) {
        check(unresolved_beside({-1, -1, separation.largest}, unrounded));
    }
    result.linking_length = resolved.length;
    result.volume = resolved.volume;
    result.volume_kind = resolved.volume_kind;
}

/// What a cut states of itself and of its tree.
inline void describe_cut(const LinkingLength& length, const SpanningTree& tree, FofSummary& result) {
    resolve(length, SpanningTreeAccess::separation(tree), tree.dtype(), result);
    result.velocity_length = SpanningTreeAccess::velocity_length(tree, result.linking_length);
    result.velocity_scale = tree.velocity_scale();
    result.engine = tree.engine();
    result.box = tree.box();
    result.wrapped_points = tree.facts().wrapped_points;
}

/// How many edges, of this rank over ranks, join groups at a linking length that has been resolved.
inline std::int64_t edges_within(const SpanningTree& tree, double linking_length) {
    return with_dtype(tree.dtype(), [&]<Coordinate T>(T) {
        const std::span<const T> heights = tree.heights<T>();
        return std::upper_bound(heights.begin(), heights.end(), static_cast<T>(linking_length)) - heights.begin();
    });
}

/// The levels, without their groups. Throws invalid_argument if they descend.
template <class Level>
std::vector<Level> levels_at(std::span<const LinkingLength> lengths, const Separation& separation, DType dtype) {
    std::vector<Level> levels(lengths.size());
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        resolve(lengths[i], separation, dtype, levels[i]);
        if (i > 0 && levels[i].linking_length < levels[i - 1].linking_length) {
            throw error(ErrorKind::invalid_argument, of_value(levels[i].linking_length),
                        "the linking lengths descend: ", levels[i].linking_length, " follows ",
                        levels[i - 1].linking_length, "; give them in ascending order");
        }
    }
    return levels;
}

/// All that can be checked without looking at the points.
inline void check_ladder(std::span<const LinkingLength> lengths, const FofLadderOptions& options) {
    if (options.execution.device.kind != DeviceKind::cpu) {
        throw Error(ErrorKind::unsupported, "groups at several linking lengths are found on the CPU only; run on the "
                                            "CPU, with kith::cpu()");
    }
    if (lengths.empty()) {
        throw Error(ErrorKind::invalid_argument, "there are no linking lengths; give one or more, ascending");
    }
    for (const LinkingLength& length : lengths) {
        check_length(length);
    }
    require_at_least(1, "min_members", options.min_members);
}

/// The same of a spanning tree.
inline void check_ladder_of_tree(std::span<const LinkingLength> lengths, const FofLadderOptions& options) {
    check_ladder(lengths, options);
    if (options.box != Box{}) {
        throw Error(ErrorKind::invalid_argument,
                    "the options have a box, but a spanning tree has its own; leave the box out of the options");
    }
}

} // namespace kith::detail
