#include "counted_accesses.hpp"

#include <functional>
#include <utility>

namespace kith::bench {

namespace {

struct Part {
    const std::byte* begin;
    const std::byte* end;
    int list;
};

bool counts = false;
std::vector<Part> parts;
Accesses found;

void note(const void* memory, bool is_load) {
    if (!counts) {
        return;
    }
    ++found.all;
    const auto* const place = static_cast<const std::byte*>(memory);
    for (const Part& part : parts) {
        if (is_load && !std::less<>()(place, part.begin) && std::less<>()(place, part.end)) {
            ++found.loads.at(static_cast<std::size_t>(part.list));
            return;
        }
    }
}

} // namespace

void count_accesses(const std::array<std::vector<std::span<const std::byte>>, 2>& memory) {
    parts.clear();
    for (const int list : {0, 1}) {
        for (const std::span<const std::byte> part : memory.at(static_cast<std::size_t>(list))) {
            parts.push_back({part.data(), part.data() + part.size(), list});
        }
    }
    found = {};
    counts = true;
}

Accesses counted_accesses() {
    counts = false;
    return found;
}

} // namespace kith::bench

// What the compiler calls.
// NOLINTBEGIN(bugprone-reserved-identifier, bugprone-macro-parentheses)
#define KITH_COUNT_ACCESS(size)                                                                                        \
    void __tsan_read##size(void* memory) {                                                                             \
        kith::bench::note(memory, true);                                                                               \
    }                                                                                                                  \
    void __tsan_write##size(void* memory) {                                                                            \
        kith::bench::note(memory, false);                                                                              \
    }

extern "C" {
KITH_COUNT_ACCESS(1)
KITH_COUNT_ACCESS(2)
KITH_COUNT_ACCESS(4)
KITH_COUNT_ACCESS(8)
KITH_COUNT_ACCESS(16)
void __tsan_read_range(void* memory, std::size_t /*bytes*/) {
    kith::bench::note(memory, true);
}
void __tsan_write_range(void* memory, std::size_t /*bytes*/) {
    kith::bench::note(memory, false);
}
void __tsan_vptr_update(void** /*table*/, void* /*value*/) {}
void __tsan_vptr_read(void** /*table*/) {}
void __tsan_init() {}
}
// NOLINTEND(bugprone-reserved-identifier, bugprone-macro-parentheses)
