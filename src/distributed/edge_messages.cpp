#include "distributed/edge_messages.hpp"

#include "distributed/differences.hpp"
#include "distributed/packed_boxes.hpp"

#include <bit>
#include <limits>
#include <type_traits>

namespace kith::detail {

namespace {

/// Rounded up, to 10 bits after the first.
template <Coordinate T>
struct PackedBound {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    static constexpr int shift = std::numeric_limits<T>::digits - 1 - 10;

    static std::int64_t of(T bound) {
        return static_cast<std::int64_t>((std::bit_cast<Bits>(bound) + ((Bits{1} << shift) - 1)) >> shift);
    }
    static T value(std::int64_t packed) { return std::bit_cast<T>(static_cast<Bits>(packed) << shift); }
};

/// Whether each request of a run has a bound of its own.
template <Coordinate T>
bool has_bounds(bool has_cores, std::int64_t component) {
    return has_cores || component == EdgeRequest<T>::any;
}

/// Where runs of requests of one component begin, and their end.
template <Coordinate T>
std::vector<std::size_t> runs_of(std::span<const EdgeRequest<T>> requests) {
    std::vector<std::size_t> runs;
    for (std::size_t i = 0; i < requests.size(); ++i) {
        if (i == 0 || requests[i].component != requests[i - 1].component) {
            runs.push_back(i);
        }
    }
    runs.push_back(requests.size());
    return runs;
}

} // namespace

template <Coordinate T>
T rounded_bound(T bound) {
    return PackedBound<T>::value(PackedBound<T>::of(bound));
}

template <Coordinate T>
void put_edge_requests(MessageWriter& writer, int dimension, bool has_cores, std::span<const EdgeRequest<T>> requests) {
    put_bits(writer, requests.size());
    PackedBoxWriter<T> boxes(writer, dimension);
    for (const EdgeRequest<T>& request : requests) {
        boxes.put(request.box, request.whole, request.bits);
    }
    const std::vector<std::size_t> runs = runs_of(requests);
    for (std::size_t r = 0; r + 1 < runs.size(); ++r) {
        put_bits(writer, runs[r + 1] - runs[r]);
    }
    DifferenceWriter components(writer);
    for (std::size_t r = 0; r + 1 < runs.size(); ++r) {
        components.put(requests[runs[r]].component);
    }
    DifferenceWriter bounds(writer);
    for (std::size_t r = 0; r + 1 < runs.size(); ++r) {
        const std::size_t end = has_bounds<T>(has_cores, requests[runs[r]].component) ? runs[r + 1] : runs[r] + 1;
        for (std::size_t i = runs[r]; i < end; ++i) {
            bounds.put(PackedBound<T>::of(requests[i].bound));
        }
    }
    DifferenceWriter cores(writer);
    for (std::size_t i = 0; has_cores && i < requests.size(); ++i) {
        cores.put(PackedBound<T>::of(requests[i].core));
    }
}

template <Coordinate T>
std::vector<EdgeRequest<T>> taken_edge_requests(MessageReader& reader, int dimension, bool has_cores) {
    std::vector<EdgeRequest<T>> requests(take_bits(reader));
    PackedBoxReader<T> boxes(reader, dimension);
    for (EdgeRequest<T>& request : requests) {
        request.box = boxes.take();
    }
    std::vector<std::size_t> runs{0};
    while (runs.back() < requests.size()) {
        runs.push_back(runs.back() + static_cast<std::size_t>(take_bits(reader)));
    }
    std::vector<std::int64_t> components;
    take_differences(reader, std::ssize(runs) - 1, 0, components);
    std::int64_t bound = 0;
    for (std::size_t r = 0; r < components.size(); ++r) {
        for (std::size_t i = runs[r]; i < runs[r + 1]; ++i) {
            if (i == runs[r] || has_bounds<T>(has_cores, components[r])) {
                bound += take_number(reader);
            }
            requests[i].bound = PackedBound<T>::value(bound);
            requests[i].component = components[r];
        }
    }
    if (has_cores) {
        std::vector<std::int64_t> cores;
        take_differences(reader, std::ssize(requests), 0, cores);
        for (std::size_t i = 0; i < requests.size(); ++i) {
            requests[i].core = PackedBound<T>::value(cores[i]);
        }
    }
    return requests;
}

template <Coordinate T>
void put_answered_bounds(MessageWriter& writer, std::span<const EdgeRequest<T>> asked, std::span<const T> answered) {
    std::vector<std::uint8_t> is_lower((asked.size() + 7) / 8); // a bit each
    for (std::size_t i = 0; i < asked.size(); ++i) {
        is_lower[i / 8] |= static_cast<std::uint8_t>((answered[i] < asked[i].bound ? 1 : 0) << (i % 8));
    }
    writer.put(std::span<const std::uint8_t>(is_lower));
    for (std::size_t i = 0; i < asked.size(); ++i) {
        if (answered[i] < asked[i].bound) {
            writer.put_value(answered[i]);
        }
    }
}

template <Coordinate T>
void take_answered_bounds(MessageReader& reader, std::span<EdgeRequest<T>> asked) {
    std::vector<std::uint8_t> is_lower;
    reader.take((std::ssize(asked) + 7) / 8, is_lower);
    for (std::size_t i = 0; i < asked.size(); ++i) {
        if (((is_lower[i / 8] >> (i % 8)) & 1) != 0) {
            asked[i].bound = reader.take<T>();
        }
    }
}

template float rounded_bound(float);
template void put_edge_requests(MessageWriter&, int, bool, std::span<const EdgeRequest<float>>);
template std::vector<EdgeRequest<float>> taken_edge_requests(MessageReader&, int, bool);
template void put_answered_bounds(MessageWriter&, std::span<const EdgeRequest<float>>, std::span<const float>);
template void take_answered_bounds(MessageReader&, std::span<EdgeRequest<float>>);
template double rounded_bound(double);
template void put_edge_requests(MessageWriter&, int, bool, std::span<const EdgeRequest<double>>);
template std::vector<EdgeRequest<double>> taken_edge_requests(MessageReader&, int, bool);
template void put_answered_bounds(MessageWriter&, std::span<const EdgeRequest<double>>, std::span<const double>);
template void take_answered_bounds(MessageReader&, std::span<EdgeRequest<double>>);

} // namespace kith::detail
