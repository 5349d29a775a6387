// The walk of one query down the planes of a tree (point_search.hpp).
//
// Depth first, and among siblings the nearest first: their boxes are measured a vector at a time, and each time the
// nearest that is left is taken, until it cannot hold an answer any more. The first leaf is mostly the one that the
// query is in, so that the bound is good from then on. Candidates are kept sorted: all but those of the first leaf are
// few, and a new one moves those behind it.

#include "geometry/distances-inl.hpp"
#include "neighbors/rows-inl.hpp"

#include "neighbors/point_search.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#if defined(KITH_POINT_SEARCH_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_POINT_SEARCH_INL_HPP
#undef KITH_POINT_SEARCH_INL_HPP
#else
#define KITH_POINT_SEARCH_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

template <class T, int D, bool Periodic>
class PointSearch {
public:
    PointSearch(const PlaneTree<T>& sources, std::int64_t k, const Candidate<T>& limit)
        : planes_(sources.planes.data()), top_(static_cast<int>(sources.planes.size()) - 1),
          coordinates_(sources.points.axis(0)), stride_(sources.points.stride), indices_(sources.points.indices.data()),
          k_(k), limit_(limit) {
        std::copy_n(sources.points.frame.working_period.data(), D, query_.period);
    }

    /// Finds the neighbors of a query in working coordinates. Returns how many there are.
    HWY_INLINE std::int64_t search(const T* query) {
        std::copy_n(query, D, query_.lower);
        std::copy_n(query, D, query_.upper);
        found_ = 0;
        bound_ = limit_;
        visit_nodes(top_, 0, static_cast<std::int32_t>(planes_[top_].nodes));
        return found_;
    }

    [[nodiscard]] const T* distances() const { return distances_; }
    [[nodiscard]] const std::int32_t* indices() const { return found_indices_; }

private:
    using Tag = hn::ScalableTag<T>;
    static constexpr std::int32_t vector_padding = static_cast<std::int32_t>(hn::MaxLanes(Tag()));
    static constexpr std::int32_t max_siblings = 256; ///< that are compared with each other; as many as on top, usually

    /// Searches siblings, the nearest first.
    HWY_NOINLINE void visit_nodes(int level, std::int32_t first, std::int32_t last) {
        for (; last - first > max_siblings; first += max_siblings) {
            visit_siblings(level, first, max_siblings);
        }
        visit_siblings(level, first, last - first);
    }

    HWY_INLINE void visit_siblings(int level, std::int32_t first, std::int32_t count) {
        const Tag tag;
        const auto lanes = static_cast<std::int32_t>(hn::Lanes(tag));
        const Plane<T>& plane = planes_[level];
        const T* lower_corners = plane.lower_corners.data() + first;
        const T* upper_corners = plane.upper_corners.data() + first;
        const auto infinity = hn::Set(tag, std::numeric_limits<T>::infinity());
        HWY_ALIGN T least[max_siblings];
        auto smallest = infinity;
        for (std::int32_t i = 0; i < count; i += lanes) {
            const Columns<Tag> lower{tag, lower_corners + i, plane.stride};
            const Columns<Tag> upper{tag, upper_corners + i, plane.stride};
            const auto in_range = hn::FirstN(tag, static_cast<std::size_t>(count - i));
            const auto distance =
                hn::IfThenElse(in_range, least_distances<Periodic, D>(tag, query_, lower, upper), infinity);
            hn::Store(distance, tag, least + i);
            smallest = hn::Min(smallest, distance);
        }
        while (true) {
            const T nearest = hn::GetLane(hn::MinOfLanes(tag, smallest));
            if (!(nearest <= bound_.distance) || nearest == std::numeric_limits<T>::infinity()) {
                return;
            }
            const std::int32_t sibling = position_of(least, nearest);
            visit(level, first + sibling, nearest);
            least[sibling] = std::numeric_limits<T>::infinity();
            smallest = infinity;
            for (std::int32_t i = 0; i < count; i += lanes) {
                smallest = hn::Min(smallest, hn::Load(tag, least + i));
            }
        }
    }

    static HWY_INLINE std::int32_t position_of(const T* least, T wanted) {
        const Tag tag;
        const auto lanes = static_cast<std::int32_t>(hn::Lanes(tag));
        for (std::int32_t i = 0;; i += lanes) {
            const unsigned bits = mask_bits(tag, hn::Eq(hn::Load(tag, least + i), hn::Set(tag, wanted)));
            if (bits != 0) {
                return i + std::countr_zero(bits);
            }
        }
    }

    /// Searches a node, unless it lies at the bound and its indices are all too large.
    HWY_INLINE void visit(int level, std::int32_t node, T least) {
        const Plane<T>& plane = planes_[level];
        if (HWY_UNLIKELY(least == bound_.distance) && bound_ < Candidate<T>{least, plane.smallest_index[node]}) {
            return;
        }
        if (level > 0) {
            visit_nodes(level - 1, plane.first_child[node], plane.first_child[node + 1]);
        } else {
            search_points(plane.first_point[node], plane.first_point[node + 1]);
        }
    }

    HWY_INLINE void search_points(std::int32_t first, std::int32_t last) {
        const Tag tag;
        const auto lanes = static_cast<std::int32_t>(hn::Lanes(tag));
        HWY_ALIGN T measured[vector_padding];
        for (std::int32_t point = first; point < last; point += lanes) {
            const Columns<Tag> sources{tag, coordinates_ + point, stride_};
            const auto distance =
                point_distances<Periodic, D>(tag, query_.lower, query_.period, sources, hn::Zero(tag));
            const auto near = hn::And(hn::Le(distance, hn::Set(tag, bound_.distance)),
                                      hn::FirstN(tag, static_cast<std::size_t>(last - point)));
            unsigned bits = mask_bits(tag, near);
            if (bits == 0) {
                continue;
            }
            hn::Store(distance, tag, measured);
            for (; bits != 0; bits &= bits - 1) {
                const int lane = std::countr_zero(bits);
                offer({measured[lane], indices_[point + lane]});
            }
        }
    }

    /// Keeps a candidate if it comes before the bound.
    HWY_INLINE void offer(const Candidate<T>& candidate) {
        if (!(candidate < bound_) && found_ == k_) {
            return;
        }
        std::int64_t place = found_ < k_ ? found_++ : k_ - 1;
        for (; place > 0 && candidate < Candidate<T>{distances_[place - 1], found_indices_[place - 1]}; --place) {
            distances_[place] = distances_[place - 1];
            found_indices_[place] = found_indices_[place - 1];
        }
        distances_[place] = candidate.distance;
        found_indices_[place] = candidate.index;
        if (found_ == k_) {
            bound_ = {distances_[k_ - 1], found_indices_[k_ - 1]};
        }
    }

    const Plane<T>* planes_;
    int top_;
    const T* coordinates_;
    std::int64_t stride_;
    const std::int32_t* indices_;
    std::int64_t k_;
    Candidate<T> limit_;
    Candidate<T> bound_;
    Receiver<T, D> query_;
    std::int64_t found_ = 0;
    HWY_ALIGN T distances_[max_point_neighbors + vector_padding]; ///< squared; rows are read by whole vectors
    std::int32_t found_indices_[max_point_neighbors + vector_padding];
};

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
