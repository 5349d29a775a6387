// Tables whose columns have no names, and whose numbers make it doubtful that all of them are coordinates.
#pragma once

#include <kith/io.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace kith::io {

/// Of three columns, warns if one of them alone counts: it may be the ids of points in the plane.
void warn_of_ids_among_coordinates(const RealArray& positions, std::vector<std::string>& warnings);

/// Warns if the first row, in this line, holds 0, 1, ... and the others no whole numbers: pandas gives columns without
/// names such names, which look like a row.
void warn_of_numbered_columns(const RealArray& positions, std::int64_t line, std::vector<std::string>& warnings);

} // namespace kith::io
