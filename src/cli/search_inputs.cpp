#include "cli/search_inputs.hpp"

#include "cli/options.hpp"
#include "cli/usage_error.hpp"

#include <fmt/format.h>

#include <string_view>
#include <variant>

namespace kith::cli {

namespace {

void widen(io::RealArray& array) {
    if (const auto* narrow = std::get_if<std::vector<float>>(&array.values)) {
        array.values = std::vector<double>(narrow->begin(), narrow->end());
    }
}

} // namespace

void require_self(bool exclude_self, const std::string& queries) {
    if (exclude_self && !queries.empty()) {
        throw UsageError("--exclude-self is given with --queries; separate queries are no points of the set, so leave "
                         "--exclude-self out");
    }
}

SearchInputs read_search_inputs(const std::string& points, const std::string& queries, const io::TypeSelection& types) {
    io::ReadOptions wanted;
    wanted.types = types;
    wanted.velocities = false;
    wanted.masses = false;
    wanted.ids = false;
    SearchInputs inputs;
    inputs.points = read_points(points, wanted);
    inputs.warnings = inputs.points.header.warnings;
    if (queries.empty()) {
        return inputs;
    }
    io::RealArray& sources = inputs.points.positions;
    const io::Snapshot& other = inputs.queries.emplace(read_points(queries, wanted));
    for (const std::string& warning : other.header.warnings) {
        inputs.warnings.push_back("queries: " + warning);
    }
    io::RealArray& centers = inputs.queries->positions;
    if (sources.columns != centers.columns) {
        throw UsageError(fmt::format("the points of '{}' have {} axes, the queries of '{}' {}; give queries of as many "
                                     "axes as the points have",
                                     points, sources.columns, queries, centers.columns));
    }
    if (sources.dtype() != centers.dtype()) {
        inputs.warnings.push_back(fmt::format("the points are {} and the queries {}; both are searched as float64",
                                              name_of(sources.dtype()), name_of(centers.dtype())));
        widen(sources);
        widen(centers);
    }
    return inputs;
}

Error with_search_context(const Error& error, const std::string& points, const std::string& queries,
                          const SearchInputs& inputs) {
    const bool of_queries = std::string_view(error.what()).starts_with("queries");
    return with_file_context(error, of_queries ? queries : points, of_queries ? *inputs.queries : inputs.points);
}

} // namespace kith::cli
