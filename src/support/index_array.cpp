#include <kith/error.hpp>
#include <kith/index_array.hpp>

namespace kith {

namespace {

template <class Index>
std::span<const Index> held(const std::vector<Index>* numbers, const char* what_to_do) {
    if (numbers == nullptr) {
        throw Error(ErrorKind::invalid_argument, what_to_do);
    }
    return *numbers;
}

} // namespace

std::span<const std::int32_t> IndexArray::as_int32() const {
    return held(std::get_if<std::vector<std::int32_t>>(&numbers_),
                "the numbers are 64 bits wide, as those of calls over ranks are; read them as such");
}

std::span<const std::int64_t> IndexArray::as_int64() const {
    return held(std::get_if<std::vector<std::int64_t>>(&numbers_),
                "the numbers are 32 bits wide; those of calls over ranks alone are 64 bits wide");
}

} // namespace kith
