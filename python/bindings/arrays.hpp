// Arrays of any library as the core sees them, and the core's memory as NumPy arrays.
//
// Input is never copied here: kith/_arrays.py has converted it to float32 or float64 in this machine's byte order.
// DLPack and the buffer protocol give its address, strides and device.
#pragma once

#include <kith/catalog.hpp>
#include <kith/error.hpp>
#include <kith/points.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith::python {

namespace nb = nanobind;

using InputArray = nb::ndarray<nb::ro>; ///< of any library, type, shape and device
using OutputArray = nb::ndarray<>;      ///< the same, to be written to

/// The device of DLPack's numbers. Throws unsupported for devices that are neither the host nor an NVIDIA GPU.
[[nodiscard]] Device device_of(int type, int id);

/// Device that owns the memory of an array.
template <class Array>
[[nodiscard]] Device device_of(const Array& array) {
    return device_of(array.device_type(), array.device_id());
}

/// An n x d array as points. Throws invalid_argument, naming `what`, for another rank; nb::type_error for another type.
[[nodiscard]] PointsView points_of(const InputArray& array, const char* what);

/// Throws unsupported, naming `what` ("points is") and the call ("radius search runs"), for the memory of a GPU.
void require_host(const Device& memory, const std::string& what, const char* call);

/// Throws invalid_argument if what is in one's memory is not in reach of a call on the other.
void require_reach(const Device& memory, const Device& device, const char* what);

/// Throws invalid_argument for an array that a call on this device cannot reach: one that is neither in the host's
/// memory nor in its own.
template <class Array>
void require_reach(const Array& array, const Device& device, const char* what) {
    require_reach(device_of(array.device_type(), array.device_id()), device, what);
}

/// Throws invalid_argument for an array that is not row-major without gaps.
template <class Array>
void require_dense(const Array& array, const char* what) {
    std::int64_t dense = 1;
    for (std::size_t axis = array.ndim(); axis-- > 0;) {
        if (array.size() > 0 && array.shape(axis) > 1 && array.stride(axis) != dense) {
            throw Error(ErrorKind::invalid_argument, std::string(what) + " must be row-major without gaps");
        }
        dense *= static_cast<std::int64_t>(array.shape(axis));
    }
}

/// Where an array's numbers lie; the bounds alone, whatever is between its rows.
struct MemoryBounds {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;

    template <class Array>
    [[nodiscard]] static MemoryBounds of(const Array& array) {
        const auto first = reinterpret_cast<std::uintptr_t>(array.data_handle());
        if (array.size() == 0) {
            return {};
        }
        const std::intptr_t bytes = array.itemsize();
        MemoryBounds bounds{first, first + array.itemsize()};
        for (std::size_t axis = 0; axis < array.ndim(); ++axis) {
            const std::intptr_t reach = static_cast<std::intptr_t>(array.shape(axis) - 1) * array.stride(axis) * bytes;
            (reach < 0 ? bounds.begin : bounds.end) += static_cast<std::uintptr_t>(reach);
        }
        return bounds;
    }
    [[nodiscard]] bool overlaps(const MemoryBounds& other) const noexcept {
        return begin < other.end && other.begin < end;
    }
};

/// A one-dimensional array without gaps as a column.
[[nodiscard]] ScalarsView scalars_of(const InputArray& array, const char* what);
[[nodiscard]] std::span<const std::uint8_t> types_of(const InputArray& array);

/// None, a number, a sequence of numbers, or a Box.
[[nodiscard]] Box box_of(nb::handle box);

/// A one-dimensional array of T without gaps that the device can reach. Throws nb::type_error for another type or rank,
/// which name_of_type names, and invalid_argument otherwise.
template <class T, class Array>
[[nodiscard]] std::span<T> numbers_of(const Array& array, const Device& device, const char* what,
                                      const char* name_of_type) {
    if (array.dtype() != nb::dtype<std::remove_const_t<T>>() || array.ndim() != 1) {
        throw nb::type_error((std::string(what) + " must be a one-dimensional array of " + name_of_type).c_str());
    }
    require_dense(array, what);
    require_reach(array, device, (std::string("the array of ") + what).c_str());
    return {static_cast<T*>(array.data_handle()), array.size()};
}

/// The caller's memory for labels.
[[nodiscard]] inline std::span<std::int32_t> labels_of(const OutputArray& labels, const Device& device) {
    return numbers_of<std::int32_t>(labels, device, "labels", "int32");
}

/// Memory of `owner`, which the array keeps alive, as a NumPy array; columns = 0 makes a one-dimensional one.
template <class T>
[[nodiscard]] nb::object numpy_view(std::span<const T> values, std::size_t columns, nb::handle owner) {
    using Array = nb::ndarray<nb::numpy, const T>;
    if (columns == 0) {
        return nb::cast(Array(values.data(), {values.size()}, owner));
    }
    return nb::cast(Array(values.data(), {values.size() / columns, columns}, owner));
}
template <class T>
[[nodiscard]] nb::object numpy_view(const std::vector<T>& values, std::size_t columns, nb::handle owner) {
    return numpy_view(std::span<const T>(values), columns, owner);
}

/// Memory of a GPU, which the object keeps alive, for DLPack; columns = 0 makes it one-dimensional.
template <class T>
[[nodiscard]] nb::object device_view(std::span<const T> values, std::size_t columns, const Device& device,
                                     nb::handle owner) {
    const std::size_t shape[] = {columns == 0 ? values.size() : values.size() / columns, columns};
    return nb::cast(nb::ndarray<T>(const_cast<T*>(values.data()), columns == 0 ? 1 : 2, shape, owner, nullptr,
                                   nb::dtype<T>(), nb::device::cuda::value, device.index));
}

/// Keeps a result alive as long as arrays view it, and deletes it then.
template <class Result>
[[nodiscard]] nb::capsule owner_of(Result* result) {
    return {result, [](void* held) noexcept { delete static_cast<Result*>(held); }};
}

/// Memory of a result, whose user may write to it.
template <class T>
[[nodiscard]] nb::object array_of(std::span<const T> values, nb::handle owner) {
    return nb::cast(nb::ndarray<nb::numpy, T>(const_cast<T*>(values.data()), {values.size()}, owner));
}

/// An array that owns its numbers, to which its user may write; columns = 0 makes it one-dimensional.
template <class T>
[[nodiscard]] nb::object owned_array(std::vector<T> numbers, std::size_t columns = 0) {
    auto* const held = new std::vector<T>(std::move(numbers));
    const std::size_t shape[] = {columns == 0 ? held->size() : held->size() / columns, columns};
    return nb::cast(nb::ndarray<nb::numpy, T>(held->data(), columns == 0 ? 1 : 2, shape, owner_of(held)));
}

/// The numbers of an array of a pickled result.
template <class T>
[[nodiscard]] std::vector<T> copied(nb::handle array) {
    const auto numbers = nb::cast<nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>>(array);
    return {numbers.data(), numbers.data() + numbers.size()};
}

} // namespace kith::python
