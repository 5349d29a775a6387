// A neighbor search on a GPU of few points, of which the host waits only for the bounds of the points and for the rows.
//
// The tree whose cells decide its counts (tree/build_device.hpp) makes the host wait for equal keys, for cuts and for
// planes; of few points, each of these takes longer than the kernels between them. Here the number of points decides
// the counts (tree/fixed_planes.hpp), and equal keys stay as they are. Where many points that are not in one place have
// equal keys, because some are very far from all others, that order would leave most of them in large leaves: the
// search then does nothing, says so, and the other one is to be run. Rows are the same.
#pragma once

#include "neighbors/device_rows.hpp"
#include "neighbors/search_async.hpp"
#include "points/normalize_device.hpp"

#include <algorithm>
#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// Of more points, the waits matter less than the better tree, as they do for long lists. On an H200, 1e5 uniform
/// points with k = 16 took 0.39 instead of 0.54 ms; 1e6 clustered ones 4.6 instead of 3.9, and 1e6 with k = 100 32
/// instead of
/// 27. Where queries are few, building is all there is: 100 queries of 1e6 points took 0.45 instead of 0.85 ms.
constexpr bool are_few_on_gpu(std::int64_t points, std::int64_t queries) {
    constexpr std::int64_t few = std::int64_t{1} << 17;
    return std::max(points, queries) <= few || (points <= 8 * few && queries <= few / 64);
}

/// Counts points whose key is that of the point before, without being where that is.
template <class T, int D>
struct CountTied {
    DeviceView<T> points;
    const std::uint64_t* keys; ///< sorted
    const std::int32_t* indices;
    std::int32_t* tied;

    __device__ void operator()(std::int64_t i) const {
        if (i > 0 && keys[i] == keys[i - 1] && are_apart(indices[i - 1], indices[i])) {
            atomicAdd(tied, 1);
        }
    }

    [[nodiscard]] __device__ bool are_apart(std::int64_t one, std::int64_t other) const {
        bool apart = false;
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            apart |= points.coordinate(one, axis) != points.coordinate(other, axis);
        }
        return apart;
    }
};

/// Ends a search before it begins.
template <class T>
struct RefuseTied {
    const std::int32_t* tied;
    std::int32_t limit;
    SearchFrame<T>* frame;

    __device__ void operator()() const { frame->is_refused = *tied > limit; }
};

template <Coordinate T, int D>
class SearchOfFew {
public:
    explicit SearchOfFew(DeviceContext& context) : context_(context), tied_(context.buffer<std::int32_t>(1)) {
        context.fill(tied_.data(), 0, sizeof(std::int32_t));
    }

    /// Null queries mean a self-search. False if nothing was searched for; runs the stages "tree" and "search".
    [[nodiscard]] bool run(const NormalizedPoints<T>& points, const NormalizedPoints<T>* queries,
                           const DeviceKnnCall& call, const DeviceRowMemory<T>& rows) {
        const std::int64_t count = points.view.count();
        DevicePlaneTree<T> sources;
        DevicePlaneTree<T> others;
        context_.stage("tree", [&] {
            sources = tree(points, usual_shape);
            if (queries != nullptr) {
                others = tree(*queries, shape_of_queries(queries->view.count(), count, call.k));
            }
        });
        const DeviceBuffer<SearchFrame<T>> frame =
            stored(context_, "search", search_frame<T, D>(points.frame, wanted_by(call), count));
        const DevicePlaneTree<T>& asked = queries != nullptr ? others : sources;
        context_.stage("search", [&] {
            complete(context_, "ties", RefuseTied<T>{tied_.data(), limit_, frame.data()});
            DeviceSearch<T, D>(context_, asked, sources)
                .run(device_request(call, frame.data(), rows), all_leaves(asked));
        });
        return !context_.to_host(&frame.data()->is_refused);
    }

private:
    [[nodiscard]] DevicePlaneTree<T> tree(const NormalizedPoints<T>& points, const FixedShape& shape) {
        const auto frame = stored(context_, "frame of points", DeviceFrame<T>(points.frame, points.wraps));
        const auto view = DeviceView<T>::of(points.view, frame.data());
        const KeysWithin<T, D> key_of(corners_of<T, D>(points.frame, points.lower, points.upper, points.wraps));
        limit_ += static_cast<std::int32_t>(view.count / 64);
        return build_fixed_tree<T, D>(
            context_, context_, view, DevicePointSet<T>(context_, points.frame, view.count), shape,
            [&] { return stored(context_, "keys", key_of); },
            [&](const std::uint64_t* sorted, const std::int32_t* indices) {
                for_each_index(context_, "ties", view.count, CountTied<T, D>{view, sorted, indices, tied_.data()});
            });
    }

    DeviceContext& context_;
    DeviceBuffer<std::int32_t> tied_;
    std::int32_t limit_ = 0;
};

} // namespace kith::detail::inline KITH_GPU
