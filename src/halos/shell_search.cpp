// See shell_search.hpp.
#include "halos/shell_search.hpp"

#include <bit>
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "halos/shell_search.cpp"
#include <hwy/foreach_target.h> // must come before highway.h

#include "geometry/distances-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

using namespace kith::detail::halos;

using Tag = hn::ScalableTag<double>;
using Vector = hn::Vec<Tag>;
constexpr auto vector_lanes = static_cast<std::int32_t>(hn::MaxLanes(Tag()));

/// Coordinates of any type as vectors of float64, from one element on.
template <class T>
struct WideColumns {
    const T* first;
    std::int64_t stride;

    HWY_INLINE Vector operator()(int axis) const {
        const T* const from = first + axis * stride;
        if constexpr (sizeof(T) == sizeof(double)) {
            return hn::LoadU(Tag(), from);
        } else {
            return hn::PromoteTo(Tag(), hn::LoadU(hn::Rebind<T, Tag>(), from));
        }
    }
};

template <class T>
class ShellWalk {
public:
    ShellWalk(const Shell<T>& shell, ShellPoints& found)
        : tree_(*shell.tree), inner_(shell.inner), outer_(shell.outer), found_(found) {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            center_.lower[axis] = shell.center[axis];
            center_.upper[axis] = shell.center[axis];
            center_.period[axis] = static_cast<double>(tree_.period[axis]);
        }
    }

    /// Siblings, or the children of siblings that follow each other.
    HWY_NOINLINE void visit(int level, std::int32_t first, std::int32_t last) {
        const PlaneView<T>& plane = tree_.planes[level];
        for (std::int32_t i = first; i < last; i += vector_lanes) {
            const WideColumns<T> lower{plane.lower_corners + i, plane.stride};
            const WideColumns<T> upper{plane.upper_corners + i, plane.stride};
            const auto bounds =
                box_distances<true, 3>(Tag(), center_, lower, upper, Bounds<Vector>{hn::Zero(Tag()), hn::Zero(Tag())});
            unsigned near = mask_bits(Tag(), hn::And(hn::Le(bounds.least, hn::Set(Tag(), outer_)),
                                                     hn::Gt(bounds.greatest, hn::Set(Tag(), inner_))));
            if (last - i < vector_lanes) {
                near &= (1U << (last - i)) - 1;
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

private:
    /// Points that follow each other.
    HWY_INLINE void compare(std::int32_t first, std::int32_t last) {
        constexpr std::int64_t padding = 8; // append_positions() writes as many, or a whole vector
        found_.squares.reserve(found_.size + last - first + padding, found_.size);
        found_.places.reserve(found_.size + last - first + padding, found_.size);
        double point[3]; // copies, which the stores below cannot touch, stay in registers
        double period[3];
        std::copy_n(center_.lower, 3, point);
        std::copy_n(center_.period, 3, period);
        const Vector inner = hn::Set(Tag(), inner_);
        const Vector outer = hn::Set(Tag(), outer_);
        std::int64_t size = found_.size;
        for (std::int32_t i = first; i < last; i += vector_lanes) {
            const WideColumns<T> sources{tree_.points.coordinates + i, tree_.points.stride};
            const Vector square = point_distances<true, 3>(Tag(), point, period, sources, hn::Zero(Tag()));
            const auto within = hn::And(hn::And(hn::Gt(square, inner), hn::Le(square, outer)),
                                        hn::FirstN(Tag(), static_cast<std::size_t>(last - i)));
            append_positions(Tag(), within, i, found_.places.data() + size);
            size += compress_store(Tag(), square, within, found_.squares.data() + size);
        }
        found_.size = size;
    }

    const TreeView<T>& tree_;
    Receiver<double, 3> center_;
    double inner_;
    double outer_;
    ShellPoints& found_;
};

template <class T>
void find_any(const Shell<T>& shell, ShellPoints& found) {
    found.size = 0;
    const TreeView<T>& tree = *shell.tree;
    if (tree.top >= 0) {
        ShellWalk<T>(shell, found).visit(tree.top, 0, tree.planes[tree.top].nodes);
    }
}

void find_any_float(const Shell<float>& shell, ShellPoints& found) {
    find_any(shell, found);
}
void find_any_double(const Shell<double>& shell, ShellPoints& found) {
    find_any(shell, found);
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::detail {

HWY_EXPORT(find_any_float);
HWY_EXPORT(find_any_double);

} // namespace kith::detail

namespace kith::detail::halos {

void find_in_shell(const Shell<float>& shell, ShellPoints& found) {
    HWY_DYNAMIC_DISPATCH(find_any_float)(shell, found);
}

void find_in_shell(const Shell<double>& shell, ShellPoints& found) {
    HWY_DYNAMIC_DISPATCH(find_any_double)(shell, found);
}

} // namespace kith::detail::halos
#endif
