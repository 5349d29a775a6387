// The streams of the emulated devices: work is put on a stream and waits there until somebody waits for it.
//
// A device may do the work of a stream at any time, and one stream's before another's, as long as the order within each
// stream, events and the rules of the legacy stream allow it. Here it is done as late as possible, save for what the
// seed (KITH_EMULATION_SEED) runs early, so that a wait that is missing is missed. The legacy stream of a device waits
// for all earlier work of its other streams, and they for its, except streams that were made non-blocking.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

struct CUstream_st;

namespace kith::emulation {

using Stream = ::CUstream_st;

/// All work of a stream up to some number.
struct Mark {
    Stream* stream = nullptr;
    std::uint64_t number = 0;
};

struct StreamTask {
    std::function<void()> run;
    std::vector<Mark> after;
    bool frees_memory = false;
};

} // namespace kith::emulation

struct CUstream_st {
    int device = 0;
    bool heeds_legacy = true;
    std::deque<kith::emulation::StreamTask> tasks{};
    std::uint64_t done = 0;    ///< tasks
    std::uint64_t running = 0; ///< 1 while a task is

    [[nodiscard]] kith::emulation::Mark end() { return {this, done + running + tasks.size()}; }
};

namespace kith::emulation {

/// The legacy stream of a device.
[[nodiscard]] Stream& legacy_stream(int device);
[[nodiscard]] Stream* make_stream(int device, bool heeds_legacy);
void destroy_stream(Stream* stream);

/// Puts work on a stream; where nothing is before it, memory is freed at once.
Mark put(Stream& stream, std::function<void()> work, bool frees_memory = false);
/// Whatever the stream does from now on is after the mark.
void wait_on_stream(Stream& stream, const Mark& mark);
/// Runs the work up to a mark, and what comes before it elsewhere. If work throws, all that waits is forgotten.
void run_until(const Mark& mark);
void run_all(int device);
[[nodiscard]] bool is_done(const Mark& mark);

} // namespace kith::emulation
