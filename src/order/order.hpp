// The permutation that sorts points along the z-order curve.
//
// Points get 64-bit keys within the smallest cell that holds them all and are sorted by radix. A run of equal keys
// longer than 64 points is keyed and sorted again within its own cell, a shorter one is finished by comparison, and
// coincident points follow their original index. Cost: O(N) time for ordinary data, 24 bytes a point of scratch.
#pragma once

#include "order/keys.hpp"
#include "order/radix_sort.hpp"
#include "order/zorder.hpp"
#include "points/point_set.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <utility>

namespace kith::detail {

/// One bit above the largest exponent of any coordinate: where numbers of different sign part.
template <Coordinate T, int D>
int sign_exponent_of(const std::array<T, D>& lower, const std::array<T, D>& upper) {
    int exponent = coincident + 1;
    for (int axis = 0; axis < D; ++axis) {
        for (const T x : {lower[axis], upper[axis]}) {
            if (x != 0) {
                const auto magnitude = FloatBits<T>::magnitude(x);
                exponent =
                    std::max(exponent, FloatBits<T>::unit_exponent(magnitude) +
                                           static_cast<int>(std::bit_width(FloatBits<T>::significand(magnitude))));
            }
        }
    }
    return exponent;
}

template <Coordinate T, int D>
class Order {
public:
    Order(Context& context, const Loader<T, D>& load)
        : load_(load), keys_{Buffer<std::uint64_t>(context.ledger(), load.count()),
                             Buffer<std::uint64_t>(context.ledger(), load.count())},
          indices_{Buffer<std::int32_t>(context.ledger(), load.count()),
                   Buffer<std::int32_t>(context.ledger(), load.count())} {
        std::iota(indices_[0].data(), indices_[0].data() + load.count(), 0);
        sort_cell(0, load.count());
    }

    [[nodiscard]] Buffer<std::int32_t> take_indices() { return std::move(indices_[0]); }
    [[nodiscard]] int sign_exponent() const noexcept { return sign_exponent_; }

private:
    static constexpr std::int64_t longest_compared_run = 64;
    static constexpr std::int64_t grain = 1 << 14;

    struct Extent {
        std::array<T, D> lower;
        std::array<T, D> upper;
    };

    [[nodiscard]] Extent extent(std::int64_t begin, std::int64_t end) const {
        const std::array<T, D> first = load_(indices_[0][begin]);
        return parallel_reduce(
            begin, end, grain, Extent{first, first},
            [&](std::int64_t lower, std::int64_t upper, Extent sum) {
                for (std::int64_t i = lower; i < upper; ++i) {
                    const std::array<T, D> x = load_(indices_[0][i]);
                    for (int axis = 0; axis < D; ++axis) {
                        sum.lower[axis] = std::min(sum.lower[axis], x[axis]);
                        sum.upper[axis] = std::max(sum.upper[axis], x[axis]);
                    }
                }
                return sum;
            },
            [](Extent left, const Extent& right) {
                for (int axis = 0; axis < D; ++axis) {
                    left.lower[axis] = std::min(left.lower[axis], right.lower[axis]);
                    left.upper[axis] = std::max(left.upper[axis], right.upper[axis]);
                }
                return left;
            });
    }

    // The range holds ascending indices; coincident points are therefore in order already.
    void sort_cell(std::int64_t begin, std::int64_t end) {
        if (end - begin < 2) {
            return;
        }
        const Extent cell = extent(begin, end);
        if (begin == 0 && end == load_.count()) {
            sign_exponent_ = sign_exponent_of<T, D>(cell.lower, cell.upper);
        }
        const Parting top = parting<T, D>(cell.lower, cell.upper, sign_exponent_);
        if (top.exponent == coincident) {
            return;
        }
        const KeyMaker<T, D> key_of(top.exponent, sign_exponent_);
        parallel_for(begin, end, grain, [&](std::int64_t lower, std::int64_t upper) {
            for (std::int64_t i = lower; i < upper; ++i) {
                keys_[0][i] = key_of(load_(indices_[0][i]));
            }
        });
        const auto finish = [this](std::int64_t lower, std::int64_t upper) { finish_run(lower, upper); };
        const RadixSort sort({keys_[0].data(), indices_[0].data()}, {keys_[1].data(), indices_[1].data()}, finish);
        sort(begin, end, KeyMaker<T, D>::bits);
    }

    void finish_run(std::int64_t begin, std::int64_t end) {
        if (end - begin > longest_compared_run) {
            sort_cell(begin, end);
            return;
        }
        std::array<std::pair<std::array<T, D>, std::int32_t>, longest_compared_run> run;
        const auto last = run.begin() + (end - begin);
        for (std::int64_t i = begin; i < end; ++i) {
            run[i - begin] = {load_(indices_[0][i]), indices_[0][i]};
        }
        std::sort(run.begin(), last, [this](const auto& p, const auto& q) {
            const Parting at = parting<T, D>(p.first, q.first, sign_exponent_);
            return at.exponent == coincident ? p.second < q.second : p.first[at.axis] < q.first[at.axis];
        });
        for (std::int64_t i = begin; i < end; ++i) {
            indices_[0][i] = run[i - begin].second;
        }
    }

    Loader<T, D> load_;
    Buffer<std::uint64_t> keys_[2];
    Buffer<std::int32_t> indices_[2];
    int sign_exponent_ = 0;
};

} // namespace kith::detail
