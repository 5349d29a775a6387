#include "checks.hpp"

#include "metric.hpp"

#include <kith/execution.hpp>
#include <kith/points.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace bench {

namespace {

constexpr std::int64_t largest_compared = 1'000'000; // points that the CPU groups again
constexpr std::size_t largest_walked = 2000;         // members of a group whose pairs are all looked at
constexpr std::size_t sampled_groups = 12;

template <class... Parts>
std::string sentence(const Parts&... parts) {
    std::ostringstream text;
    text.precision(9);
    (text << ... << parts);
    return text.str();
}

/// Whether friendship connects all of these points.
bool connected(const std::vector<float>& places, int dimension, float period, float squared_length) {
    const std::size_t count = places.size() / static_cast<std::size_t>(dimension);
    std::vector<bool> reached(count);
    std::vector<std::size_t> open{0};
    reached[0] = true;
    std::size_t seen = 1;
    while (!open.empty()) {
        const float* here = places.data() + open.back() * static_cast<std::size_t>(dimension);
        open.pop_back();
        for (std::size_t other = 0; other < count; ++other) {
            const float* there = places.data() + other * static_cast<std::size_t>(dimension);
            if (!reached[other] && squared_distance(here, there, dimension, period) <= squared_length) {
                reached[other] = true;
                open.push_back(other);
                ++seen;
            }
        }
    }
    return seen == count;
}

/// The largest groups that can be walked, some of middling size, and the smallest of two or more.
std::vector<std::int32_t> groups_to_walk(const std::vector<std::int32_t>& sizes) {
    const auto begin = std::find_if(sizes.begin(), sizes.end(),
                                    [](std::int32_t size) { return static_cast<std::size_t>(size) <= largest_walked; });
    const auto end = std::find_if(begin, sizes.end(), [](std::int32_t size) { return size < 2; });
    const auto first = static_cast<std::size_t>(begin - sizes.begin());
    const auto there = static_cast<std::size_t>(end - begin);
    std::vector<std::int32_t> chosen;
    for (std::size_t i = 0; i < std::min(sampled_groups, there); ++i) {
        chosen.push_back(
            static_cast<std::int32_t>(first + i * (there - 1) / std::max<std::size_t>(1, sampled_groups - 1)));
    }
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    return chosen;
}

Flaw compare_with_cpu(const DeviceArray<std::int32_t>& labels, double length, const NormalizedPoints<float>& points) {
    std::vector<float> places(static_cast<std::size_t>(points.count * points.dimension));
    check(cudaMemcpy(places.data(), points.data, places.size() * sizeof(float), cudaMemcpyDeviceToHost),
          "copying to the host");
    const kith::FofResult wanted = kith::fof(kith::PointsView(places.data(), points.count, points.dimension),
                                             kith::LinkingLength::absolute(length),
                                             {.box = kith::Box::periodic(static_cast<double>(points.period))});
    const std::vector<std::int32_t> found = labels.to_host();
    const auto wrong = std::mismatch(found.begin(), found.end(), wanted.labels().begin());
    if (wrong.first != found.end()) {
        return sentence("row ", wrong.first - found.begin(), " has label ", *wrong.first, ", on the CPU ",
                        *wrong.second);
    }
    return {};
}

} // namespace

template <class T>
RowSample<T>::RowSample(std::int64_t queries, std::int64_t neighbors)
    : k(neighbors), stride(std::max<std::int64_t>(1, queries / sampled_rows)), rows((queries + stride - 1) / stride),
      indices(rows * k), distances(rows * k) {
    indices.fill(0x7f);
    distances.fill(0xff);
}

