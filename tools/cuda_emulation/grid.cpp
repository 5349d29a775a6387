#include "cuda_emulation/grid.hpp"

#include "cuda_emulation/block.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace kith::emulation {

constinit thread_local int running_slot = 0;
constinit AtomicWatch atomic_watch = nullptr;
constinit thread_local int hardware_at_work = 0;

namespace {

constexpr std::uint64_t most_idle_yields = 1U << 19;
constexpr std::uint64_t atomics_per_yield = 8;

thread_local Block* current = nullptr;
thread_local Randomness* randomness = nullptr; ///< the running grid's
thread_local std::uint64_t idle_yields = 0;    ///< in a row, with nothing done between them
thread_local bool blocks_may_talk = false;     ///< a thread of the running grid has yielded
thread_local std::uint64_t blocks_started = 0;
thread_local std::uint64_t first_block = 0; ///< of the running grid
thread_local bool has_job = false;          ///< the running grid

Block& running() {
    if (current == nullptr) {
        throw KernelError("what only a kernel may call is called outside of one");
    }
    return *current;
}

/// What blocks in flight have, kept from kernel to kernel: making it takes time.
struct Kept {
    Strands strands;
    std::array<Block, most_blocks_in_flight> slots;
};
Kept& kept() {
    static thread_local Kept of_thread;
    return of_thread;
}

/// The blocks of one kernel: some are in flight, in slots; another one takes the slot of one that ends. As long as no
/// thread yields, no block can see what others do, and one at a time is quicker.
class RunningGrid {
public:
    RunningGrid(const std::string& name, const Grid& grid, const std::function<void()>& kernel, std::uint64_t seed)
        : name_(name), grid_(grid), kernel_(kernel), random_(seed), order_(count_of(grid.blocks)) {
        std::iota(order_.begin(), order_.end(), 0U);
        std::shuffle(order_.begin(), order_.end(), random_);
        constexpr std::array<std::uint64_t, 3> few_and_many{8, 64, 512};
        most_steps_ = few_and_many[random_.below(few_and_many.size())];
        randomness = &random_;
        idle_yields = 0;
        blocks_may_talk = false;
        first_block = blocks_started + 1;
        hardware_at_work = 0; // a thread that was stopped never ended what it did
        forget_earlier_values();
    }
    RunningGrid(const RunningGrid&) = delete;
    RunningGrid& operator=(const RunningGrid&) = delete;
    ~RunningGrid() {
        current = nullptr;
        randomness = nullptr;
        forget_earlier_values();
    }

    void run() {
        start_block(0);
        try {
            while (!by_priority_.empty()) {
                for (; blocks_may_talk && slots_used_ < most_blocks_in_flight; ++slots_used_) {
                    start_block(slots_used_);
                }
                if (steps_left_-- == 0) {
                    std::shuffle(by_priority_.begin(), by_priority_.end(), random_);
                    steps_left_ = random_.below(most_steps_);
                }
                step(by_priority_.front());
            }
        } catch (...) {
            for (const int slot : by_priority_) {
                current = &kept_.slots[static_cast<std::size_t>(slot)];
                current->give_up();
            }
            throw;
        }
    }

private:
    void start_block(int slot) {
        if (next_ < order_.size()) {
            current = nullptr; // no thread runs meanwhile
            kept_.slots[static_cast<std::size_t>(slot)].begin(
                name_, Position{{}, index_of(order_[next_++], grid_.blocks), grid_}, kernel_, ++blocks_started,
                kept_.strands);
            by_priority_.insert(
                by_priority_.begin() + static_cast<std::ptrdiff_t>(random_below(by_priority_.size() + 1)), slot);
        }
    }

    void step(int slot) {
        current = &kept_.slots[static_cast<std::size_t>(slot)];
        running_slot = slot;
        current->step(random_, !blocks_may_talk);
        if (current->has_ended()) {
            by_priority_.erase(std::find(by_priority_.begin(), by_priority_.end(), slot));
            start_block(slot);
        }
    }

    const std::string& name_;
    const Grid& grid_;
    const std::function<void()>& kernel_;
    Randomness random_;
    std::vector<unsigned> order_; ///< of the blocks, as they start
    std::size_t next_ = 0;
    Kept& kept_ = kept();
    int slots_used_ = 1;
    std::vector<int> by_priority_; ///< the slots of blocks in flight; the first one goes on
    std::uint64_t most_steps_ = 1; ///< of one drawing of priorities
    std::uint64_t steps_left_ = 0;
};

} // namespace

std::uint64_t seed_of_environment() {
    std::uint64_t seed = 0;
    if (const char* const text = std::getenv("KITH_EMULATION_SEED")) {
        (void)std::from_chars(text, text + std::strlen(text), seed);
    }
    return seed;
}

void run(const std::string& name, const Grid& grid, const std::function<void()>& kernel, std::uint64_t seed) {
    const unsigned threads = count_of(grid.threads);
    if (threads == 0 || threads > 1024 || threads % warp_size != 0) {
        throw KernelError(name + ": a block has " + std::to_string(threads) +
                          " threads; it must have whole warps of 32, up to 1024 threads");
    }
    if (current != nullptr) {
        throw KernelError(name + ": launched from within a kernel");
    }
#if defined(__GLIBC__)
    // Or the heap shrinks and grows with every kernel. If one is set alone, glibc stops adapting the other, at a lower value.
    static const bool heap_is_kept = mallopt(M_TRIM_THRESHOLD, 1 << 26) == 1 && mallopt(M_MMAP_THRESHOLD, 1 << 25) == 1;
    (void)heap_is_kept;
#endif
    static const std::uint64_t stirred = seed_of_environment() * 0x9E3779B97F4A7C15U;
    RunningGrid(name, grid, kernel, seed + stirred).run();
}

void run_job(const std::string& name, const Grid& grid, CallOfJob call, const void* kernel, const void* job) {
    has_job = true;
    try {
        run(name, grid, [=] { call(kernel, job); });
    } catch (...) {
        has_job = false;
        throw;
    }
    has_job = false;
}

Position here() {
    return running().position();
}

const Brought& meet(Meeting meeting, std::uint32_t mask, std::uint64_t value, const std::source_location& where) {
    return running().meet(meeting, mask, value, where);
}

void yield() {
    if (current == nullptr) {
        return;
    }
    if (++idle_yields > most_idle_yields) {
        current->fail("waits for what no thread of the blocks in flight does; other blocks may start only when one of "
                      "these ends");
    }
    blocks_may_talk = true;
    current->yield();
}

void note_progress() {
    idle_yields = 0;
}

void before_atomic(const void* address, std::size_t bytes) {
    if (current != nullptr && random_below(atomics_per_yield) == 0) {
        yield();
    }
    note_progress();
    if (atomic_watch != nullptr) {
        atomic_watch(address, bytes, true, true);
    }
}

std::uint64_t random_below(std::uint64_t count) {
    return randomness->below(count);
}

bool is_in_kernel() {
    return current != nullptr;
}

int lane() {
    return running().lane();
}

Moment now() {
    return running().now();
}

bool is_ordered(const Moment& before) {
    return running().is_ordered(before);
}

KnownWords& known_words() {
    return running().known_words();
}

void fail(const std::string& what) {
    running().fail(what);
}

bool is_in_job() {
    return has_job && current != nullptr;
}

bool is_on_own_stack(const void* memory) {
    return running().is_on_own_stack(memory);
}

void preempt() {
    blocks_may_talk = true;
    running().preempt();
}

void stop(const std::string& what) {
    running().stop(what);
}

std::uint64_t first_block_of_kernel() {
    return first_block;
}

} // namespace kith::emulation
