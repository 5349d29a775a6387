// What a call that waits carries from stage to stage: the device, the caller's stream, memory, and the account of what
// each stage took.
//
// All work goes to the caller's stream. A call waits for that stream where it must know a count, and before it returns;
// it never waits for the device, but where ranks exchange points from memory of GPUs (message_memory.hpp).
#pragma once

#include <kith/execution.hpp>
#include <kith/progress.hpp>

#include "cuda/device_work.hpp"
#include "cuda/staged_copies.hpp"
#include "support/allocation_errors.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace kith::detail::inline KITH_GPU {

/// What a profiler shows by name, however it ends.
class ProfiledRange {
public:
    explicit ProfiledRange(const char* name);
    ProfiledRange(const ProfiledRange&) = delete;
    ProfiledRange& operator=(const ProfiledRange&) = delete;
    ~ProfiledRange();
};

class DeviceContext : public DeviceWork {
public:
    /// Throws device if there is none; invalid_argument for a negative budget.
    explicit DeviceContext(const Execution& execution);
    DeviceContext(const DeviceContext&) = delete;
    DeviceContext& operator=(const DeviceContext&) = delete;
    ~DeviceContext();

    /// Runs one stage and records what it took: the time between its first and its last work on the stream.
    template <class Body>
    void stage(const char* name, Body&& body) {
        begin_stage(name);
        {
            const ProfiledRange range(name);
            body();
        }
        end_stage();
    }

    /// Waits for the stream and hands out the account.
    [[nodiscard]] StageReports take_stages();

    /// Waits for the caller's stream.
    void wait();

    /// From anywhere to anywhere, on the stream. Large copies from memory of the host that is not pinned have read it
    /// when they return, those to such memory have written it.
    void copy(void* to, const void* from, std::int64_t bytes);

    /// Elements of the device, once all work so far is done.
    template <class T>
    [[nodiscard]] std::vector<T> to_host(const T* from, std::int64_t count) {
        std::vector<T> elements = with_allocation_errors("results", [&] { return std::vector<T>(count); });
        copy_to_host(elements.data(), from, count * static_cast<std::int64_t>(sizeof(T)));
        return elements;
    }
    template <class T>
    [[nodiscard]] T to_host(const T* from) {
        T element;
        copy_to_host(&element, from, sizeof(T));
        return element;
    }

    /// States that the current stage works on pieces of the points.
    void set_pieces(std::int64_t pieces) { stages_.back().pieces = pieces; }
    /// States how much of the current stage is done, for who follows the progress; may throw canceled.
    void done(double fraction);

private:
    struct Stage {
        std::string name;
        cudaEvent_t begin;
        cudaEvent_t end;
        std::int64_t peak_bytes;
        std::int64_t pieces;
    };

    void copy_to_host(void* to, const void* from, std::int64_t bytes);
    void begin_stage(const char* name);
    void end_stage();

    Progress progress_;
    std::vector<Stage> stages_;
    StagedCopies staged_;
    void* page_ = nullptr; ///< pinned, for what is small; taken when it is first needed
};

} // namespace kith::detail::inline KITH_GPU
