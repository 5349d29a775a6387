// Left-balanced k-d trees for loops and kernels of your own: exact neighbors of single queries over your own structs.
//
// The tree is your array of structs in another order, and no pointers. Build it in place (kdtree_build.hpp), or find
// its order by kith::kdtree_order and copy your structs into it (kdtree_arrange.hpp); describe it by a TreeView
// (kdtree_view.hpp), and search it (kdtree_search.hpp) with a list of candidates (kdtree_candidates.hpp) from your own
// threads, or from a kernel for which you copied the arrays to a device. Header only; the same source compiles for host
// and device. Answers are those of kith::knn and kith::radius_search, bit for bit, if coordinates are within the range
// of the contract (docs/semantics.md, "Numbers") without scaling, and, in a periodic box, lie within it.
//
// Compile for processors with fused multiply-add (-march=x86-64-v3 or native); without it, each one calls a library
// function. -ffast-math and its parts change the answers. They are refused where macros show them: with GCC all of
// them, with clang only -ffast-math and -ffinite-math-only. Macros do not show clang's other parts (-fno-signed-zeros,
// -fassociative-math, -freciprocal-math, -funsafe-math-optimizations), nvcc's --use_fast_math, and pragmas and
// attributes that optimize single functions: do not use them with these headers.
#pragma once

#include <kith/device/kdtree_arrange.hpp>
#include <kith/device/kdtree_build.hpp>
#include <kith/device/kdtree_candidates.hpp>
#include <kith/device/kdtree_layout.hpp>
#include <kith/device/kdtree_search.hpp>
#include <kith/device/kdtree_split.hpp>
#include <kith/device/kdtree_view.hpp>