template <class T>
Flaw check_rows(const RowSample<T>& sample, const NormalizedPoints<T>& points, const NormalizedPoints<T>& queries) {
    const std::vector<std::int32_t> indices = sample.indices.to_host();
    const std::vector<T> distances = sample.distances.to_host();
    std::vector<std::int32_t> numbers;
    for (std::int64_t row = 0; row < sample.rows; ++row) {
        numbers.push_back(static_cast<std::int32_t>(row * sample.stride));
    }
    for (std::size_t i = 0; i < indices.size(); ++i) {
        if (indices[i] < 0 || indices[i] >= points.count) {
            return sentence("row ", numbers[i / static_cast<std::size_t>(sample.k)], " names point ", indices[i]);
        }
    }
    const std::vector<T> places = gathered(queries, numbers);
    const std::vector<T> neighbors = gathered(points, indices);
    const int dimension = points.dimension;
    std::vector<Rank<T>> last;
    for (std::int64_t row = 0; row < sample.rows; ++row) {
        Rank<T> before{T(-1), -1};
        for (std::int64_t column = 0; column < sample.k; ++column) {
            const std::int64_t entry = row * sample.k + column;
            const auto i = static_cast<std::size_t>(entry);
            const T d2 = squared_distance(neighbors.data() + entry * dimension, places.data() + row * dimension,
                                          dimension, points.period);
            if (!(std::sqrt(d2) == distances[i])) {
                return sentence("row ", numbers[static_cast<std::size_t>(row)], ", neighbor ", column, ": point ",
                                indices[i], " is at ", std::sqrt(d2), ", not at ", distances[i]);
            }
            if (d2 < before.squared_distance || (d2 == before.squared_distance && indices[i] <= before.index)) {
                return sentence("row ", numbers[static_cast<std::size_t>(row)], ", neighbor ", column,
                                " is out of order");
            }
            before = {d2, indices[i]};
        }
        last.push_back(before);
    }
    const std::vector<std::int64_t> nearer = count_before(points, places, last);
    for (std::size_t row = 0; row < nearer.size(); ++row) {
        if (nearer[row] != sample.k - 1) {
            return sentence("row ", numbers[row], ": ", nearer[row], " points come before the last of ", sample.k,
                            " neighbors");
        }
    }
    return {};
}

Flaw check_groups(const DeviceArray<std::int32_t>& labels, const std::vector<std::int32_t>& sizes, std::int64_t groups,
                  double length, const NormalizedPoints<float>& points) {
    if (groups < 1 || groups > points.count || std::ssize(sizes) != groups) {
        return sentence(groups, " groups, ", sizes.size(), " sizes, of ", points.count, " points");
    }
    if (!std::is_sorted(sizes.rbegin(), sizes.rend()) || sizes.back() < 1) {
        return "the sizes of groups are not in order, or smaller than one";
    }
    if (const std::int64_t wrong = count_wrong_sizes(labels, sizes, groups); wrong != 0) {
        return sentence(wrong, " groups are not of the size stated");
    }
    const auto rounded = static_cast<float>(length);
    const float squared_length = rounded * rounded;

    std::vector<std::int32_t> sample;
    const std::int64_t stride = std::max<std::int64_t>(1, points.count / sampled_rows);
    for (std::int64_t i = 0; i < points.count; i += stride) {
        sample.push_back(static_cast<std::int32_t>(i));
    }
    for (const std::int32_t group : groups_to_walk(sizes)) {
        const std::vector<std::int32_t> members = rows_with(labels, group, sizes[static_cast<std::size_t>(group)]);
        if (!connected(gathered(points, members), points.dimension, points.period, squared_length)) {
            return sentence("group ", group, " of ", members.size(), " members does not hang together");
        }
        sample.insert(sample.end(), members.begin(),
                      members.begin() + std::min<std::ptrdiff_t>(16, std::ssize(members)));
    }
    std::vector<std::int32_t> own;
    for (const std::int32_t row : sample) {
        own.push_back(labels.to_host(row, 1).front());
    }
    const std::vector<std::int64_t> strangers =
        count_strangers(points, labels.data(), gathered(points, sample), own, squared_length);
    for (std::size_t i = 0; i < strangers.size(); ++i) {
        if (strangers[i] != 0) {
            return sentence("row ", sample[i], " has ", strangers[i], " friends of other labels than its own, ",
                            own[i]);
        }
    }
    return points.count <= largest_compared ? compare_with_cpu(labels, length, points) : Flaw{};
}

template struct RowSample<float>;
template struct RowSample<double>;
template Flaw check_rows<float>(const RowSample<float>&, const NormalizedPoints<float>&,
                                const NormalizedPoints<float>&);
template Flaw check_rows<double>(const RowSample<double>&, const NormalizedPoints<double>&,
                                 const NormalizedPoints<double>&);

} // namespace bench
