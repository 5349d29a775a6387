// Ranks that are late, and ranks that fail: the same answer later, or an error on every rank, and nobody waits forever.
#include "distributed/distributions.hpp"
#include "support/cases.hpp"

#include <kith/catalog.hpp>
#include <kith/dbscan.hpp>
#include <kith/distributed.hpp>
#include <kith/halos.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace kith::test {
namespace {

/// Calls something before each collective call.
class Disturbed final : public Communicator {
public:
    Disturbed(Communicator& ranks, std::function<void()> before) : ranks_(ranks), before_(std::move(before)) {}

    [[nodiscard]] int rank() const noexcept override { return ranks_.rank(); }
    [[nodiscard]] int size() const noexcept override { return ranks_.size(); }
    void all_reduce(std::span<std::int64_t> values, Reduction reduction) override {
        before_();
        ranks_.all_reduce(values, reduction);
    }
    void all_gather(std::span<const std::byte> mine, std::span<std::byte> all,
                    std::span<const std::int64_t> counts) override {
        before_();
        ranks_.all_gather(mine, all, counts);
    }
    [[nodiscard]] std::vector<RankMessage> exchange(std::vector<RankMessage> messages) override {
        before_();
        return ranks_.exchange(std::move(messages));
    }
    void start_exchange(std::vector<RankMessage> messages) override {
        before_();
        ranks_.start_exchange(std::move(messages));
    }
    [[nodiscard]] std::vector<RankMessage> finish_exchange() override {
        before_();
        return ranks_.finish_exchange();
    }
    void abort(const std::string& reason) noexcept override { ranks_.abort(reason); }

private:
    Communicator& ranks_;
    std::function<void()> before_;
};

constexpr std::int64_t count = 300;
constexpr int size = 3;

struct Answers {
    std::vector<std::int64_t> neighbors;
    std::vector<std::int64_t> counts;
    std::vector<std::int64_t> labels;
    std::vector<double> centers;
    std::vector<std::int64_t> clusters;
    std::vector<double> spheres;

    bool operator==(const Answers&) const = default;
};

Answers answers_of(Communicator& ranks, const PointsView& mine, const Execution& execution = cpu(1)) {
    Answers answers;
    const KnnResult rows = knn(mine, 4, {.execution = over(ranks, execution)});
    answers.neighbors.assign(rows.indices64().begin(), rows.indices64().end());
    answers.counts = radius_count(mine, 0.1, {.execution = over(ranks, execution)}).counts;
    const FofResult groups = fof(mine, LinkingLength::absolute(0.1), {.execution = over(ranks, execution)});
    answers.labels.assign(groups.labels64().begin(), groups.labels64().end());
    const DbscanResult clusters = dbscan(mine, 0.1, 3, {.execution = over(ranks, execution)});
    answers.clusters.assign(clusters.labels64().begin(), clusters.labels64().end());
    answers.centers = catalog(groups, {mine}, {.min_members = 2, .execution = over(ranks, execution)}).center;
    HaloOptions options{.unbind = false, .min_members = 3, .outermost = true, .execution = over(ranks, execution)};
    options.universe = {.gravity = 1, .scale_factor = 1, .hubble = 10, .omega_matter = 0.3};
    answers.spheres = halos(groups, {mine}, options).sphere_radius;
    return answers;
}

class Faults : public NeedsDimension<3> {
protected:
    std::vector<float> points = along_the_first_axis(uniform_points<float>(count, 3, 0, 1, 601), 3);

