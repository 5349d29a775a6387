// One suite of neighbor searches for every engine, device and kind of call.
//
// A program of tests supplies its backends; the suite (conformance_test.cpp) is compiled into each of them:
// test_neighbors has the CPU's, test_emulation_device those of the emulated GPU, test_cuda those of a real one. Every
// answer is held against the oracle, bit for bit.
#pragma once

#include "support/cases.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kith::test {

template <class T>
struct KnnRequest {
    PointsView points;                   ///< in memory of the host, row-major
    const PointsView* queries = nullptr; ///< likewise; null: a self-search
    std::int64_t k = 1;
    KnnOptions options = {}; ///< the backend chooses the engine

    [[nodiscard]] std::int64_t rows() const { return queries != nullptr ? queries->count() : points.count(); }
};

/// One way to search: an engine on a device, through one of the calls that it has. What does not change the answer
/// (threads, the side on which arrays are) it draws.
struct KnnBackend {
    std::string name;
    std::function<oracle::Rows<float>(const KnnRequest<float>&, Random&)> of_floats;
    std::function<oracle::Rows<double>(const KnnRequest<double>&, Random&)> of_doubles;
    std::int64_t one_in = 1; ///< of the suite's searches is enough

    template <class T>
    [[nodiscard]] oracle::Rows<T> search(const KnnRequest<T>& request, Random& draw) const {
        if constexpr (std::is_same_v<T, float>) {
            return of_floats(request, draw);
        } else {
            return of_doubles(request, draw);
        }
    }
};

/// A backend from a function template: search(request, draw).
template <class Search>
KnnBackend knn_backend(std::string name, const Search& search, std::int64_t one_in = 1) {
    return {std::move(name), search, search, one_in};
}

/// Those of this program.
std::vector<KnnBackend> knn_backends();

/// How much of the suite this program has time for.
struct KnnEffort {
    bool every_k = true;                ///< and every number of queries; or else one of each that is drawn
    std::int64_t self_points = 1 << 20; ///< at most, of a self-search
    std::int64_t points = 1 << 20;      ///< at most, of separate queries
    std::int64_t queries = 1 << 20;     ///< at most
};
KnnEffort knn_effort();

} // namespace kith::test
