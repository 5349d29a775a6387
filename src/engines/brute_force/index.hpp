// The brute-force engine as an index: the points themselves.
#pragma once

#include "engines/brute_force/knn.hpp"
#include "engines/brute_force/radius.hpp"
#include "engines/index.hpp"

#include <optional>

namespace kith::detail {

template <Coordinate T>
class BruteForceIndex final : public Index<T> {
public:
    BruteForceIndex(Context& context, const UnsortedPoints<T>& points) : given_(points.set) {
        if (given_ == nullptr) {
            gathered_ = gather(context, *points.normalized);
        }
    }

    [[nodiscard]] const PointSet<T>& points() const override { return given_ != nullptr ? *given_ : *gathered_; }
    [[nodiscard]] PlaneTree<T> arrange(Context& context, const NormalizedPoints<T>& queries) const override {
        return {gather(context, queries), {}, {}};
    }
    void search(Context& context, const PointSet<T>& receivers, const KnnRequest<T>& request,
                RowSink<T>& sink) const override {
        search_all_pairs(context, receivers, points(), request, sink);
    }
    void search(Context& context, const RadiusJob<T>& job) const override { compare_all(context, job); }

private:
    static PointSet<T> gather(Context& context, const NormalizedPoints<T>& points) {
        PointSet<T> gathered;
        context.stage("gather", [&] { gathered = gather_points(context, points); });
        return gathered;
    }

    const PointSet<T>* given_;
    std::optional<PointSet<T>> gathered_;
};

} // namespace kith::detail
