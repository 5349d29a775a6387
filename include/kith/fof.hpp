// Friends-of-friends groups.
//
// Two points are friends if they are within the linking length of each other, inclusive; the connected components of
// friendship are the groups. Source: jz-tree paper, section IV-A. Cost: close to O(N) at the usual linking lengths.
#pragma once

#include <kith/execution.hpp>
#include <kith/points.hpp>
#include <kith/progress.hpp>
#include <kith/tree.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace kith {

/// A linking length, either in the units of the points or relative to their mean separation.
class LinkingLength {
public:
    static LinkingLength absolute(double length) { return {length, false}; }
    /// b times (V / N)^(1/d): N points, V the product over axes of the period, or of the data's extent on an open axis.
    static LinkingLength relative(double b) { return {b, true}; }

    [[nodiscard]] double value() const noexcept { return value_; }
    [[nodiscard]] bool is_relative() const noexcept { return relative_; }

private:
    LinkingLength(double value, bool relative) : value_(value), relative_(relative) {}
    double value_;
    bool relative_;
};

/// The volume that a relative linking length was resolved with.
enum class VolumeKind : std::uint8_t {
    none,   ///< the length was absolute
    box,    ///< periods on every axis
    extent, ///< the data's extent on every axis
    mixed,  ///< periods on some axes, extent on the others
};

struct FofOptions {
    Engine engine = Engine::automatic;
};

struct FofResult {
    /// Group of every input row, in input order. Groups are numbered from 0 by decreasing size, ties by their smallest
    /// member index, single points included; so the groups of at least m members are the labels below some number.
    std::vector<std::int32_t> labels;
    /// Members of each group: non-increasing. Its length is the number of groups, singles included.
    std::vector<std::int32_t> sizes;
    /// The linking length that was used, in the units of the points, after rounding to the points' type.
    double linking_length = 0;
    double volume = 0; ///< the V of a relative linking length, else 0
    VolumeKind volume_kind = VolumeKind::none;
    Engine engine = Engine::tree; ///< who did it
    StageReports stages;

    /// Groups with at least that many members: these are labels 0 to the number minus one.
    [[nodiscard]] std::int64_t groups_of_at_least(std::int64_t min_members) const;
};

/// What is known of groups besides their labels.
struct FofSummary {
    std::int64_t groups = 0;         ///< single points included
    std::vector<std::int32_t> sizes; ///< members of the groups of two and more, by label: non-increasing
    double linking_length = 0;       ///< these as in FofResult
    double volume = 0;
    VolumeKind volume_kind = VolumeKind::none;
    Engine engine = Engine::tree;
    StageReports stages;
};

/// FofSummary as plain data, for calls that do not wait (async.hpp).
struct DeviceFofSummary {
    std::int64_t groups = 0;   ///< single points included: labels are below
    double linking_length = 0; ///< these as in FofResult
    double volume = 0;
    VolumeKind volume_kind = VolumeKind::none;
};

/// Throws Error: invalid_argument (negative or NaN length; relative length with a volume of zero), out_of_memory, device,
/// canceled. Points and trees may be a GPU's, if the call runs there.
[[nodiscard]] FofResult fof(const Tree& tree, LinkingLength linking_length, const FofOptions& options = {},
                            const Execution& execution = {});
[[nodiscard]] FofResult fof(const PointsView& points, LinkingLength linking_length, const Box& box = {},
                            const FofOptions& options = {}, const Execution& execution = {});

/// The same with the labels in memory that the caller owns, one for each point: the host's, or that of the GPU on which
/// the call runs. They hold anything if a call throws.
FofSummary fof_into(std::span<std::int32_t> labels, const Tree& tree, LinkingLength linking_length,
                    const FofOptions& options = {}, const Execution& execution = {});
FofSummary fof_into(std::span<std::int32_t> labels, const PointsView& points, LinkingLength linking_length,
                    const Box& box = {}, const FofOptions& options = {}, const Execution& execution = {});

} // namespace kith
