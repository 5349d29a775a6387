// A watch over global memory: every access of the kernels of one program.
//
// Those kernels are compiled with -fsanitize=thread, by which the compiler calls a function before each access. Here are
// these functions, in place of the sanitizer's own library. An error is:
// - an access to memory of the device that is not held, or beside what is held;
// - a read of bytes that nobody wrote since the library took them;
// - two accesses to a word by different threads of one kernel, one of them a write and not both atomic, that no barrier
//   orders. Barriers of a block and of a warp order what its threads do; nothing orders blocks of one kernel;
// - an access to memory of the host by a kernel that was launched with a job: to anything but the device's memory, the
//   stack of the thread, and variables of this program, where constants and shared memory are. Functions that a test runs
//   as a kernel (emulation::run) may touch what they refer to.
// Before some accesses other threads go on, so that what depends on their order shows in the answers, too.
//
// Which bytes kernels write is kept beside each piece of memory. Copies, and what stands for CUB, are not compiled with
// the flag: what no longer holds the poison of new memory was written by them. Poison alone would take a kernel's 0xAB
// for it.
//
// Not seen: the ends of what is taken from a caller's memory, within that memory; bytes that nobody wrote beside some that
// were, in one access; accesses by calls of memcpy; global variables of the host; races between a byte other than the
// first of a word and the whole word.
#include "cuda_emulation/watch.hpp"

#include "cuda_emulation/device_arena.hpp"
#include "cuda_emulation/grid.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <link.h>

extern "C" const char __executable_start; // NOLINT(bugprone-reserved-identifier): the linker's
extern "C" const char _end;               // NOLINT(bugprone-reserved-identifier)

namespace kith::emulation {

namespace {

constexpr std::uint64_t accesses_per_preemption = 16;
constexpr std::uintptr_t word_bytes = 4;

/// What happens to memory, and by which code.
struct Access {
    bool reads;
    bool writes;
    bool is_atomic;
    const void* code; ///< null: an atomic function

    [[nodiscard]] std::size_t kind() const { return (writes ? 1U : 0U) + (is_atomic ? 2U : 0U); }
};
constexpr std::size_t kinds = 4; ///< of accesses
constexpr bool writes(std::size_t kind) {
    return (kind & 1U) != 0;
}
constexpr bool may_race(std::size_t one, std::size_t other) {
    return (writes(one) || writes(other)) && (one & other & 2U) == 0;
}

std::string text_of(const void* code) {
    std::array<char, 32> text{};
    (void)std::snprintf(text.data(), text.size(), "0x%zx",
                        static_cast<std::size_t>(static_cast<const char*>(code) - &__executable_start - 1));
    return code == nullptr ? "an atomic function" : std::string("code at ") + text.data();
}

/// The threads of the running kernel that accessed a word in one way, as far as a later access may race with them.
class Accessors {
public:
    /// One of them that nothing orders before what the running thread does now; empty: there is none.
    [[nodiscard]] std::string unordered() const {
        const Moment moment = now();
        if (last_.block == 0) {
            return "";
        }
        if (other_blocks_ || last_.block != moment.block) {
            return "another block";
        }
        if (last_.barriers < moment.barriers) {
            return "";
        }
        if (other_warps_) {
            return "another warp";
        }
        const int thread = unordered_thread();
        return thread < 0 ? "" : "thread " + std::to_string(thread);
    }
    [[nodiscard]] const void* code() const { return code_; }

    void add_running_thread(const void* code) {
        const Moment moment = now();
        const bool is_same_block = last_.block == moment.block;
        const bool is_since_barrier = is_same_block && last_.barriers == moment.barriers;
        const bool is_same_warp = last_.thread / warp_size == moment.thread / warp_size;
        other_blocks_ = other_blocks_ || (last_.block != 0 && !is_same_block);
        other_warps_ = is_since_barrier && (other_warps_ || !is_same_warp);
        if (!is_since_barrier || !is_same_warp || unordered_thread() < 0) {
            lanes_ = 0;
        }
        lanes_ |= 1U << moment.thread % warp_size;
        last_ = moment;
        code_ = code;
    }

private:
    /// Of the last one's warp, which is of the running block; -1: there is none.
    [[nodiscard]] int unordered_thread() const {
        Moment moment = last_;
        for (std::uint32_t lanes = lanes_; lanes != 0; lanes &= lanes - 1) {
            moment.thread = last_.thread / warp_size * warp_size + std::countr_zero(lanes);
            if (!is_ordered(moment)) {
                return moment.thread;
            }
        }
        return -1;
    }

