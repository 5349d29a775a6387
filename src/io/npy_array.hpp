// Points from one array in numpy's .npy format, wherever its bytes are: a file, or a member of a .npz archive.
//
// float16 and float32 are read as float32, float64 and whole numbers as float64, of either byte order, in C or Fortran
// order. A float32 or float64 array in C order and the host's byte order is read straight into its place; all others
// pass through a block of fixed size. A structured array has the points in its fields x, y and z
// (coordinate_names.hpp), one record per point. The length that the shape implies is checked against the source's
// first.
#pragma once

#include "io/npy_format.hpp"

#include <kith/io.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace kith::io {

/// Bytes of known length that are read front to back; reading the front again is allowed.
class NpySource {
public:
    NpySource() = default;
    NpySource(const NpySource&) = delete;
    NpySource& operator=(const NpySource&) = delete;
    virtual ~NpySource() = default;

    [[nodiscard]] virtual std::string name() const = 0;   ///< for messages
    [[nodiscard]] virtual std::string format() const = 0; ///< SnapshotHeader::format
    [[nodiscard]] virtual std::int64_t length() const = 0;
    /// Fills `bytes` from `offset` on. Throws Error(file) if the source ends before.
    virtual void read(std::int64_t offset, std::span<std::byte> bytes) = 0;
};

/// The header, of whatever array. Throws Error(file) for one that is cut off or malformed.
[[nodiscard]] NpyHeader read_npy_header(NpySource& source);

/// What is said of the array as points, and its points. Both throw Error(file) for an array that is none of points.
[[nodiscard]] SnapshotHeader npy_points_header(NpySource& source);
[[nodiscard]] Snapshot npy_points(NpySource& source, const ReadOptions& options);

} // namespace kith::io
