// How HDF5 files are written to disk: a driver for the library that outlives a full disk.
//
// When a write fails, the library's own drivers report it, and a file that then cannot be flushed cannot be closed
// either: it stays behind in the library, keeps its space on the disk, and ends the program in a crash at exit. This
// driver remembers the first failure, drops what follows and reports success, so that every file can be closed; the
// caller asks for the failure before the file gets its name. Positioned writes, no buffering beyond the library's.
#pragma once

#include "io/hdf5_handle.hpp"

#include <filesystem>
#include <memory>

namespace kith::io::hdf5 {

class WritingDriver {
public:
    WritingDriver();
    WritingDriver(const WritingDriver&) = delete;
    WritingDriver& operator=(const WritingDriver&) = delete;
    ~WritingDriver();

    /// Makes a new file that writes through this driver, which must outlive it. Negative if it could not be made.
    [[nodiscard]] File create(const std::filesystem::path& path);

    /// The error number of the first write that failed; 0 if none has.
    [[nodiscard]] int failure() const noexcept { return *failure_; }

private:
    std::unique_ptr<int> failure_;
    hid_t id_;
};

} // namespace kith::io::hdf5
