// What the conformance suites run over, and how two answers are compared.
//
// A case is a scalar type, a dimension that is built, and a named point set; suites take every one of them. Rows are
// compared bit for bit, and a difference is reported with its query, rank and both values.
#pragma once

#include "oracle/groups.hpp"
#include "oracle/neighbors.hpp"
#include "support/point_sets.hpp"

#include <kith/error.hpp>
#include <kith/execution.hpp>
#include <kith/fof.hpp>
#include <kith/knn.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kith::test {

/// Those of 2, 3 and 6 that this build has; all that it has if none of these.
std::vector<int> built_dimensions();
bool is_built(int dimension);

/// A fixture whose tests are skipped where the dimension they use is not built.
template <int Dimension>
class NeedsDimension : public testing::Test {
protected:
    void SetUp() override {
        if (!is_built(Dimension)) {
            GTEST_SKIP() << "dimension " << Dimension << " is not built";
        }
    }
};

struct Case {
    DType dtype = DType::float32;
    int dimension = 0;
    std::string set;
};

/// Every type, built dimension and point set.
std::vector<Case> every_case();
/// Those of one dimension, whether it is built or not.
std::vector<Case> every_case_in(int dimension);
/// Every type and built dimension, some sets only.
std::vector<Case> cases_of(const std::vector<std::string>& sets);

void PrintTo(const Case& named, std::ostream* stream);
std::string case_name(const testing::TestParamInfo<Case>& info);

/// body(T{}) for the case's type.
template <class Body>
void with_type(DType dtype, const Body& body) {
    if (dtype == DType::float32) {
        body(float{});
    } else {
        body(double{});
    }
}

/// The rows of a result in input order, whatever their own and the width of the indices.
template <class T>
oracle::Rows<T> rows_of(const KnnResult& result);
/// Rows in z-order in input order; a query without a row gets one that is none.
template <class T>
oracle::Rows<T> in_input_order(const oracle::Rows<T>& rows, std::span<const std::int32_t> queries, std::int64_t k);

template <class T>
testing::AssertionResult same_rows(const oracle::Rows<T>& found, const oracle::Rows<T>& expected, std::int64_t k);
template <class T>
testing::AssertionResult same_rows(const KnnResult& found, const oracle::Rows<T>& expected) {
    return same_rows(rows_of<T>(found), expected, found.k());
}

testing::AssertionResult same_groups(const FofResult& found, const oracle::Groups& expected);

/// All engines that answer such calls on the CPU, `automatic` first.
std::vector<Engine> knn_engines();
std::vector<Engine> radius_engines();
std::vector<Engine> fof_engines();

testing::AssertionResult has_parts(const Error& error, ErrorKind kind, const std::vector<std::string>& parts);

/// Runs the call, and holds that it throws a kith::Error of that kind whose text has all of the parts.
template <class Call>
testing::AssertionResult is_refused(ErrorKind kind, const std::vector<std::string>& parts, const Call& call) {
    try {
        call();
    } catch (const Error& error) {
        return has_parts(error, kind, parts);
    }
    return testing::AssertionFailure() << "nothing was thrown";
}

/// A GPU that no machine has.
inline const Execution on_no_gpu = cuda(1000);

/// Runs the call, which is to run there, and holds that it is refused: for the build, the machine, or that GPU.
template <class Call>
testing::AssertionResult lacks_its_gpu(const Call& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.kind() == ErrorKind::unsupported ? has_parts(error, ErrorKind::unsupported, {"KITH_CUDA"})
                                                      : has_parts(error, ErrorKind::device, {"GPU"});
    }
    return testing::AssertionFailure() << "nothing was thrown";
}

} // namespace kith::test
