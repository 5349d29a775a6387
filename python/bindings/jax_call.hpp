// What handlers of custom calls share: errors for XLA, arrays, and those of a batch.
//
// jax.vmap puts the dimensions of a batch before those that a call is about. An operand has each of them as the results
// have it, or 1 where all elements share the operand (vmap_method "expand_dims" of JAX).
#pragma once

#include <kith/box.hpp>
#include <kith/error.hpp>
#include <kith/knn.hpp>
#include <kith/points.hpp>

#include <nanobind/nanobind.h>

#include <xla/ffi/api/ffi.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <span>
#include <string>

namespace kith::python {

namespace ffi = xla::ffi;
namespace nb = nanobind;

using Numbers = ffi::Span<const double>;
using Output = ffi::Result<ffi::AnyBuffer>;

inline ffi::ErrorCode code_of(ErrorKind kind) {
    switch (kind) {
    case ErrorKind::invalid_argument:
    case ErrorKind::invalid_points:
        return ffi::ErrorCode::kInvalidArgument;
    case ErrorKind::too_large:
        return ffi::ErrorCode::kOutOfRange;
    case ErrorKind::out_of_memory:
        return ffi::ErrorCode::kResourceExhausted;
    case ErrorKind::unsupported:
        return ffi::ErrorCode::kUnimplemented;
    case ErrorKind::canceled:
        return ffi::ErrorCode::kCancelled;
    case ErrorKind::file:
    case ErrorKind::device:
    case ErrorKind::other_rank:
        break;
    }
    return ffi::ErrorCode::kInternal;
}

/// Nothing may be thrown through XLA.
template <class Work>
ffi::Error guarded(const Work& work) {
    try {
        work();
    } catch (const Error& error) {
        return {code_of(error.kind()), error.what()};
    } catch (const std::exception& error) {
        return {ffi::ErrorCode::kInternal, error.what()};
    }
    return ffi::Error::Success();
}

class Batch {
public:
    /// `own`: dimensions of the result of one element.
    Batch(Output result, std::size_t own) : shape_(result->dimensions()) { shape_ = shape_.first(shape_.size() - own); }

    [[nodiscard]] std::int64_t count() const { return product(shape_); }
    /// How many arrays an operand has, each of `own` dimensions.
    [[nodiscard]] std::int64_t arrays(const ffi::AnyBuffer& operand, std::size_t own) const {
        const auto shape = operand.dimensions();
        return product(shape.first(shape.size() - own));
    }
    /// Which of an operand's arrays is that of an element.
    [[nodiscard]] std::int64_t array_of(const ffi::AnyBuffer& operand, std::int64_t element) const {
        const auto shape = operand.dimensions();
        std::int64_t array = 0;
        std::int64_t stride = 1;
        for (std::size_t axis = shape_.size(); axis-- > 0; element /= shape_[axis]) {
            array += shape[axis] == 1 ? 0 : element % shape_[axis] * stride;
            stride *= shape[axis];
        }
        return array;
    }

    /// What errors say of an element; nothing if there is no batch.
    [[nodiscard]] std::string place_of(std::int64_t element) const {
        return shape_.size() == 0 ? "" : " (element " + std::to_string(element) + " of the batch)";
    }

    /// Calls visit(element) for each. Errors name the element.
    template <class Visitor>
    void for_each(const Visitor& visit) const {
        const std::int64_t elements = count();
        for (std::int64_t element = 0; element < elements; ++element) {
            try {
                visit(element);
            } catch (const Error& error) {
                throw Error(error.kind(), error.what() + place_of(element));
            }
        }
    }

private:
    static std::int64_t product(ffi::Span<const std::int64_t> shape) {
        std::int64_t product = 1;
        for (const std::int64_t extent : shape) {
            product *= extent;
        }
        return product;
    }

    ffi::Span<const std::int64_t> shape_;
};

inline std::size_t bytes_of_element(const ffi::AnyBuffer& buffer) {
    return ffi::ByteWidth(buffer.element_type());
}

inline DType dtype_of(const ffi::AnyBuffer& buffer) {
    return buffer.element_type() == ffi::DataType::F64 ? DType::float64 : DType::float32;
}

/// An operand's array of that number, of `own` dimensions.
inline const std::byte* array_in(const ffi::AnyBuffer& buffer, std::size_t own, std::int64_t array) {
    auto offset = static_cast<std::size_t>(array) * bytes_of_element(buffer);
    for (const std::int64_t extent : buffer.dimensions().last(own)) {
        offset *= static_cast<std::size_t>(extent);
    }
    return static_cast<const std::byte*>(buffer.untyped_data()) + offset;
}

/// `arrays` consecutive arrays of n x d, from `first` on, as one.
inline PointsView points_of(const ffi::AnyBuffer& buffer, const Device& device, std::int64_t first = 0,
                            std::int64_t arrays = 1) {
    const auto shape = buffer.dimensions().last(2);
    return {array_in(buffer, 2, first),
            dtype_of(buffer),
            arrays * shape[0],
            static_cast<int>(std::min<std::int64_t>(shape[1], std::numeric_limits<int>::max())),
            shape[1],
            1,
            device};
}

/// Elements `first` to `first + arrays - 1` of a result whose elements have `own` dimensions.
template <class T>
std::span<T> elements_of(Output result, std::size_t own, std::int64_t first, std::int64_t arrays = 1) {
    std::size_t size = 1;
    for (const std::int64_t extent : result->dimensions().last(own)) {
        size *= static_cast<std::size_t>(extent);
    }
    return {static_cast<T*>(result->untyped_data()) + static_cast<std::size_t>(first) * size,
            static_cast<std::size_t>(arrays) * size};
}

inline NeighborRows rows_of(Output distances, Output indices, std::int64_t first, std::int64_t arrays) {
    const auto make = [&]<class Index, class T>(Index, T) {
        return NeighborRows(elements_of<Index>(indices, 2, first, arrays), elements_of<T>(distances, 2, first, arrays));
    };
    const bool is_wide = indices->element_type() == ffi::DataType::S64;
    if (distances->element_type() == ffi::DataType::F64) {
        return is_wide ? make(std::int64_t{}, double{}) : make(std::int32_t{}, double{});
    }
    return is_wide ? make(std::int64_t{}, float{}) : make(std::int32_t{}, float{});
}

/// Of d periods, 0 where an axis is open, and d origins, NaN where none is given.
inline Box box_of(Numbers periods, Numbers origins) {
    Box box = Box::periodic(std::span<const double>(periods.begin(), periods.size()));
    for (std::size_t axis = 0; axis < origins.size(); ++axis) {
        if (!std::isnan(origins[axis])) {
            box = box.with_origin(static_cast<int>(axis), origins[axis]);
        }
    }
    return box;
}

inline nb::capsule capsule_of(XLA_FFI_Handler* handler) {
    return nb::capsule(reinterpret_cast<void*>(handler));
}

/// By name and platform, as JAX registers them.
void add_group_handlers(nb::dict& handlers);
void add_sum_handlers(nb::dict& handlers);

} // namespace kith::python
