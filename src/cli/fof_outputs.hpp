// The files that kith fof writes, and of them those that kith halos writes in the same way.
#pragma once

#include "cli/commands.hpp"
#include "cli/fof_run.hpp"

#include <kith/catalog_file.hpp>
#include <kith/progress.hpp>

#include <string>
#include <vector>

namespace kith::cli {

/// How the groups of a run were found.
[[nodiscard]] io::Provenance provenance(const FofArguments& arguments, const FofRun& run, const Invocation& invocation);

void plan_outputs(OutputFiles& outputs, const FofArguments& arguments);

/// Throws UsageError if a sorted snapshot is asked for and the input has no particle types, or another format.
void require_types_for_sorting(const FofArguments& arguments);

/// Throws UsageError if the points have no such slice, or none are in it. Collective, before the search.
void require_slice(const FofArguments& arguments, FofRun& run);

/// The points of the picture, if it was asked for. Collective.
void project_points(const FofArguments& arguments, FofRun& run);

/// What is drawn into the picture, and said of it.
struct MapMarks {
    std::string subtitle;
    std::vector<MapCircle> circles;
};
/// Writes the picture of points that have been projected.
void write_map(const FofArguments& arguments, const FofRun& run, MapMarks marks, const io::Provenance& made_by);

/// Of the table, by its name.
[[nodiscard]] io::TableFormat table_format(const FofArguments& arguments);

/// What write_outputs() takes from all ranks, in the order in which it writes: rows of the members in the file, their
/// ids, then the labels for each file of them. The run must outlive it. Collective.
[[nodiscard]] std::vector<RankArray> arrays_of_outputs(const FofArguments& arguments, const FofRun& run);

/// All but the sorted snapshot.
void write_outputs(const FofArguments& arguments, FofRun& run, const Invocation& invocation, RankFunnel& funnel);
/// The snapshot in group order, if it was asked for. Collective.
void write_sorted(const FofArguments& arguments, FofRun& run, const io::Provenance& made_by, const Progress& progress);

} // namespace kith::cli
