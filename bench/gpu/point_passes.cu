#include "counter_random.hpp"
#include "for_each.hpp"
#include "metric.hpp"
#include "point_passes.hpp"

#include <algorithm>

namespace bench {

namespace {

using Count = unsigned long long;

std::vector<std::int64_t> on_host(const DeviceArray<Count>& counts) {
    check(cudaDeviceSynchronize(), "waiting for a check");
    const std::vector<Count> numbers = counts.to_host();
    return {numbers.begin(), numbers.end()};
}

DeviceArray<Count> zeros(std::int64_t size) {
    return DeviceArray<Count>(std::vector<Count>(static_cast<std::size_t>(size)));
}

template <class T>
struct Gather {
    NormalizedPoints<T> points;
    const std::int32_t* which;
    T* out;

    __device__ void operator()(std::int64_t i) const {
        for (int axis = 0; axis < points.dimension; ++axis) {
            out[i * points.dimension + axis] = points.data[which[i] * std::int64_t{points.dimension} + axis];
        }
    }
};

template <class T>
struct CountBefore {
    NormalizedPoints<T> points;
    const T* places;
    const Rank<T>* ranks;
    std::int64_t asked;
    Count* counts;

    __device__ void operator()(std::int64_t i) const {
        const T* point = points.data + i * points.dimension;
        for (std::int64_t place = 0; place < asked; ++place) {
            const T d2 = squared_distance(point, places + place * points.dimension, points.dimension, points.period);
            const Rank<T> rank = ranks[place];
            if (d2 < rank.squared_distance || (d2 == rank.squared_distance && i < rank.index)) {
                count_one(counts + place);
            }
        }
    }
};

template <class T>
struct CountStrangers {
    NormalizedPoints<T> points;
    const std::int32_t* labels;
    const T* places;
    const std::int32_t* labels_of_places;
    std::int64_t asked;
    T squared_length;
    Count* counts;

    __device__ void operator()(std::int64_t i) const {
        const T* point = points.data + i * points.dimension;
        const std::int32_t label = labels[i];
        for (std::int64_t place = 0; place < asked; ++place) {
            const T d2 = squared_distance(point, places + place * points.dimension, points.dimension, points.period);
            if (d2 <= squared_length && label != labels_of_places[place]) {
                count_one(counts + place);
            }
        }
    }
};

struct CountMembers {
    const std::int32_t* labels;
    std::int64_t groups;
    std::int32_t* members;
    Count* outside;

    __device__ void operator()(std::int64_t i) const {
        if (labels[i] < 0 || labels[i] >= groups) {
            count_one(outside);
        } else {
            atomicAdd(members + labels[i], 1);
        }
    }
};

struct CompareSizes {
    const std::int32_t* members;
    const std::int32_t* sizes;
    std::int64_t stated;
    Count* wrong;

    __device__ void operator()(std::int64_t group) const {
        if (members[group] != (group < stated ? sizes[group] : 1)) {
            count_one(wrong);
        }
    }
};

struct ListRows {
    const std::int32_t* labels;
    std::int32_t label;
    std::int64_t room;
    std::int32_t* rows;
    Count* listed;

    __device__ void operator()(std::int64_t i) const {
        if (labels[i] == label) {
            const Count place = atomicAdd(listed, 1ULL);
            if (place < static_cast<Count>(room)) {
                rows[place] = static_cast<std::int32_t>(i);
            }
        }
    }
};

template <class T>
struct CopyRows {
    const T* table;
    std::int64_t stride;
    std::int64_t k;
    T* sample;

    __device__ void operator()(std::int64_t i) const { sample[i] = table[i / k * stride * k + i % k]; }
};

template <class T>
struct ScatterRows {
    const std::int32_t* numbers;
    const T* block;
    std::int64_t stride;
    std::int64_t k;
    T* sample;

    __device__ void operator()(std::int64_t row) const {
        if (numbers[row] % stride == 0) {
            for (std::int64_t column = 0; column < k; ++column) {
                sample[numbers[row] / stride * k + column] = block[row * k + column];
            }
        }
    }
};

struct AddWords {
    const std::uint32_t* words;
    std::int64_t count;
    Count* sum;

    __device__ void operator()(std::int64_t chunk) const {
        Count own = 0;
        for (std::int64_t i = chunk; i < count; i += chunks) {
            own += scrambled(static_cast<std::uint64_t>(i) << 32 | words[i]);
        }
        atomicAdd(sum, own);
    }

