// kith info of what kith itself writes: halo catalogs, and files of results.
#pragma once

#include <kith/io.hpp>

#include <string>

namespace kith::cli {

/// Prints what the catalog holds, without reading its members.
void show_catalog(const std::string& path, bool as_json);

/// Prints what a file of results holds: its arrays or columns, and what made it.
void show_result(const io::ResultFile& result, const std::string& path, bool as_json);

} // namespace kith::cli
