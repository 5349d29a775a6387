// Which source points can lie within some radius of a receiving leaf, as ranges of consecutive points.
//
// The leaves of one parent share a list of source nodes, which is as long as the guaranteed bound is wide. Of these,
// the ones within reach are collected once, with their boxes side by side; each leaf then tests only those, and the
// source leaves in them. Leaves that follow each other become one range, so that points are read in runs.

#include "walk/walk_kernels-inl.hpp"

#include "walk/receiver_walk.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#if defined(KITH_NEAR_RANGES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_NEAR_RANGES_INL_HPP
#undef KITH_NEAR_RANGES_INL_HPP
#else
#define KITH_NEAR_RANGES_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

template <class T>
class NearRanges {
public:
    using List = InteractionList<T>;

    NearRanges(const TreeView<T>& sources, int dimension, const WalkKernels<T>& kernels, WalkScratch<T>& scratch)
        : sources_(sources), dimension_(dimension), kernels_(kernels), scratch_(scratch) {}

    /// From now on, points are looked for in these nodes of a plane: the leaves or the plane above.
    void start(const List& nodes, int level) {
        list_ = &nodes;
        plane_ = &sources_.planes[level];
        near_radius_ = -1;
    }

    [[nodiscard]] const IndexRange* data() const { return scratch_.ranges.data(); }
    [[nodiscard]] std::int64_t size() const { return count_; }
    void clear() { count_ = 0; }

    /// From now on, of leaves whose points all coincide only the first points are listed, at most so many; they must
    /// have the smallest indices.
    void limit_of_single_point(std::int32_t most) { max_of_single_point_ = most; }

    /// Lists the points of the leaves within a squared radius of a box, which lies in the box of the nodes' list.
    /// Returns how many they are; stops soon after that is more than `most`.
    std::int64_t list(const AnyReceiver<T>& box, T radius, std::int64_t most) {
        if (radius > near_radius_) {
            constexpr T for_next = T(1.2); // leaves that follow may need more
            collect_near(radius * for_next);
        }
        return kernels_.list_near(*this, box, radius, most);
    }

    /// Adds the points of some leaves; they continue the last range if they follow it. Returns how many they are.
    HWY_INLINE std::int32_t add(std::int32_t first_leaf, std::int32_t last_leaf) {
        const PlaneView<T>& leaves = sources_.planes[0];
        const IndexRange range{leaves.first_point[first_leaf], leaves.first_point[last_leaf]};
        if (range.last - range.first > max_of_single_point_) {
            return add_one_by_one(first_leaf, last_leaf);
        }
        add(range);
        return range.last - range.first;
    }

    /// The part of list() that is compiled for each space.
    template <bool Periodic, int D>
    static std::int64_t list_in_space(NearRanges& ranges, const AnyReceiver<T>& given, T radius, std::int64_t most) {
        const Tag tag;
        const Receiver<T, D> box = in_space<D>(given);
        const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(tag));
        const auto farthest = hn::Set(tag, radius);
        const PlaneView<T>& leaves = ranges.sources_.planes[0];
        const std::int32_t* first_child = ranges.plane_->first_child; // null for leaves
        std::int64_t points = 0;
        ranges.clear();
        for (std::int64_t i = 0; i < ranges.near_size_ && points <= most; i += lanes) {
            const Columns<Tag> lower{tag, ranges.scratch_.lower_corners.data() + i, ranges.box_stride_};
            const Columns<Tag> upper{tag, ranges.scratch_.upper_corners.data() + i, ranges.box_stride_};
            const auto near = hn::And(hn::Le(least_distances<Periodic, D>(tag, box, lower, upper), farthest),
                                      hn::FirstN(tag, ranges.near_size_ - i));
            for (unsigned bits = mask_bits(tag, near); bits != 0; bits &= bits - 1) {
                const std::int32_t parent = ranges.scratch_.near_nodes[i + std::countr_zero(bits)];
                if (first_child == nullptr) {
                    points += ranges.add(parent, parent + 1);
                    continue;
                }
                const std::int32_t last = first_child[parent + 1];
                for (std::int32_t child = first_child[parent]; child < last; child += static_cast<int>(lanes)) {
                    const Columns<Tag> child_lower{tag, leaves.lower(0) + child, leaves.stride};
                    const Columns<Tag> child_upper{tag, leaves.upper(0) + child, leaves.stride};
                    const auto child_near =
                        hn::And(hn::Le(least_distances<Periodic, D>(tag, box, child_lower, child_upper), farthest),
                                hn::FirstN(tag, last - child));
                    for (unsigned set = mask_bits(tag, child_near); set != 0;) { // one run of neighbors after another
                        const int start = std::countr_zero(set);
                        const int stop = start + std::countr_one(set >> start);
                        points += ranges.add(child + start, child + stop);
                        set &= ~0U << stop;
                    }
                }
            }
        }
        return points;
    }

    /// Leaves the points [first, last) out of the range that holds them.
    void cut_out(std::int32_t first, std::int32_t last) {
        scratch_.ranges.reserve(count_ + 1, count_);
        IndexRange* const ranges = scratch_.ranges.data();
        IndexRange* const range = std::find_if(ranges, ranges + count_,
                                               [=](const IndexRange& r) { return r.first <= first && first < r.last; });
        ranges[count_++] = {last, range->last};
        range->last = first;
    }

