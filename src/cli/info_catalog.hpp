// kith info of a halo catalog.
#pragma once

#include <string>

namespace kith::cli {

/// Prints what the catalog holds, without reading its members.
void show_catalog(const std::string& path, bool as_json);

} // namespace kith::cli
