// The walk of one query down the planes of a tree, into all nodes within a radius (point_radius.hpp).
//
// The order of the nodes does not matter, since the radius is known. So the boxes of siblings are measured a vector at
// a time, and near siblings that follow each other are gone into together: their children, and in the end their points,
// follow each other, too. Counts take nodes that lie within the radius whole.

#include "geometry/distances-inl.hpp"

#include "neighbors/point_radius.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#if defined(KITH_POINT_RADIUS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_POINT_RADIUS_INL_HPP
#undef KITH_POINT_RADIUS_INL_HPP
#else
#define KITH_POINT_RADIUS_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

template <class T, int D, bool Periodic>
class PointRadius {
public:
    /// `found`: null if neighbors are only counted.
    PointRadius(const PlaneTree<T>& sources, NearPoints<T>* found, std::int64_t most_found)
        : planes_(sources.planes.data()), top_(static_cast<int>(sources.planes.size()) - 1),
          coordinates_(sources.points.axis(0)), stride_(sources.points.stride), indices_(sources.points.indices.data()),
          found_(found), most_found_(most_found) {
        std::copy_n(sources.points.frame.working_period.data(), D, query_.period);
    }

    /// How many points lie within a squared radius of a query in working coordinates. Gives up soon after more than the
    /// most have been found.
    HWY_INLINE std::int64_t search(const T* query, T squared_radius) {
        std::copy_n(query, D, query_.lower);
        std::copy_n(query, D, query_.upper);
        limit_ = squared_radius;
        count_ = 0;
        visit(top_, 0, static_cast<std::int32_t>(planes_[top_].nodes));
        return count_;
    }

private:
    using Tag = hn::ScalableTag<T>;
    using LaneIndex = typename NearPoints<T>::LaneIndex;

    /// Siblings, or the children of siblings that follow each other.
    HWY_NOINLINE void visit(int level, std::int32_t first, std::int32_t last) {
        const Tag tag;
        const auto lanes = static_cast<std::int32_t>(hn::Lanes(tag));
        const Bounds<hn::Vec<Tag>> zero{hn::Zero(tag), hn::Zero(tag)};
        const Plane<T>& plane = planes_[level];
        for (std::int32_t i = first; i < last; i += lanes) {
            const Columns<Tag> lower{tag, plane.lower_corners.data() + i, plane.stride};
            const Columns<Tag> upper{tag, plane.upper_corners.data() + i, plane.stride};
            const auto bounds = box_distances<Periodic, D>(tag, query_, lower, upper, zero);
            const auto limit = hn::Set(tag, limit_);
            unsigned near = mask_bits(tag, hn::Le(bounds.least, limit));
            if (last - i < lanes) {
                near &= (1U << (last - i)) - 1;
            }
            if (near == 0) {
                continue;
            }
            if (found_ == nullptr) {
                const unsigned whole = near & mask_bits(tag, hn::Le(bounds.greatest, limit));
                near &= ~whole;
                for (unsigned bits = whole; bits != 0; bits &= bits - 1) {
                    const std::int32_t node = i + std::countr_zero(bits);
                    count_ += plane.first_point[node + 1] - plane.first_point[node];
                }
            }
            while (near != 0) { // one run after another
                const std::int32_t start = std::countr_zero(near);
                const std::int32_t stop = start + std::countr_one(near >> start);
                near &= ~0U << stop;
                if (level > 0) {
                    visit(level - 1, plane.first_child[i + start], plane.first_child[i + stop]);
                } else {
                    compare(plane.first_point[i + start], plane.first_point[i + stop]);
                }
            }
        }
    }

    /// Points that follow each other.
    HWY_INLINE void compare(std::int32_t first, std::int32_t last) {
        const Tag tag;
        const hn::Rebind<LaneIndex, Tag> index_tag;
        const auto lanes = static_cast<std::int32_t>(hn::Lanes(tag));
        constexpr auto vector_padding = static_cast<std::int64_t>(hn::MaxLanes(Tag()));
        T point[D]; // copies, which the stores below cannot touch, stay in registers
        T period[D];
        std::copy_n(query_.lower, D, point);
        std::copy_n(query_.period, D, period);
        const auto limit = hn::Set(tag, limit_);
        T* distances = nullptr;
        LaneIndex* indices = nullptr;
        if (found_ != nullptr) {
            const std::int64_t size = found_->size();
            found_->reserve(size + last - first + vector_padding);
            distances = found_->distances() + size;
            indices = found_->indices() + size;
        }
        std::int64_t count = 0;
        for (std::int32_t i = first; i < last; i += lanes) {
            const Columns<Tag> sources{tag, coordinates_ + i, stride_};
            const auto distance = point_distances<Periodic, D>(tag, point, period, sources, hn::Zero(tag));
            const auto near = hn::And(hn::Le(distance, limit), hn::FirstN(tag, last - i));
            if (distances == nullptr) {
                count += static_cast<std::int64_t>(hn::CountTrue(tag, near));
                continue;
            }
            compress_store(index_tag, load_indices(index_tag, indices_ + i), hn::RebindMask(index_tag, near),
                           indices + count);
            count += compress_store(tag, distance, near, distances + count);
        }
        count_ += count;
        if (found_ != nullptr) {
            found_->resize(found_->size() + count);
            if (found_->size() > most_found_) {
                limit_ = -1; // no box is near any more
            }
        }
    }

    const Plane<T>* planes_;
    int top_;
    const T* coordinates_;
    std::int64_t stride_;
    const std::int32_t* indices_;
    NearPoints<T>* found_;
    std::int64_t most_found_;
    Receiver<T, D> query_;
    T limit_ = 0; ///< squared
    std::int64_t count_ = 0;
};

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