    static constexpr std::int64_t chunks = std::int64_t{1} << 19;
};

} // namespace

template <class T>
std::vector<T> gathered(const NormalizedPoints<T>& points, const std::vector<std::int32_t>& which) {
    const DeviceArray<std::int32_t> chosen(which);
    const DeviceArray<T> out(chosen.size() * points.dimension);
    for_each(nullptr, chosen.size(), "gathering points", Gather<T>{points, chosen.data(), out.data()});
    check(cudaDeviceSynchronize(), "waiting for a check");
    return out.to_host();
}

template <class T>
std::vector<std::int64_t> count_before(const NormalizedPoints<T>& points, const std::vector<T>& places,
                                       const std::vector<Rank<T>>& ranks) {
    const DeviceArray<T> asked(places);
    const DeviceArray<Rank<T>> last(ranks);
    const DeviceArray<Count> counts = zeros(last.size());
    for_each(nullptr, points.count, "counting nearer points",
             CountBefore<T>{points, asked.data(), last.data(), last.size(), counts.data()});
    return on_host(counts);
}

template <class T>
std::vector<std::int64_t> count_strangers(const NormalizedPoints<T>& points, const std::int32_t* labels,
                                          const std::vector<T>& places,
                                          const std::vector<std::int32_t>& labels_of_places, T squared_length) {
    const DeviceArray<T> asked(places);
    const DeviceArray<std::int32_t> own(labels_of_places);
    const DeviceArray<Count> counts = zeros(own.size());
    for_each(nullptr, points.count, "counting strangers",
             CountStrangers<T>{points, labels, asked.data(), own.data(), own.size(), squared_length, counts.data()});
    return on_host(counts);
}

std::int64_t count_wrong_sizes(const DeviceArray<std::int32_t>& labels, const std::vector<std::int32_t>& sizes,
                               std::int64_t groups) {
    const DeviceArray<std::int32_t> stated(sizes);
    const DeviceArray<std::int32_t> members(groups);
    members.fill(0);
    const DeviceArray<Count> wrong = zeros(1);
    for_each(nullptr, labels.size(), "counting members",
             CountMembers{labels.data(), groups, members.data(), wrong.data()});
    for_each(nullptr, groups, "comparing sizes",
             CompareSizes{members.data(), stated.data(), stated.size(), wrong.data()});
    return on_host(wrong).front();
}

std::vector<std::int32_t> rows_with(const DeviceArray<std::int32_t>& labels, std::int32_t label, std::int64_t size) {
    const DeviceArray<std::int32_t> rows(size);
    const DeviceArray<Count> listed = zeros(1);
    for_each(nullptr, labels.size(), "listing rows", ListRows{labels.data(), label, size, rows.data(), listed.data()});
    std::vector<std::int32_t> found = rows.to_host(0, std::min(size, on_host(listed).front()));
    std::sort(found.begin(), found.end());
    return found;
}

template <class T>
void copy_rows(const T* table, std::int64_t rows, std::int64_t stride, std::int64_t k, T* sample, cudaStream_t stream) {
    for_each(stream, rows * k, "copying rows", CopyRows<T>{table, stride, k, sample});
}

template <class T>
void scatter_rows(const std::int32_t* numbers, const T* block, std::int64_t rows, std::int64_t stride, std::int64_t k,
                  T* sample, cudaStream_t stream) {
    for_each(stream, rows, "scattering rows", ScatterRows<T>{numbers, block, stride, k, sample});
}

std::uint64_t checksum(const void* words, std::int64_t bytes, const Stream& stream) {
    const DeviceArray<Count> sum = zeros(1);
    const AddWords add{static_cast<const std::uint32_t*>(words), bytes / 4, sum.data()};
    for_each(stream.handle(), AddWords::chunks, "adding words", add);
    stream.wait();
    return sum.to_host().front();
}

#define BENCH_INSTANTIATE(T)                                                                                           \
    template std::vector<T> gathered<T>(const NormalizedPoints<T>&, const std::vector<std::int32_t>&);                 \
    template std::vector<std::int64_t> count_before<T>(const NormalizedPoints<T>&, const std::vector<T>&,              \
                                                       const std::vector<Rank<T>>&);                                   \
    template std::vector<std::int64_t> count_strangers<T>(const NormalizedPoints<T>&, const std::int32_t*,             \
                                                          const std::vector<T>&, const std::vector<std::int32_t>&, T); \
    template void copy_rows<T>(const T*, std::int64_t, std::int64_t, std::int64_t, T*, cudaStream_t);                  \
    template void scatter_rows<T>(const std::int32_t*, const T*, std::int64_t, std::int64_t, std::int64_t, T*,         \
                                  cudaStream_t);
BENCH_INSTANTIATE(float)
BENCH_INSTANTIATE(double)
#undef BENCH_INSTANTIATE
template void copy_rows<std::int32_t>(const std::int32_t*, std::int64_t, std::int64_t, std::int64_t, std::int32_t*,
                                      cudaStream_t);
template void scatter_rows<std::int32_t>(const std::int32_t*, const std::int32_t*, std::int64_t, std::int64_t,
                                         std::int64_t, std::int32_t*, cudaStream_t);

} // namespace bench