    Moment last_;
    const void* code_ = nullptr; ///< of the last one
    std::uint32_t lanes_ = 0;    ///< of its warp
    bool other_warps_ = false;   ///< some were, since the block's last barrier
    bool other_blocks_ = false;
};

/// By kind of access.
using Word = std::array<Accessors, kinds>;

thread_local std::unordered_map<std::uintptr_t, Word> words; ///< of the kernel
thread_local std::uint64_t kernel = 0;
thread_local std::uint64_t accesses = 0;

Word& word_at(std::uintptr_t address) {
    if (kernel != first_block_of_kernel()) {
        kernel = first_block_of_kernel();
        words.clear();
    }
    return words[address];
}

void note_in_word(std::uintptr_t address, const Access& access) {
    Word& word = word_at(address);
    for (std::size_t kind = 0; kind < kinds; ++kind) {
        if (!may_race(kind, access.kind())) {
            continue;
        }
        if (const std::string other = word[kind].unordered(); !other.empty()) {
            stop(std::string("global memory is ") + (access.writes ? "written" : "read") + " (" + text_of(access.code) +
                 ") while " + other + (writes(kind) ? " writes it (" : " reads it (") + text_of(word[kind].code()) +
                 "): no barrier orders the two");
        }
    }
    word[access.kind()].add_running_thread(access.code);
}

void note(const void* memory, std::size_t bytes, const Access& access) {
    const HardwareAtWork works; // what strings and vectors do here is compiled with the flag in some programs
    ++accesses;
    const DeviceArena::Part part = DeviceArena::only().part(memory, bytes);
    if (part.piece == nullptr) {
        stop("global memory is used that is not held, or beside what is held (" + text_of(access.code) + ")");
        return;
    }
    std::vector<std::uint8_t>& is_written = part.piece->is_written;
    is_written.resize(part.piece->bytes);
    std::uint8_t* const first = is_written.data() + part.first;
    const auto* const values = static_cast<const unsigned char*>(memory);
    if (access.reads && std::all_of(first, first + bytes, [](std::uint8_t byte) { return byte == 0; }) &&
        std::all_of(values, values + bytes, [](unsigned char value) { return value == poison; })) {
        stop("global memory is read that nobody wrote (" + text_of(access.code) + ")");
    }
    if (access.writes) {
        std::fill_n(first, bytes, std::uint8_t{1});
    }
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    const std::uintptr_t step = bytes < word_bytes ? 1 : word_bytes;
    for (std::uintptr_t word = address / step * step; word < address + bytes; word += step) {
        note_in_word(word, access);
    }
}

const auto device_memory = reinterpret_cast<std::uintptr_t>(DeviceArena::only().begin());

bool is_of_device(const void* memory) {
    return reinterpret_cast<std::uintptr_t>(memory) - device_memory < devices * DeviceArena::size_of_device;
}

/// Memory of this program that each thread of the system has.
std::span<const char> thread_local_memory() {
    std::span<const char> found;
    const auto note_program = [](dl_phdr_info* object, std::size_t /*size*/, void* to) { // the first one is the program
        for (int i = 0; i < object->dlpi_phnum; ++i) {
            if (object->dlpi_phdr[i].p_type == PT_TLS && object->dlpi_tls_data != nullptr) {
                *static_cast<std::span<const char>*>(to) = {static_cast<const char*>(object->dlpi_tls_data),
                                                            object->dlpi_phdr[i].p_memsz};
            }
        }
        return 1;
    };
    (void)dl_iterate_phdr(note_program, &found);
    return found;
}

bool is_within(std::span<const char> memory, const void* place) {
    return static_cast<std::size_t>(static_cast<const char*>(place) - memory.data()) < memory.size();
}

/// Where a GPU would find nothing.
bool is_of_host(const void* memory) {
    static const thread_local std::span<const char> of_thread = thread_local_memory();
    return !is_on_own_stack(memory) && !is_within(of_thread, memory) &&
           !is_within({&__executable_start, &_end}, memory);
}

void note_other(const void* memory, const char* what, const void* code) {
    const bool is_kernel = is_in_job() && hardware_at_work == 0 && is_on_own_stack(__builtin_frame_address(0));
    if (is_kernel && is_of_host(memory)) {
        const HardwareAtWork works;
        stop(std::string("memory of the host is ") + what + " (" + text_of(code) +
             "), where a GPU finds an illegal address: copy it to the device, and put that address into the job");
    }
}

void note_plain(const void* memory, std::size_t bytes, bool is_write, const void* code) {
    if (!is_in_kernel()) {
        return;
    }
    if (!is_of_device(memory)) {
        note_other(memory, is_write ? "written" : "read", code);
        return;
    }
    if (random_below(accesses_per_preemption) == 0) {
        preempt();
    }
    note(memory, bytes, {!is_write, is_write, false, code});
}

[[maybe_unused]] const bool is_on = [] {
    atomic_watch = [](const void* memory, std::size_t bytes, bool reads, bool writes) {
        if (is_of_device(memory) && is_in_kernel()) {
            note(memory, bytes, {reads, writes, true, nullptr});
        } else {
            note_other(memory, writes ? "written" : "read", nullptr);
        }
    };
    return true;
}();

} // namespace

std::uint64_t watched_accesses() {
    return accesses;
}

} // namespace kith::emulation

