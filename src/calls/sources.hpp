// The points of a call, from the caller's points or kept tree to what the algorithms of each engine work on.
#pragma once

#include <kith/fof.hpp>
#include <kith/tree.hpp>

#include "engines/kdtree/index.hpp"
#include "engines/kept_index.hpp"
#include "engines/tree_index.hpp"
#include "groups/linking_length.hpp"
#include "groups/velocity_length.hpp"
#include "halos/dispersion.hpp"
#include "points/as_given.hpp"
#include "points/coordinates.hpp"
#include "points/frame.hpp"
#include "points/phase_space.hpp"
#include "points/point_set.hpp"
#include "points/unsorted_points.hpp"
#include "support/context.hpp"
#include "support/donated_memory.hpp"
#include "tree/plane_tree.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace kith::detail {

/// The points in working coordinates: a kept index's, or the caller's, which are normalized at once, and sorted into a
/// tree or gathered when that is needed.
template <Coordinate T>
class WorkingPoints {
public:
    WorkingPoints(Context& context, const PointsOrTree& points, const Box& box)
        : given_(points), box_(box),
          kept_(points.tree() != nullptr ? &points.tree()->data().template as<T>() : nullptr) {
        if (kept_ == nullptr) {
            context.run([&] { normalized_ = normalize_sources<T>(points.points(), box); });
        }
    }

    /// Resolves both lengths; from now on these are points of phase space (docs/semantics.md, "Phase space"). No tree
    /// keeps their positions. Cost: a pass over the velocities, and one more if psi is given in dispersions.
    void enter_phase_space(Context& context, const PhaseSpaceAt& at, ResolvedLengths& lengths) {
        context.run([&] {
            const PointsView& given = normalized_->view;
            in_phase_space_ = resolve_phase_space(
                *normalized_, box_, at, lengths,
                [&] { return largest_coordinate(frame(), Coordinates<T>(given), given.count()); },
                [&] { return finite_velocities(at.phase_space.velocities); },
                [&](const FiniteVelocities& all) { return halos::velocity_dispersion(all, at.phase_space.masses); });
        });
    }

    [[nodiscard]] const Frame<T>& frame() const {
        return kept_ != nullptr  ? kept_->points().frame
               : in_phase_space_ ? in_phase_space_->positions.frame
                                 : normalized_->frame;
    }

    /// The points as given, those of a kept index perhaps wrapped.
    [[nodiscard]] PointsView as_given(Context& context) {
        if (kept_ == nullptr) {
            return normalized_->view;
        }
        if (!frame().has_tiny) { // then scaling has lost nothing
            context.run([&] { unscaled_ = unscaled_rows(frame(), kept_->points().view(), given_.count()); });
        }
        return {frame().has_tiny ? kept_->tree.as_given : unscaled_, frame().dimension};
    }
    [[nodiscard]] LargestCoordinate largest(Context& context) {
        const PointsView given = as_given(context);
        return largest_coordinate(frame(), Coordinates<T>(given), given.count());
    }

    /// The planes of nodes that Engine::tree walks, or null for other engines. Runs stages.
    const PlaneTree<T>* planes(Context& context, Engine engine, const DonatedMemory& spare = {}) {
        if (engine != Engine::tree) {
            return nullptr;
        }
        if (kept_ != nullptr) {
            return &kept_->tree;
        }
        return &built_.emplace(in_phase_space_ ? build_plane_tree(context, *in_phase_space_)
                                               : build_plane_tree<T>(context, *normalized_, {}, spare));
    }
    /// The index of an engine: a kept one's own, or brute force, which alone takes no points. Runs stages.
    [[nodiscard]] const Index<T>& index(Context& context, Engine engine, const DonatedMemory& spare = {}) {
        if (kept_ != nullptr && kept_->index && engine != Engine::brute_force) {
            return *kept_->index;
        }
        if (engine != Engine::tree) {
            index_ = build_index(context, unsorted(), {.engine = engine});
        } else {
            index_ = std::make_unique<TreeIndex<T>>(*planes(context, engine, spare),
                                                    kept_ != nullptr ? given_.tree()->shape() : TreeShape{});
        }
        return *index_;
    }
    /// A k-d tree of the positions, in phase space too; of one point or more: a kept index's own, or one that the stage
    /// "tree" builds.
    const BucketTree<T>& kdtree(Context& context) {
        if (kept_ != nullptr && given_.tree()->engine() == Engine::kdtree) {
            return static_cast<const KdTreeIndex<T>&>(*kept_->index).tree();
        }
        context.stage("tree", [&] {
            if (in_phase_space_) {
                const NormalizedPoints<T>& positions = in_phase_space_->positions;
                kdtree_ = build_bucket_tree(context, UnsortedPoints<T>{nullptr, &positions}, positions.view.dimension(),
                                            bucket_size);
                in_phase_space_->add_velocities(kdtree_->points);
            } else {
                kdtree_ = build_bucket_tree(context, unsorted(), frame().dimension, bucket_size);
            }
        });
        return *kdtree_;
    }
    /// In any order: the kept index's, or gathered now. Runs inside a stage.
    const PointSet<T>& in_any_order(Context& context) {
        return kept_ != nullptr ? kept_->points()
                                : gathered_.emplace(in_phase_space_ ? gather_points(context, *in_phase_space_)
                                                                    : gather_points(context, *normalized_));
    }

private:
    [[nodiscard]] UnsortedPoints<T> unsorted() const {
        return kept_ != nullptr ? UnsortedPoints<T>{&kept_->points()}
               : gathered_      ? UnsortedPoints<T>{&*gathered_}
                                : UnsortedPoints<T>{nullptr, &*normalized_};
    }

    const PointsOrTree& given_;
    const Box& box_;
    const KeptIndex<T>* kept_;
    std::optional<NormalizedPoints<T>> normalized_;
    std::optional<PhaseSpacePoints<T>> in_phase_space_;
    std::optional<PlaneTree<T>> built_;
    std::optional<BucketTree<T>> kdtree_;
    std::optional<PointSet<T>> gathered_;
    std::unique_ptr<const Index<T>> index_; ///< may refer to those above
    std::vector<T> unscaled_;               ///< row-major, those of a kept index
};

} // namespace kith::detail
