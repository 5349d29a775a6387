#include "points_of.hpp"

#include <filesystem>
#include <fstream>
#include <type_traits>
#include <vector>

namespace bench {

std::int64_t points_in(const std::string& path) {
    std::error_code error;
    const std::uintmax_t bytes = std::filesystem::file_size(path, error);
    if (error || bytes == 0 || bytes % 12 != 0) {
        throw std::runtime_error(path + " is no file of points with three float32 each");
    }
    return static_cast<std::int64_t>(bytes / 12);
}

template <class T>
DeviceArray<T> points_of(const PointSet& set, const std::string& path, const Stream& stream) {
    if (path.empty()) {
        return generate<T>(set, stream);
    }
    std::vector<float> coordinates(static_cast<std::size_t>(points_in(path)) * 3);
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(coordinates.data()),
              static_cast<std::streamsize>(coordinates.size() * sizeof(float)));
    if (!file) {
        throw std::runtime_error(path + " cannot be read");
    }
    return DeviceArray<T>(std::vector<T>(coordinates.begin(), coordinates.end()));
}

std::string name_of(Kind kind) {
    switch (kind) {
    case Kind::uniform:
        return "uniform";
    case Kind::clustered:
        return "clustered";
    case Kind::lattice:
        return "lattice";
    case Kind::coincident:
        return "coincident";
    case Kind::outliers:
        break;
    }
    return "outliers";
}

template DeviceArray<float> points_of<float>(const PointSet&, const std::string&, const Stream&);
template DeviceArray<double> points_of<double>(const PointSet&, const std::string&, const Stream&);

} // namespace bench
