// The union-find of a device alone: many unions in random orders, and few of them in every order.
#include "emulation/kernel_cases.hpp"

#include "groups/device_union_find.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

namespace kith::test {
namespace {

struct UnionsJob {
    std::int32_t unions;
    const std::int32_t* pairs;
    detail::DeviceUnionFind groups;
};

__global__ void unite_kernel(const __grid_constant__ UnionsJob job) {
    const auto i = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < job.unions) {
        job.groups.unite(job.pairs[2 * i], job.pairs[2 * i + 1]);
    }
}

TEST(DeviceUnionFind, HasTheLowestMemberAsRootWhateverTheOrder) {
    Random draw(7);
    for (int round = 0; round < 40; ++round) {
        const std::int64_t count = 1 + draw.integer(300);
        const std::int64_t unions = draw.integer(count + 50);
        std::vector<std::int32_t> pairs;
        for (std::int64_t i = 0; i < 2 * unions; ++i) {
            pairs.push_back(static_cast<std::int32_t>(draw.integer(count)));
        }
        std::vector<std::int32_t> expected(static_cast<std::size_t>(count));
        std::iota(expected.begin(), expected.end(), 0);
        for (std::int64_t i = 0; i < unions; ++i) {
            const auto [lower, higher] = std::minmax({expected[pairs[2 * i]], expected[pairs[2 * i + 1]]});
            std::replace(expected.begin(), expected.end(), int{higher}, int{lower});
        }
        std::vector<std::int32_t> parents(expected.size());
        std::iota(parents.begin(), parents.end(), 0);
        const detail::DeviceUnionFind groups(parents.data());
        const UnionsJob job{static_cast<std::int32_t>(unions), pairs.data(), groups};
        run_warps("unite", (unions + 31) / 32, 2, static_cast<std::uint64_t>(round + 1), [&] { unite_kernel(job); });
        for (std::int32_t i = 0; i < count; ++i) {
            EXPECT_EQ(groups.known_root(i), expected[i]);
            EXPECT_EQ(groups.find(i), expected[i]);
            EXPECT_LE(parents[i], i);
        }
    }
}

__global__ void add_one_kernel(std::int32_t* word) {
    detail::store_relaxed(word, detail::load_relaxed(word) + 1);
}

TEST(RelaxedWords, LetOtherThreadsGoOn) {
    std::int32_t word = 0;
    run_warps("add one", 2, 2, 1, [&] { add_one_kernel(&word); });
    EXPECT_GE(word, 1);
    EXPECT_LT(word, 64); // some thread has overwritten what another added
}

/// Three threads make unions among four points. Each access to a parent is a step; before each step, any thread may be
/// the one that goes on. A load finds the value of now or, as long as the thread may still be behind, an older one: any
/// older one through the cache, otherwise one that is no older than what the thread has seen of that word.
class EveryOrder {
public:
    static constexpr int points = 4;
    static constexpr int threads = 3;
    using Union = std::pair<std::int32_t, std::int32_t>;

    EveryOrder(const std::array<Union, threads>& unions, const std::array<std::int32_t, points>& first_parents)
        : unions_(unions), expected_(expected_roots(first_parents)) {
        State state;
        for (int point = 0; point < points; ++point) {
            state.values[point] = {first_parents[point]};
        }
        explore(state);
    }
    /// Of steps of threads, in different states.
    [[nodiscard]] std::int64_t explored() const { return static_cast<std::int64_t>(known_.size()); }
    [[nodiscard]] std::int64_t ends() const { return ends_; }

private:
    static constexpr int most_stale = 2; ///< older values that a thread finds; without a limit it need not end

    enum class Access : std::uint8_t { load, load_cached, store, hook };
    struct Suspended {
        Access access;
        std::int32_t point;
        std::int32_t value;
    };
    struct Thread {
        std::vector<std::int32_t> found; ///< by its accesses so far, which decide what it does next
        std::array<int, points> seen{};  ///< the newest value of each word that it knows, by number
        int stale = 0;
        bool has_ended = false;
        auto operator<=>(const Thread&) const = default;
    };
    struct State {
        std::array<std::vector<std::int32_t>, points> values; ///< that each parent has had
        std::array<Thread, threads> of_thread;
        auto operator<=>(const State&) const = default;
    };

    /// Gives the accesses of a thread what they found before, and stops it at the next one.
    class Replayed {
    public:
        explicit Replayed(const std::vector<std::int32_t>& found) : found_(&found) {}
        [[nodiscard]] std::int32_t load(std::int32_t point) const { return next({Access::load, point, 0}); }
        [[nodiscard]] std::int32_t load_cached(std::int32_t point) const {
            return next({Access::load_cached, point, 0});
        }
        void store(std::int32_t point, std::int32_t parent) const { (void)next({Access::store, point, parent}); }
        [[nodiscard]] bool hook(std::int32_t point, std::int32_t parent) const {
            return next({Access::hook, point, parent}) != 0;
        }