private:
    using Tag = hn::ScalableTag<T>;

    HWY_INLINE void add(const IndexRange& range) {
        scratch_.ranges.reserve(count_ + 1, count_);
        if (count_ > 0 && scratch_.ranges[count_ - 1].last == range.first) {
            scratch_.ranges[count_ - 1].last = range.last;
        } else {
            scratch_.ranges[count_++] = range;
        }
    }

    HWY_NOINLINE std::int32_t add_one_by_one(std::int32_t first_leaf, std::int32_t last_leaf) {
        const PlaneView<T>& leaves = sources_.planes[0];
        std::int32_t points = 0;
        for (std::int32_t leaf = first_leaf; leaf < last_leaf; ++leaf) {
            IndexRange range{leaves.first_point[leaf], leaves.first_point[leaf + 1]};
            if (leaves.is_single_point(leaf, dimension_)) {
                range.last = std::min(range.last, range.first + max_of_single_point_);
            }
            add(range);
            points += range.last - range.first;
        }
        return points;
    }
    static constexpr std::int64_t vector_padding = static_cast<std::int64_t>(hn::MaxLanes(Tag()));

    /// Collects the listed nodes within a radius of the box they are listed for, with their boxes side by side.
    HWY_NOINLINE void collect_near(T radius) {
        const List& list = *list_;
        const PlaneView<T>& plane = *plane_;
        const Tag tag;
        const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag));
        scratch_.near_nodes.reserve(list.size + 2 * vector_padding + 8);
        std::int32_t* near = scratch_.near_nodes.data();
        near_radius_ = radius;
        near_size_ = 0;
        for (std::int64_t i = 0; i < list.size; i += lanes) {
            const auto within = hn::And(hn::Le(hn::LoadU(tag, list.least.data() + i), hn::Set(tag, radius)),
                                        hn::FirstN(tag, list.size - i));
            near_size_ += append_positions(tag, within, static_cast<std::int32_t>(i), near + near_size_);
        }
        for (std::int64_t i = 0; i < near_size_; ++i) {
            near[i] = list.nodes[near[i]];
        }
        box_stride_ = (near_size_ + 2 * vector_padding) / vector_padding * vector_padding;
        scratch_.lower_corners.reserve(dimension_ * box_stride_);
        scratch_.upper_corners.reserve(dimension_ * box_stride_);
        for (int axis = 0; axis < dimension_; ++axis) {
            const T* from_lower = plane.lower(axis);
            const T* from_upper = plane.upper(axis);
            T* lower = scratch_.lower_corners.data() + axis * box_stride_;
            T* upper = scratch_.upper_corners.data() + axis * box_stride_;
            for (std::int64_t i = 0; i < near_size_; ++i) {
                lower[i] = from_lower[near[i]];
                upper[i] = from_upper[near[i]];
            }
        }
    }

    const TreeView<T>& sources_;
    const int dimension_;
    const WalkKernels<T>& kernels_;
    WalkScratch<T>& scratch_;
    const List* list_ = nullptr;
    const PlaneView<T>* plane_ = nullptr;
    std::int64_t count_ = 0;
    T near_radius_ = -1; ///< squared, of the nodes that are collected; -1: none are
    std::int64_t near_size_ = 0;
    std::int64_t box_stride_ = 0; ///< of their corners
    std::int32_t max_of_single_point_ = std::numeric_limits<std::int32_t>::max();
};

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
