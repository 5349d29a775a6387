#include "for_each.hpp"
#include "generator.hpp"

#include <vector>

namespace bench {

namespace {

template <class T>
struct PlacePoint {
    PointSet set;
    HaloArrays halos;
    T* points;

    __device__ void operator()(std::int64_t i) const { place_point(set, halos, i, points + i * set.dimension); }
};

} // namespace

template <class T>
DeviceArray<T> generate(const PointSet& set, const Stream& stream) {
    DeviceArray<T> points(set.count * set.dimension);
    if (set.kind == Kind::clustered) {
        const HaloTable table = make_halos(set.count, set.seed);
        const DeviceArray<std::int64_t> first(table.first);
        const DeviceArray<double> radius(table.radius);
        const DeviceArray<double> profile(table.profile_of_root);
        const HaloArrays halos{table.background, radius.size(), first.data(), radius.data(), profile.data()};
        for_each(stream.handle(), set.count, "placing points", PlacePoint<T>{set, halos, points.data()});
        stream.wait();
    } else {
        for_each(stream.handle(), set.count, "placing points", PlacePoint<T>{set, {}, points.data()});
        stream.wait();
    }
    return points;
}

bool places_as_the_host(const Stream& stream) {
    const PointSet set{Kind::clustered, 10'000};
    const HaloTable table = make_halos(set.count, set.seed);
    std::vector<float> wanted(static_cast<std::size_t>(set.count * set.dimension));
    for (std::int64_t i = 0; i < set.count; ++i) {
        place_point(set, HaloArrays::of(table), i, wanted.data() + i * set.dimension);
    }
    return generate<float>(set, stream).to_host() == wanted;
}

template DeviceArray<float> generate<float>(const PointSet&, const Stream&);
template DeviceArray<double> generate<double>(const PointSet&, const Stream&);

} // namespace bench