// What the compiler calls. Atomic words of the host are as the language has them; kernels use other functions.
// NOLINTBEGIN(bugprone-reserved-identifier, bugprone-macro-parentheses)
#define KITH_WATCH_ACCESS(name, size, is_write)                                                                        \
    void __tsan_##name##size(void* memory) {                                                                           \
        kith::emulation::note_plain(memory, size, is_write, __builtin_return_address(0));                              \
    }
#define KITH_WATCH_ACCESSES(size)                                                                                      \
    KITH_WATCH_ACCESS(read, size, false)                                                                               \
    KITH_WATCH_ACCESS(write, size, true)

#define KITH_WATCH_CHANGE(change, bits, Number)                                                                        \
    Number __tsan_atomic##bits##_##change(volatile Number* word, Number value, int /*order*/) {                        \
        return __atomic_##change(word, value, __ATOMIC_SEQ_CST);                                                       \
    }
#define KITH_WATCH_COMPARE(strength, is_weak, bits, Number)                                                            \
    int __tsan_atomic##bits##_compare_exchange_##strength(volatile Number* word, Number* expected, Number value,       \
                                                          int /*order*/, int /*failed*/) {                             \
        return __atomic_compare_exchange_n(word, expected, value, is_weak, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) ? 1     \
                                                                                                               : 0;    \
    }
#define KITH_WATCH_ATOMICS(bits, Number)                                                                               \
    Number __tsan_atomic##bits##_load(const volatile Number* word, int /*order*/) {                                    \
        return __atomic_load_n(word, __ATOMIC_SEQ_CST);                                                                \
    }                                                                                                                  \
    void __tsan_atomic##bits##_store(volatile Number* word, Number value, int /*order*/) {                             \
        __atomic_store_n(word, value, __ATOMIC_SEQ_CST);                                                               \
    }                                                                                                                  \
    Number __tsan_atomic##bits##_exchange(volatile Number* word, Number value, int /*order*/) {                        \
        return __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);                                                     \
    }                                                                                                                  \
    KITH_WATCH_CHANGE(fetch_add, bits, Number)                                                                         \
    KITH_WATCH_CHANGE(fetch_sub, bits, Number)                                                                         \
    KITH_WATCH_CHANGE(fetch_and, bits, Number)                                                                         \
    KITH_WATCH_CHANGE(fetch_or, bits, Number)                                                                          \
    KITH_WATCH_CHANGE(fetch_xor, bits, Number)                                                                         \
    KITH_WATCH_COMPARE(strong, false, bits, Number)                                                                    \
    KITH_WATCH_COMPARE(weak, true, bits, Number)

extern "C" {
KITH_WATCH_ACCESSES(1)
KITH_WATCH_ACCESSES(2)
KITH_WATCH_ACCESSES(4)
KITH_WATCH_ACCESSES(8)
KITH_WATCH_ACCESSES(16)
void __tsan_read_range(void* memory, std::size_t bytes) {
    kith::emulation::note_plain(memory, bytes, false, __builtin_return_address(0));
}
void __tsan_write_range(void* memory, std::size_t bytes) {
    kith::emulation::note_plain(memory, bytes, true, __builtin_return_address(0));
}
KITH_WATCH_ATOMICS(8, std::uint8_t)
KITH_WATCH_ATOMICS(16, std::uint16_t)
KITH_WATCH_ATOMICS(32, std::uint32_t)
KITH_WATCH_ATOMICS(64, std::uint64_t)
void __tsan_atomic_thread_fence(int /*order*/) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_init() {}
void __tsan_acquire(void* /*place*/) {} // the host's tasks (support/fork_join.hpp)
void __tsan_release(void* /*place*/) {}
void __tsan_vptr_update(void** /*table*/, void* /*value*/) {}
void __tsan_vptr_read(void** /*table*/) {}
}
// NOLINTEND(bugprone-reserved-identifier, bugprone-macro-parentheses)
