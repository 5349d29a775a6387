// What a search for neighbors reads: points, and perhaps other points to search around.
#pragma once

#include <kith/error.hpp>
#include <kith/io.hpp>

#include <optional>
#include <string>
#include <vector>

namespace kith::cli {

struct SearchInputs {
    io::Snapshot points;
    std::optional<io::Snapshot> queries;
    std::vector<std::string> warnings;
};

/// Throws UsageError if --exclude-self is given with --queries.
void require_self(bool exclude_self, const std::string& queries);

/// An empty `queries` reads none. Where one file is float32 and the other float64, both become float64, with a warning.
/// Throws UsageError if they are of different dimensions.
[[nodiscard]] SearchInputs read_search_inputs(const std::string& points, const std::string& queries,
                                              const io::TypeSelection& types);

/// The library's refusal of points or queries, with the file that they came from.
[[nodiscard]] Error with_search_context(const Error& error, const std::string& points, const std::string& queries,
                                        const SearchInputs& inputs);

} // namespace kith::cli
