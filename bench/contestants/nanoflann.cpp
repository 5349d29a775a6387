// nanoflann at its best: points along a space-filling curve, queries in the order of its tree, leaves of 16, threads
// where it has them.
//
// It asks one query at a time and answers squared distances by position; threads, roots and original indices are ours.
#include "contestant.hpp"
#include "curve.hpp"

#include <nanoflann.hpp>

#include <cmath>
#include <optional>

namespace bench {
namespace {

constexpr bool builds_with_threads = NANOFLANN_VERSION >= 0x150;

template <class T, int D>
struct Cloud {
    std::vector<T> rows;
    [[nodiscard]] std::size_t kdtree_get_point_count() const { return rows.size() / D; }
    [[nodiscard]] T kdtree_get_pt(std::size_t i, std::size_t axis) const { return rows[i * D + axis]; }
    template <class Bounds>
    bool kdtree_get_bbox(Bounds& /*bounds*/) const {
        return false;
    }
};

nanoflann::KDTreeSingleIndexAdaptorParams parameters([[maybe_unused]] int threads) {
#if NANOFLANN_VERSION >= 0x150
    return {16, nanoflann::KDTreeSingleIndexAdaptorFlags::SkipInitialBuildIndex, static_cast<unsigned>(threads)};
#else
    return {16};
#endif
}

template <class T, int D>
class Nanoflann final : public Contestant {
    using Tree = nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<T, Cloud<T, D>>, Cloud<T, D>, D,
                                                     std::uint32_t>;

public:
    explicit Nanoflann(const Workload& workload) : workload_(workload), rows_(workload) {
        if (workload.k == 0) {
            throw Unsupported("finds no groups");
        }
        if (workload.period != 0) {
            throw Unsupported("knows no periodic space");
        }
    }

    void build() override {
        const auto count = static_cast<std::size_t>(workload_.points.count);
        const T* points = workload_.points.rows<T>();
        order_ = curve_order<T, D>(points, count);
        cloud_.rows = in_order<T, D>(points, order_);
        tree_.emplace(D, cloud_, parameters(workload_.threads));
        tree_->buildIndex();
    }

    void search() override {
        if (!workload_.queries) {
            const std::vector<std::uint32_t>& positions = positions_in_tree_order();
            std::vector<std::uint32_t> order(positions.size());
            std::transform(positions.begin(), positions.end(), order.begin(),
                           [&](std::uint32_t position) { return order_[position]; });
            ask(in_order<T, D>(cloud_.rows.data(), positions).data(), order);
        } else {
            const auto count = static_cast<std::size_t>(workload_.queries->count);
            const T* queries = workload_.queries->rows<T>();
            const std::vector<std::uint32_t> order = curve_order<T, D>(queries, count);
            ask(in_order<T, D>(queries, order).data(), order);
        }
    }

    void forget() override {
        tree_.reset();
        order_ = {};
        cloud_.rows = {};
    }

    void write_answer(const std::string& prefix) const override { rows_.write(prefix); }

private:
    [[nodiscard]] const std::vector<std::uint32_t>& positions_in_tree_order() const {
#if NANOFLANN_VERSION >= 0x150
        return tree_->vAcc_;
#else
        return tree_->vAcc;
#endif
    }

    /// Query i is the one of row order[i] of the input.
    void ask(const T* queries, const std::vector<std::uint32_t>& order) {
        const std::size_t k = rows_.k;
        in_blocks(order.size(), workload_.threads, [&](std::size_t begin, std::size_t end) {
            std::vector<std::uint32_t> positions(k);
            for (std::size_t i = begin; i < end; ++i) {
                const std::size_t row = order[i] * k;
                const std::size_t found = tree_->knnSearch(queries + i * D, k, positions.data(), &rows_.distances[row]);
                for (std::size_t j = 0; j < found; ++j) {
                    rows_.indices[row + j] = static_cast<std::int32_t>(order_[positions[j]]);
                    rows_.distances[row + j] = std::sqrt(rows_.distances[row + j]);
                }
            }
        });
    }

    const Workload& workload_;
    Rows<T> rows_;
    std::vector<std::uint32_t> order_;
    Cloud<T, D> cloud_;
    std::optional<Tree> tree_;
};

/// 0x143 is 1.4.3; since 1.6 a byte a number: 0x010C01 is 1.12.1.
std::string version() {
    constexpr int v = NANOFLANN_VERSION;
    constexpr int digit = v < 0x1000 ? 4 : 8;
    constexpr int mask = (1 << digit) - 1;
    return std::to_string(v >> 2 * digit) + '.' + std::to_string(v >> digit & mask) + '.' + std::to_string(v & mask);
}

} // namespace
} // namespace bench

int main(int argc, char** argv) {
    using namespace bench;
    const std::string settings = std::string("points along a curve, queries in tree order, leaves of 16, ") +
                                 (builds_with_threads ? "threads build and query" : "one thread builds, threads query");
    return serve(argc, argv, {"nanoflann", version(), settings}, [](const Workload& workload) {
        return for_type_and_dimension(workload, [&]<class T, int D>() -> std::unique_ptr<Contestant> {
            return std::make_unique<Nanoflann<T, D>>(workload);
        });
    });
}
