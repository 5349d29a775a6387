// Runs a CUDA grid on the CPU, some blocks at a time, for tests.
//
// The threads of a block are fibers of one operating-system thread. A fiber runs until it meets others, at a barrier of
// the block or at an operation of its warp, or until it yields before an access that other blocks may see. What
// hardware would let pass, or leave undefined, is an error here that says where: a lane that the mask names and that
// does not come, a barrier that some threads do not reach, threads that leave while others wait for them, a block that
// waits for one that has not started. Blocks start in a random order, several are in flight, and the one whose priority
// is highest goes on; priorities and the order of ready threads are drawn from the seed, so that much of what depends
// on the order shows. KITH_EMULATION_SEED=1, 2, ... in the environment draws other orders in every test.
//
// What is not seen: threads that come to one line of a helper by different branches, which hardware may keep apart. Call
// what holds an operation of a warp from one place. What threads do to global memory is seen only in programs that are
// linked with a watch over it (watch.cpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>
#include <stdexcept>
#include <string>

namespace kith::emulation {

/// What a kernel did that it must not do.
class KernelError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct Index {
    unsigned x = 0;
    unsigned y = 0;
    unsigned z = 0;
};

struct Grid {
    Index blocks{1, 1, 1};
    Index threads{32, 1, 1}; ///< of a block; whole warps
};

constexpr int warp_size = 32;
constexpr int most_blocks_in_flight = 4;

/// Runs the kernel once for every thread of the grid. Throws KernelError, and what the kernel itself throws.
void run(const std::string& name, const Grid& grid, const std::function<void()>& kernel, std::uint64_t seed = 1);

/// The same for a kernel that has a job, as launches have it: memory of the host is not for it, if a watch looks
/// (watch.cpp). call(kernel, job) runs one thread.
using CallOfJob = void (*)(const void* kernel, const void* job);
void run_job(const std::string& name, const Grid& grid, CallOfJob call, const void* kernel, const void* job);

/// KITH_EMULATION_SEED, which stirs all seeds; 0 without it.
[[nodiscard]] std::uint64_t seed_of_environment();

// The rest is for what kernels call.

/// The thread that runs, in CUDA's terms.
struct Position {
    Index thread;
    Index block;
    Grid grid;
};
[[nodiscard]] Position here();

enum class Meeting : std::uint8_t {
    block_barrier,
    warp_barrier,
    shuffle,
    ballot,
    any,
    all,
    reduce_add,
    reduce_min,
    reduce_max,
    match_any,
};

/// What the lanes of a warp brought to a meeting.
using Brought = std::array<std::uint64_t, warp_size>;

/// Waits for the other lanes of the mask, or for the whole block at a block's barrier. All must come to the same
/// meeting, at the same place in the text.
const Brought& meet(Meeting meeting, std::uint32_t mask, std::uint64_t value, const std::source_location& where);

/// Lets other threads go on, of this block or of others; nothing outside of a kernel. Throws KernelError if threads have
/// done no more than that for long.
void yield();
/// Something was done that a thread may have waited for.
void note_progress();
/// Now and then lets other threads go on, before what is atomic.
void before_atomic(const void* address, std::size_t bytes);
[[nodiscard]] std::uint64_t random_below(std::uint64_t count);

[[nodiscard]] bool is_in_kernel();
/// Which of the blocks in flight runs: shared memory has elements for each.
extern constinit thread_local int running_slot;

[[nodiscard]] int lane();

/// When something was done to memory, and by whom: what orders it before what others do.
struct Moment {
    std::uint64_t block = 0;    ///< serial number of the block in this process; 0: never
    std::uint64_t barriers = 0; ///< of the block, passed before
    std::uint64_t warp_barriers = 0;
    int thread = -1; ///< of the block
};
[[nodiscard]] Moment now();
/// Whether what was done at that moment, in this block, is ordered before what the running thread does now.
[[nodiscard]] bool is_ordered(const Moment& before);
class KnownWords;
/// Of the running thread.
[[nodiscard]] KnownWords& known_words();
/// Throws KernelError, with the kernel, the block and the thread in the text.
[[noreturn]] void fail(const std::string& what);

// For a watch, whose functions the compiler calls where it knows of no exceptions (watch.cpp).

/// What the compiler is not to tell the watch of.
#if defined(__SANITIZE_THREAD__)
#define KITH_UNWATCHED [[gnu::noinline, gnu::no_sanitize("thread")]]
#else
#define KITH_UNWATCHED
#endif

/// How many of these live: the running thread does what hardware does, in memory of the emulator's. It must not let
/// others go on meanwhile.
extern constinit thread_local int hardware_at_work;
class HardwareAtWork {
public:
    HardwareAtWork() {
        ++hardware_at_work;
        meet_accesses();
    }
    HardwareAtWork(const HardwareAtWork&) = delete;
    HardwareAtWork& operator=(const HardwareAtWork&) = delete;
    ~HardwareAtWork() {
        meet_accesses();
        --hardware_at_work;
    }

private:
    /// The compiler knows of nobody who looks at the number between the two.
    static void meet_accesses() { asm volatile("" ::: "memory"); }
};

/// Whether the running kernel has a job (run_job).
[[nodiscard]] bool is_in_job();
/// Whether memory is on the stack of the running thread.
[[nodiscard]] bool is_on_own_stack(const void* memory);

/// Lets other threads go on, of this block or of others. That is not taken for waiting.
void preempt();
/// Ends the kernel with a KernelError. The running thread does not go on, and what it holds is not released.
void stop(const std::string& what);
/// Serial number of the first block that the running kernel started.
[[nodiscard]] std::uint64_t first_block_of_kernel();
/// Called before every atomic access to global memory; null without a watch.
using AtomicWatch = void (*)(const void* address, std::size_t bytes, bool reads, bool writes);
extern constinit AtomicWatch atomic_watch;

} // namespace kith::emulation
