// One scalar type's linking for every instruction set; the including file names the type and itself.
#include "groups/link.hpp"

#include "support/dimension.hpp"

#include <hwy/foreach_target.h> // must come before highway.h

#include "groups/link-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

enum class Pairs : std::uint8_t { inside, with_later };

template <int D, bool Periodic>
void link_node(const LinkJob<KITH_SCALAR>& job, std::int64_t node, Pairs pairs) {
    TreeLinker<KITH_SCALAR, D, Periodic> linker(job);
    if (pairs == Pairs::inside) {
        linker.link_inside_top(node);
    } else {
        linker.link_top_with_later(node);
    }
}

template <int D>
void link_node_of(const LinkJob<KITH_SCALAR>& job, std::int64_t node, Pairs pairs) {
    if (job.points->frame.periodic) {
        link_node<D, true>(job, node, pairs);
    } else {
        link_node<D, false>(job, node, pairs);
    }
}

void link_inside_any(const LinkJob<KITH_SCALAR>& job, std::int64_t node) {
    with_dimension(job.points->dimension(),
                   [&]<int D>(std::integral_constant<int, D>) { link_node_of<D>(job, node, Pairs::inside); });
}

void link_with_later_any(const LinkJob<KITH_SCALAR>& job, std::int64_t node) {
    with_dimension(job.points->dimension(),
                   [&]<int D>(std::integral_constant<int, D>) { link_node_of<D>(job, node, Pairs::with_later); });
}

template <int D, bool Periodic>
void link_two_tiles(const LinkJob<KITH_SCALAR>& job, std::int64_t begin, std::int64_t end, std::int64_t other_begin,
                    std::int64_t other_end) {
    const PointLinker<KITH_SCALAR, D, Periodic> linker(job);
    if (begin == other_begin) {
        linker.link_within(begin, end);
        return;
    }
    for (std::int64_t i = begin; i < end; ++i) {
        linker.link_point(static_cast<std::int32_t>(i), other_begin, other_end, false);
    }
}

template <int D>
void link_tiles_of(const LinkJob<KITH_SCALAR>& job, std::int64_t begin, std::int64_t end, std::int64_t other_begin,
                   std::int64_t other_end) {
    if (job.points->frame.periodic) {
        link_two_tiles<D, true>(job, begin, end, other_begin, other_end);
    } else {
        link_two_tiles<D, false>(job, begin, end, other_begin, other_end);
    }
}

void link_tiles_any(const LinkJob<KITH_SCALAR>& job, std::int64_t begin, std::int64_t end, std::int64_t other_begin,
                    std::int64_t other_end) {
    with_dimension(job.points->dimension(), [&]<int D>(std::integral_constant<int, D>) {
        link_tiles_of<D>(job, begin, end, other_begin, other_end);
    });
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::detail {

HWY_EXPORT(link_inside_any);
HWY_EXPORT(link_with_later_any);
HWY_EXPORT(link_tiles_any);

void link_inside_top_node(const LinkJob<KITH_SCALAR>& job, std::int64_t node) {
    HWY_DYNAMIC_DISPATCH(link_inside_any)(job, node);
}

void link_top_node_with_later(const LinkJob<KITH_SCALAR>& job, std::int64_t node) {
    HWY_DYNAMIC_DISPATCH(link_with_later_any)(job, node);
}

void link_tiles(const LinkJob<KITH_SCALAR>& job, std::int64_t begin, std::int64_t end, std::int64_t other_begin,
                std::int64_t other_end) {
    HWY_DYNAMIC_DISPATCH(link_tiles_any)(job, begin, end, other_begin, other_end);
}

} // namespace kith::detail
#endif