    [[nodiscard]] PointsView part(int rank) const { return part_of(PointsView(points, 3), evenly(count, size), rank); }
};

TEST_F(Faults, ADelayedRankGivesTheSameAnswers) {
    run_ranks(size, [&](Communicator& ranks) {
        const Answers expected = answers_of(ranks, part(ranks.rank()));
        for (int late = 0; late < size; ++late) {
            Disturbed disturbed(ranks, [&] {
                if (ranks.rank() == late) {
                    std::this_thread::sleep_for(std::chrono::microseconds(300));
                }
            });
            EXPECT_EQ(answers_of(disturbed, part(ranks.rank())), expected) << "rank " << late << " is late";
        }
    });
}

/// Runs answers_of() with one failure on one rank, at the n-th place where there can be one, for every n. Every rank
/// must get an error of that kind; returns how many places there are.
template <class Run>
int expect_errors_everywhere(const Run& run) {
    for (int place = 0;; ++place) {
        std::vector<int> errors(size, 0);
        run_ranks(size, [&](Communicator& ranks) {
            try {
                run(ranks, place);
            } catch (const Error& error) {
                EXPECT_EQ(error.kind(), ErrorKind::out_of_memory) << error.what() << " at " << place;
                errors[static_cast<std::size_t>(ranks.rank())] = 1;
            }
        });
        if (errors == std::vector<int>(size, 0)) {
            return place;
        }
        EXPECT_EQ(errors, std::vector<int>(size, 1)) << "place " << place;
    }
}

TEST_F(Faults, NoMemoryForMessagesOfOneRankIsAnErrorOfAll) {
    const int places = expect_errors_everywhere([&](Communicator& ranks, int place) {
        int calls = 0;
        Disturbed disturbed(ranks, [&] {
            if (ranks.rank() == 1 && calls++ == place) {
                throw std::bad_alloc();
            }
        });
        (void)answers_of(disturbed, part(ranks.rank()));
    });
    EXPECT_GT(places, 40);
}

TEST_F(Faults, NoMemoryForTheWorkOfOneRankIsAnErrorOfAll) {
    const int places = expect_errors_everywhere([&](Communicator& ranks, int place) {
        int calls = 0;
        (void)answers_of(ranks, part(ranks.rank()), cpu(1, [&](std::string_view, double) {
                             if (ranks.rank() == 1 && calls++ == place) {
                                 throw std::bad_alloc();
                             }
                             return true;
                         }));
    });
    EXPECT_GT(places, 15);
}

struct OwnError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

TEST_F(Faults, ExceptionsOfVisitorsKeepTheirTypeOnTheirRank) {
    run_ranks(size, [&](Communicator& ranks) {
        for (int failing = 0; failing < size; ++failing) { // and the ranks can go on
            const auto visit = [&](const NeighborBlock&) {
                if (ranks.rank() == failing) {
                    throw OwnError("mine");
                }
            };
            try {
                knn_visit(visit, part(ranks.rank()), 3, {.execution = over(ranks, cpu(1))});
                ADD_FAILURE() << "nothing was thrown";
            } catch (const OwnError& error) {
                EXPECT_EQ(ranks.rank(), failing);
                EXPECT_STREQ(error.what(), "mine");
            } catch (const Error& error) {
                EXPECT_NE(ranks.rank(), failing);
                EXPECT_EQ(error.kind(), ErrorKind::other_rank);
                EXPECT_EQ(error.what(), "rank " + std::to_string(failing) + ": mine");
                EXPECT_EQ(error.details().rank, failing);
            }
        }
    });
    // The program gets the exception itself, whichever rank ends first.
    for (int failing = 0; failing < size; ++failing) {
        EXPECT_THROW(run_ranks(size,
                               [&](Communicator& ranks) {
                                   const auto visit = [&](const NeighborBlock&) {
                                       if (ranks.rank() == failing) {
                                           throw OwnError("mine");
                                       }
                                   };
                                   knn_visit(visit, part(ranks.rank()), 3, {.execution = over(ranks, cpu(1))});
                               }),
                     OwnError);
    }
}

TEST_F(Faults, ErrorsOfVisitorsKeepTheirKind) {
    run_ranks(size, [&](Communicator& ranks) {
        EXPECT_TRUE(is_refused(ErrorKind::file, {"rank 1: the disk is full"}, [&] {
            const auto visit = [&](const NeighborBlock&) {
                if (ranks.rank() == 1) {
                    throw Error(ErrorKind::file, "the disk is full");
                }
            };
            knn_visit(visit, part(ranks.rank()), 3, {.execution = over(ranks, cpu(1))});
        }));
    });
}

TEST_F(Faults, ASingleRankThrowsWhatItsVisitorThrew) {
    const auto visits = [&](const NeighborVisitor& visit) {
        run_ranks(1,
                  [&](Communicator& ranks) { knn_visit(visit, PointsView(points, 3), 3, {.execution = over(ranks)}); });
    };
    EXPECT_THROW(visits([](const NeighborBlock&) { throw OwnError("mine"); }), OwnError);
    EXPECT_TRUE(is_refused(ErrorKind::canceled, {"canceled during the stage"}, [&] {
        run_ranks(1, [&](Communicator& ranks) {
            (void)knn(PointsView(points, 3), 3,
                      {.execution = over(ranks, cpu(1, [](std::string_view, double) { return false; }))});
        });
    }));
}

} // namespace
} // namespace kith::test
