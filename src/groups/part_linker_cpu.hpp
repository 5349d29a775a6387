// Links the points of a part on the CPU: the component of each row from a union-find. Cost: 8 bytes a point of scratch.
#pragma once

#include "groups/fof.hpp"
#include "groups/part_linker.hpp"
#include "support/context.hpp"
#include "support/parallel.hpp"
#include "tree/plane_tree.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace kith::detail {

template <Coordinate T>
class HostPartLinker final : public PartLinker<T> {
public:
    /// Both outlive it. The tree has no planes if there are no points.
    HostPartLinker(Context& context, const PlaneTree<T>& tree) : context_(context), tree_(tree) {}

    [[nodiscard]] TreeView<T> tree() const override { return tree_.view(); }

    void link(T squared_length, std::span<std::int32_t> component) override {
        if (component.empty()) {
            return;
        }
        context_.stage("link", [&] {
            if (tree_.points.count < std::ssize(component)) {
                for_each(std::ssize(component), [&](std::int32_t row) { component[row] = -1; });
            }
            find_components(tree_, squared_length, component);
        });
    }

    [[nodiscard]] std::vector<std::int32_t> link_apart(const NormalizedPoints<T>& points, T squared_length) override {
        const PlaneTree<T> tree = build_plane_tree<T>(context_, points, {});
        std::vector<std::int32_t> component(tree.points.count);
        context_.stage("link pieces", [&] { find_components(tree, squared_length, component); });
        return component;
    }

private:
    template <class Body>
    static void for_each(std::int64_t count, const Body& body) {
        parallel_for(0, count, 1 << 14, [&](std::int64_t begin, std::int64_t end) {
            for (auto i = static_cast<std::int32_t>(begin); i < end; ++i) {
                body(i);
            }
        });
    }

    void find_components(const PlaneTree<T>& tree, T squared_length, std::span<std::int32_t> component) {
        const std::int64_t count = tree.points.count;
        Buffer<std::int32_t> parents(context_.memory_tracker(), count);
        const UnionFind groups = link_tree(context_, tree, squared_length, parents);
        Buffer<std::int32_t> smallest(context_.memory_tracker(), count); // row, by root
        const std::int32_t* const rows = tree.points.indices.data();
        for_each(count, [&](std::int32_t i) { smallest[i] = std::numeric_limits<std::int32_t>::max(); });
        for_each(count, [&](std::int32_t i) {
            const std::atomic_ref least(smallest[groups.find(i)]);
            std::int32_t seen = least.load(std::memory_order_relaxed);
            while (rows[i] < seen && !least.compare_exchange_weak(seen, rows[i], std::memory_order_relaxed)) {
            }
        });
        for_each(count, [&](std::int32_t i) { component[rows[i]] = smallest[groups.find(i)]; });
    }

    Context& context_;
    const PlaneTree<T>& tree_;
};

} // namespace kith::detail
