// Refusals before work: a call of the library on no points costs nothing, and refuses what it would refuse of any
// points, such as an engine that the device lacks or a GPU that is not there. The rules stay the library's own.
#pragma once

#include "cli/options.hpp"

#include <kith/execution.hpp>
#include <kith/points.hpp>

#include <functional>

namespace kith::cli {

using CallOnNoPoints = std::function<void(const PointsView&, const Execution&)>;

/// Makes the call on no points, as the options say. Throws UsageError for what is unsupported, and the library's other
/// errors as they are.
void try_out(const CommonOptions& options, const CallOnNoPoints& call);

} // namespace kith::cli
