// Trees that outlive a custom call: kith.jax.Tree.
//
// XLA may repeat, reorder or drop calls, and does not tell when an array is no longer used, so that no array can stand
// for a tree in memory. The points do: a call compares them with those of the trees that are kept, bit for bit, and takes
// the one of these points and this box, or builds it. The comparison reads each point once.
#pragma once

#include <kith/box.hpp>
#include <kith/points.hpp>
#include <kith/tree.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace kith::python {

class KeptTrees {
public:
    /// Bytes of all trees, by estimate. The tree that was used last stays, whatever its size.
    static constexpr std::size_t limit = std::size_t{1} << 30;

    /// Of the process. Never destroyed: threads may be gone by then.
    static KeptTrees& of_process() {
        static auto* const trees = new KeptTrees;
        return *trees;
    }

    /// The tree of contiguous points in host memory.
    Tree tree(const PointsView& points, const Box& box) {
        if (const auto kept = find(points, box)) {
            return kept->tree;
        }
        const auto* const bytes = static_cast<const std::byte*>(points.axis(0));
        const auto kept = std::make_shared<const Kept>(
            Kept{.bytes = {bytes, bytes + size_of(points)}, .box = box, .tree = Tree(points, {.box = box})});
        const std::lock_guard lock(mutex_);
        ++built_;
        use(kept);
        return kept->tree;
    }

    void release() {
        const std::lock_guard lock(mutex_);
        kept_.clear();
    }

    /// Trees built since the process began.
    std::int64_t built() {
        const std::lock_guard lock(mutex_);
        return built_;
    }

private:
    struct Kept {
        std::vector<std::byte> bytes; ///< of the points
        Box box;
        Tree tree;
    };

    static std::size_t size_of(const PointsView& points) {
        return static_cast<std::size_t>(points.count() * points.dimension()) *
               (points.dtype() == DType::float64 ? sizeof(double) : sizeof(float));
    }

    std::shared_ptr<const Kept> find(const PointsView& points, const Box& box) {
        const auto candidates = [&] { // compared without the lock
            const std::lock_guard lock(mutex_);
            return kept_;
        }();
        const std::size_t size = size_of(points);
        for (const auto& kept : candidates) {
            const Tree& tree = kept->tree;
            if (tree.size() == points.count() && tree.dimension() == points.dimension() &&
                tree.dtype() == points.dtype() && kept->box == box &&
                (size == 0 || std::memcmp(kept->bytes.data(), points.axis(0), size) == 0)) {
                const std::lock_guard lock(mutex_);
                use(kept);
                return kept;
            }
        }
        return nullptr;
    }

    /// Puts a tree in front and drops those for which there is no room. Holds the lock.
    void use(const std::shared_ptr<const Kept>& kept) {
        std::erase(kept_, kept);
        kept_.insert(kept_.begin(), kept);
        std::size_t bytes = 0;
        const auto too_many =
            std::find_if(kept_.begin() + 1, kept_.end(), [&, first = kept->bytes.size()](const auto& one) {
                bytes += one->bytes.size();
                return 3 * (first + bytes) > limit; // a tree takes about two times its points beside their copy
            });
        kept_.erase(too_many, kept_.end());
    }

    std::mutex mutex_;
    std::vector<std::shared_ptr<const Kept>> kept_; ///< used last first
    std::int64_t built_ = 0;
};

/// Points of a call, or the tree that is kept of them, with the box for the call's options.
class KeptOrPoints {
public:
    KeptOrPoints(const PointsView& points, const Box& box, bool is_kept) : points_(points), box_(box) {
        if (is_kept) {
            tree_ = KeptTrees::of_process().tree(points, box);
            box_ = {};
        }
    }
    [[nodiscard]] PointsOrTree get() const { return tree_ ? PointsOrTree(*tree_) : PointsOrTree(points_); }
    [[nodiscard]] const Box& box() const { return box_; }

private:
    PointsView points_;
    Box box_;
    std::optional<Tree> tree_;
};

} // namespace kith::python
