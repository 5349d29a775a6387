// What every contestant is: a process that holds one workload and runs it when told to.
//
// It is started with the workload as NAME=VALUE arguments:
//     points=FILE threads=N [period=L]  and either  k=N [queries=FILE] [keep_tree=1 | visit=1]  or  linking_length=L
// and says on one line of JSON who it is and how it is set, or why it takes no part ("unsupported"). Then it reads
// commands, one a line, and answers each with one line of JSON:
//     run                     one timed run, from unsorted points in memory to the answer in input order:
//                             {"seconds", "cpu_seconds", "stages": {name: seconds}, "peak_bytes"}
//     answer PREFIX           writes the last answer: PREFIX.indices.npy and PREFIX.distances.npy, or PREFIX.labels.npy;
//                             with visit=1 PREFIX.sum.npy, the sum of all indices
//     regroup FACTOR PREFIX   groups at FACTOR times the linking length, not timed, and writes the labels
//     quit
//
// The clock starts with the points in memory and stops when the answer stands; what the run took from the heap is given
// back before the next one, outside the clock. Memory for the neighbors is touched beforehand. With keep_tree=1 the
// tree is built once and only the queries are timed. peak_bytes is what the process holds at most during a run beyond
// what it held once the points were read, the answer included. bench/contestants.py speaks the same protocol.
#pragma once

#include "npy.hpp"

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <sys/mman.h>

namespace bench {

struct Workload {
    PointsFile points;
    std::optional<PointsFile> queries; ///< none: every point is a query
    std::int64_t k = 0;                ///< 0: groups are wanted, not neighbors
    double linking_length = 0;
    double period = 0; ///< 0: open space
    int threads = 1;
    bool keep_tree = false;
    bool visit = false; ///< neighbors are brought to a visitor and not stored

    [[nodiscard]] const PointsFile& asked() const { return queries ? *queries : points; }
};

/// A workload that this contestant cannot take; the text says why.
struct Unsupported : std::runtime_error {
    using std::runtime_error::runtime_error;
};

using Stages = std::vector<std::pair<std::string, double>>;

class Contestant {
public:
    virtual ~Contestant() = default;
    virtual void build() = 0;  ///< all that precedes the first query
    virtual void search() = 0; ///< the queries or the groups
    virtual void forget() = 0; ///< gives back what build() took
    virtual void write_answer(const std::string& prefix) const = 0;
    virtual void regroup(double /*factor*/) { throw Unsupported("finds no groups"); }
    /// What the last run spent where, if it knows better than build and search.
    [[nodiscard]] virtual Stages stages() const { return {}; }
};

/// Memory in large pages, where the system has them: rows are written at random, and every contestant gains.
template <class T>
struct LargePages {
    using value_type = T;
    LargePages() = default;
    template <class U>
    LargePages(const LargePages<U>& /*other*/) {}
    T* allocate(std::size_t count) {
        constexpr std::size_t page = std::size_t{1} << 21;
        const std::size_t bytes = (count * sizeof(T) + page - 1) / page * page;
        void* memory = std::aligned_alloc(page, bytes);
        if (memory == nullptr) {
            throw std::bad_alloc();
        }
#ifdef MADV_HUGEPAGE
        (void)madvise(memory, bytes, MADV_HUGEPAGE); // but a wish
#endif
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t /*count*/) {
        std::free(memory);
    }
    friend bool operator==(const LargePages& /*a*/, const LargePages& /*b*/) {
        return true;
    }
};

template <class T>
using LargeVector = std::vector<T, LargePages<T>>;

/// Neighbors in input order, in memory that has been touched.
template <class T>
struct Rows {
    explicit Rows(const Workload& workload)
        : k(static_cast<std::size_t>(workload.k)), indices(static_cast<std::size_t>(workload.asked().count) * k),
          distances(indices.size()) {}

    void write(const std::string& prefix) const {
        const auto columns = static_cast<std::int64_t>(k);
        write_npy<std::int32_t>(prefix + ".indices.npy", indices, columns);
        write_npy<T>(prefix + ".distances.npy", distances, columns);
    }

    std::size_t k;
    LargeVector<std::int32_t> indices;
    LargeVector<T> distances;
};

struct Introduction {
    std::string name;
    std::string version;
    std::string settings; ///< what was chosen, for the reader of the table
};

using MakeContestant = std::function<std::unique_ptr<Contestant>(const Workload&)>;

/// The main function of a contestant.
int serve(int argc, char** argv, const Introduction& introduction, const MakeContestant& make);

/// Calls work(begin, end) for blocks of [0, count), on that many threads, blocks to whoever is free.
void in_blocks(std::size_t count, int threads, const std::function<void(std::size_t, std::size_t)>& work);

/// Calls make.template operator()<T, D>() for the workload's scalar type and dimension.
template <class Make>
std::unique_ptr<Contestant> for_type_and_dimension(const Workload& workload, Make&& make) {
    std::unique_ptr<Contestant> made;
    const auto attempt = [&]<int D>() {
        if (workload.points.dimension == D) {
            made = workload.points.type == npy_type<float>() ? make.template operator()<float, D>()
                                                             : make.template operator()<double, D>();
        }
    };
    [&]<int... D>(std::integer_sequence<int, D...>) {
        (attempt.template operator()<D>(), ...);
    }
    (std::integer_sequence<int, BENCH_DIMENSIONS>{});
    if (!made) {
        throw Unsupported("not built for " + std::to_string(workload.points.dimension) + " dimensions");
    }
    return made;
}

} // namespace bench