    private:
        [[nodiscard]] std::int32_t next(const Suspended& access) const {
            if (position_ == found_->size()) {
                throw access;
            }
            return (*found_)[position_++];
        }
        const std::vector<std::int32_t>* found_;
        mutable std::size_t position_ = 0;
    };

    [[nodiscard]] std::array<std::int32_t, points>
    expected_roots(const std::array<std::int32_t, points>& first_parents) const {
        std::array<std::int32_t, points> root{};
        std::iota(root.begin(), root.end(), 0);
        const auto join = [&](std::int32_t a, std::int32_t b) {
            const auto [lower, higher] = std::minmax({root[a], root[b]});
            std::replace(root.begin(), root.end(), std::int32_t{higher}, std::int32_t{lower});
        };
        for (std::int32_t point = 0; point < points; ++point) {
            join(point, first_parents[point]);
        }
        for (const auto& [a, b] : unions_) {
            join(a, b);
        }
        return root;
    }

    void explore(const State& first) {
        std::vector<State> left{first};
        while (!left.empty() && !::testing::Test::HasFailure()) {
            const State state = std::move(left.back());
            left.pop_back();
            if (!known_.insert(state).second) {
                continue;
            }
            bool all_have_ended = true;
            for (int thread = 0; thread < threads; ++thread) {
                if (!state.of_thread[thread].has_ended) {
                    all_have_ended = false;
                    step(state, thread, left);
                }
            }
            if (all_have_ended) {
                ++ends_;
                check(state);
            }
        }
    }

    void step(const State& state, int thread, std::vector<State>& left) const {
        const Thread& now = state.of_thread[thread];
        try {
            const detail::UnionFindOver<Replayed> groups{Replayed(now.found)};
            groups.unite(unions_[thread].first, unions_[thread].second);
            State next = state;
            next.of_thread[thread].has_ended = true;
            left.push_back(std::move(next));
        } catch (const Suspended& access) {
            const std::vector<std::int32_t>& values = state.values[access.point];
            const int newest = static_cast<int>(values.size()) - 1;
            const auto go_on = [&](std::int32_t found, int seen, bool is_stale) {
                State& next = left.emplace_back(state);
                Thread& after = next.of_thread[thread];
                after.found.push_back(found);
                after.seen[access.point] = std::max(after.seen[access.point], seen);
                after.stale += is_stale ? 1 : 0;
                return &next;
            };
            if (access.access == Access::store) {
                go_on(0, newest + 1, false)->values[access.point].push_back(access.value);
            } else if (access.access == Access::hook) {
                const bool succeeds = values.back() == access.point;
                State* const next = go_on(succeeds ? 1 : 0, newest + (succeeds ? 1 : 0), false);
                if (succeeds) {
                    next->values[access.point].push_back(access.value);
                }
            } else {
                go_on(values.back(), newest, false);
                const int oldest = access.access == Access::load ? now.seen[access.point] : 0;
                for (int i = oldest; i < newest && now.stale < most_stale; ++i) {
                    go_on(values[i], i, true);
                }
            }
        }
    }

    void check(const State& state) const {
        for (std::int32_t point = 0; point < points; ++point) {
            std::int32_t root = point;
            while (state.values[root].back() < root) {
                root = state.values[root].back();
            }
            EXPECT_EQ(state.values[root].back(), root) << "a parent is higher than its point";
            EXPECT_EQ(root, expected_[point]) << "point " << point;
        }
    }

    std::array<Union, threads> unions_;
    std::array<std::int32_t, points> expected_;
    std::set<State> known_;
    std::int64_t ends_ = 0;
};

TEST(DeviceUnionFind, IsRightInEveryOrderOfThreeThreads) {
    const std::vector<EveryOrder::Union> pairs{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    std::int64_t explored = 0;
    for (const auto& first_parents : {std::array<std::int32_t, 4>{0, 1, 2, 3}, {0, 1, 1, 2}}) {
        for (std::size_t a = 0; a < pairs.size(); ++a) {
            for (std::size_t b = a; b < pairs.size(); ++b) {
                for (std::size_t c = b; c < pairs.size(); ++c) {
                    const EveryOrder orders({pairs[a], pairs[b], pairs[c]}, first_parents);
                    EXPECT_GE(orders.ends(), 1);
                    explored += orders.explored();
                }
            }
        }
    }
    EXPECT_GT(explored, 10000);
    RecordProperty("explored", static_cast<int>(explored));
}

} // namespace
} // namespace kith::test
