#include "arrays.hpp"

#include "numbers.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace kith::python {

namespace {

DType real_type_of(const InputArray& array, const char* what) {
    if (array.dtype() == nb::dtype<float>()) {
        return DType::float32;
    }
    if (array.dtype() == nb::dtype<double>()) {
        return DType::float64;
    }
    const nb::dlpack::dtype type = array.dtype();
    const auto is = [&](nb::dlpack::dtype_code code) { return type.code == static_cast<std::uint8_t>(code); };
    const char* kind = is(nb::dlpack::dtype_code::Int)      ? "int"
                       : is(nb::dlpack::dtype_code::UInt)   ? "uint"
                       : is(nb::dlpack::dtype_code::Float)  ? "float"
                       : is(nb::dlpack::dtype_code::Bfloat) ? "bfloat"
                                                            : "another type of bits: ";
    throw nb::type_error(
        (std::string(what) + " is " + kind + std::to_string(type.bits) + "; it must be float32 or float64").c_str());
}

[[noreturn]] void refuse_rank(const char* what, std::size_t rank, const char* wanted) {
    throw Error(ErrorKind::invalid_argument, std::string(what) + " has " + std::to_string(rank) +
                                                 (rank == 1 ? " axis" : " axes") + "; it must be " + wanted);
}

} // namespace

Device device_of(int type, int id) {
    switch (type) {
    case nb::device::cpu::value:
    case nb::device::cuda_host::value:
        return {};
    case nb::device::cuda::value:
    case nb::device::cuda_managed::value:
        return {DeviceKind::cuda, id};
    default:
        throw Error(ErrorKind::unsupported, "the array is in the memory of a device of DLPack's type " +
                                                std::to_string(type) +
                                                "; kith reads the host's memory and that of NVIDIA GPUs");
    }
}

PointsView points_of(const InputArray& array, const char* what) {
    if (array.ndim() != 2) {
        refuse_rank(what, array.ndim(), "n x d: a row for each point");
    }
    return {array.data_handle(),
            real_type_of(array, what),
            static_cast<std::int64_t>(array.shape(0)),
            static_cast<int>(std::min<std::size_t>(array.shape(1), std::numeric_limits<int>::max())),
            array.stride(0),
            array.stride(1),
            device_of(array)};
}

void require_host(const Device& memory, const std::string& what, const char* call) {
    if (memory.kind != DeviceKind::cpu) {
        throw Error(ErrorKind::unsupported, what + " in the memory of GPU " + std::to_string(memory.index) + ", but " +
                                                call + " on the CPU only; copy the points to the host's memory");
    }
}

void require_reach(const Device& memory, const Device& device, const char* what) {
    if (memory.kind == DeviceKind::cpu || (device.kind == memory.kind && device.index == memory.index)) {
        return;
    }
    const std::string gpu = "GPU " + std::to_string(memory.index);
    throw Error(ErrorKind::invalid_argument,
                std::string(what) + " lies in the memory of " + gpu + ", but the call runs on " +
                    (device.kind == DeviceKind::cpu ? std::string("the CPU") : "GPU " + std::to_string(device.index)) +
                    "; copy it, or run the call there");
}

ScalarsView scalars_of(const InputArray& array, const char* what) {
    if (array.ndim() != 1) {
        refuse_rank(what, array.ndim(), "one-dimensional: a number for each point");
    }
    require_dense(array, what);
    const std::size_t count = array.shape(0);
    if (real_type_of(array, what) == DType::float32) {
        return std::span<const float>(static_cast<const float*>(array.data_handle()), count);
    }
    return std::span<const double>(static_cast<const double*>(array.data_handle()), count);
}

std::span<const std::uint8_t> types_of(const InputArray& array) {
    if (array.ndim() != 1) {
        refuse_rank("types", array.ndim(), "one-dimensional: a number for each point");
    }
    if (array.dtype() != nb::dtype<std::uint8_t>()) {
        throw nb::type_error("types must be uint8");
    }
    require_dense(array, "types");
    return {static_cast<const std::uint8_t*>(array.data_handle()), array.shape(0)};
}

Box box_of(nb::handle box) {
    if (box.is_none()) {
        return {};
    }
    if (nb::isinstance<Box>(box)) {
        return nb::cast<Box>(box);
    }
    constexpr auto what = "box must be None, one period for all axes, a sequence with a period for each, or a kith.Box";
    if (!is_sequence(box)) {
        return Box::periodic(number_of(box, what));
    }
    const std::size_t count = nb::len(box);
    if (count == 0 || count > max_dimension) {
        throw Error(ErrorKind::invalid_argument, "box has " + std::to_string(count) +
                                                     " periods; give one for each axis, of which there are 2 to 8, or "
                                                     "None for open space");
    }
    std::vector<double> periods;
    for (const nb::handle period : nb::iter(box)) {
        periods.push_back(number_of(period, what));
    }
    return Box::periodic(std::span<const double>(periods));
}

} // namespace kith::python
