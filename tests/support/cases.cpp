// See cases.hpp.
#include "support/cases.hpp"

#include "support/engines.hpp"

#include <algorithm>
#include <cstring>
#include <ostream>
#include <string_view>

namespace kith::test {

bool is_built(int dimension) {
    return (KITH_DIMENSION_MASK >> dimension & 1) != 0;
}

std::vector<int> built_dimensions() {
    std::vector<int> all;
    std::vector<int> usual;
    for (int dimension = 2; dimension <= max_dimension; ++dimension) {
        if (is_built(dimension)) {
            all.push_back(dimension);
            if (dimension <= 3 || dimension == 6) {
                usual.push_back(dimension);
            }
        }
    }
    return usual.empty() ? all : usual;
}

std::vector<Case> cases_of(const std::vector<std::string>& sets) {
    std::vector<Case> cases;
    for (const DType dtype : {DType::float32, DType::float64}) {
        for (const int dimension : built_dimensions()) {
            for (const std::string& set : sets) {
                cases.push_back({dtype, dimension, set});
            }
        }
    }
    return cases;
}

std::vector<Case> every_case() {
    return cases_of(point_set_names());
}

std::vector<Case> every_case_in(int dimension) {
    std::vector<Case> cases;
    for (const DType dtype : {DType::float32, DType::float64}) {
        for (const std::string& set : point_set_names()) {
            cases.push_back({dtype, dimension, set});
        }
    }
    return cases;
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
    const std::string type = info.param.dtype == DType::float32 ? "float32" : "float64";
    return info.param.set + "_" + std::to_string(info.param.dimension) + "d_" + type;
}

void PrintTo(const Case& named, std::ostream* stream) {
    *stream << case_name(testing::TestParamInfo<Case>(named, 0));
}

std::vector<Engine> knn_engines() {
    return engines_of(detail::Task::neighbors);
}
std::vector<Engine> radius_engines() {
    return engines_of(detail::Task::radius);
}
std::vector<Engine> fof_engines() {
    return engines_of(detail::Task::groups);
}

template <class T>
oracle::Rows<T> rows_of(const KnnResult& result) {
    oracle::Rows<T> rows{{}, {}, oracle::Unresolved(result.unresolved)};
    if (result.index_type() == IndexType::int32) {
        rows.indices.assign(result.indices().begin(), result.indices().end());
    } else {
        rows.indices.assign(result.indices64().begin(), result.indices64().end());
    }
    rows.distances.assign(result.distances<T>().begin(), result.distances<T>().end());
    return result.query_indices().empty() ? rows : in_input_order(rows, result.query_indices(), result.k());
}

template <class T>
oracle::Rows<T> in_input_order(const oracle::Rows<T>& rows, std::span<const std::int32_t> queries, std::int64_t k) {
    oracle::Rows<T> sorted{std::vector<std::int64_t>(rows.indices.size(), -7),
                           std::vector<T>(rows.distances.size(), -7), rows.unresolved};
    for (std::int64_t row = 0; row < std::ssize(queries); ++row) {
        const std::int64_t to = std::int64_t{queries[static_cast<std::size_t>(row)]} * k;
        std::copy_n(rows.indices.begin() + row * k, k, sorted.indices.begin() + to);
        std::copy_n(rows.distances.begin() + row * k, k, sorted.distances.begin() + to);
    }
    return sorted;
}

template <class T>
testing::AssertionResult same_rows(const oracle::Rows<T>& found, const oracle::Rows<T>& expected, std::int64_t k) {
    if (found.indices.size() != expected.indices.size() || found.distances.size() != expected.distances.size()) {
        return testing::AssertionFailure() << found.indices.size() << " indices and " << found.distances.size()
                                           << " distances instead of " << expected.indices.size();
    }
    for (std::size_t i = 0; i < expected.indices.size(); ++i) {
        if (found.indices[i] != expected.indices[i] ||
            std::memcmp(&found.distances[i], &expected.distances[i], sizeof(T)) != 0) {
            return testing::AssertionFailure()
                   << "query " << static_cast<std::int64_t>(i) / k << ", neighbor " << static_cast<std::int64_t>(i) % k
                   << ": found index " << found.indices[i] << " at " << std::hexfloat << found.distances[i]
                   << ", expected index " << expected.indices[i] << " at " << expected.distances[i];
        }
    }
    if (found.unresolved && expected.unresolved && *found.unresolved != *expected.unresolved) {
        return testing::AssertionFailure()
               << "found " << found.unresolved->rows << " unresolved rows, first " << found.unresolved->first
               << ", expected " << expected.unresolved->rows << ", first " << expected.unresolved->first;
    }
    return testing::AssertionSuccess();
}

testing::AssertionResult same_groups(const FofResult& found, const oracle::Groups& expected) {
    if (found.labels().size() != expected.labels.size()) {
        return testing::AssertionFailure()
               << found.label_array.size() << " labels instead of " << expected.labels.size();
    }
    for (std::size_t i = 0; i < expected.labels.size(); ++i) {
        if (found.label_array[i] != expected.labels[i]) {
            return testing::AssertionFailure()
                   << "point " << i << ": found label " << found.labels()[i] << ", expected " << expected.labels[i]
                   << "; found " << found.sizes.size() << " groups, expected " << expected.sizes.size();
        }
    }
    if (found.sizes != GroupSizes(expected.sizes)) {
        return testing::AssertionFailure() << "the labels agree but the sizes do not";
    }
    return testing::AssertionSuccess();
}

testing::AssertionResult has_parts(const Error& error, ErrorKind kind, const std::vector<std::string>& parts) {
    const std::string_view text = error.what();
    if (error.kind() != kind) {
        return testing::AssertionFailure()
               << "kind " << static_cast<int>(error.kind()) << " instead of " << static_cast<int>(kind) << ": " << text;
    }
    for (const std::string& part : parts) {
        if (text.find(part) == std::string_view::npos) {
            return testing::AssertionFailure() << "'" << part << "' is not in: " << text;
        }
    }
    return testing::AssertionSuccess();
}

template oracle::Rows<float> rows_of(const KnnResult&);
template oracle::Rows<double> rows_of(const KnnResult&);
template oracle::Rows<float> in_input_order(const oracle::Rows<float>&, std::span<const std::int32_t>, std::int64_t);
template oracle::Rows<double> in_input_order(const oracle::Rows<double>&, std::span<const std::int32_t>, std::int64_t);
template testing::AssertionResult same_rows(const oracle::Rows<float>&, const oracle::Rows<float>&, std::int64_t);
template testing::AssertionResult same_rows(const oracle::Rows<double>&, const oracle::Rows<double>&, std::int64_t);

} // namespace kith::test
