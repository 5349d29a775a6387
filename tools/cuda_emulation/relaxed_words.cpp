#include "cuda_emulation/relaxed_words.hpp"

#include "cuda_emulation/grid.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace kith::emulation {

namespace {

constexpr std::uint64_t loads_per_stale_one = 4;
constexpr std::size_t most_values = 16; ///< of a word that are kept

struct Value {
    std::int32_t value;
    std::uint64_t store; ///< its number; 0: from before the kernel
    Moment stored;
};

thread_local std::unordered_map<const std::int32_t*, std::vector<Value>> values_of;
thread_local std::uint64_t stores = 0;

bool is_own(const Value& value) {
    return value.stored.block == now().block && is_ordered(value.stored);
}

void note_store(std::int32_t* word, std::int32_t value) {
    std::vector<Value>& values = values_of[word];
    if (values.empty()) {
        values.push_back({*word, 0, {}});
    } else if (values.size() == most_values) {
        values.erase(values.begin());
    }
    values.push_back({value, ++stores, now()});
    known_words().note(word, stores);
    *word = value;
    note_progress();
}

template <class Word>
void tell_watch(const Word* word, bool reads, bool writes) {
    if (atomic_watch != nullptr) {
        atomic_watch(word, sizeof *word, reads, writes);
    }
}

template <class Word>
Word load_newest(const Word* word) {
    yield();
    tell_watch(word, true, false);
    return *word;
}

std::int32_t load(const std::int32_t* word, bool through_cache) {
    yield();
    tell_watch(word, true, false);
    if (!is_in_kernel()) {
        return *word;
    }
    const auto found = values_of.find(word);
    if (found == values_of.end()) {
        return *word;
    }
    std::vector<Value>& values = found->second;
    if (values.back().value != *word) { // written by other means
        values.push_back({*word, ++stores, {}});
    }
    std::size_t chosen = values.size() - 1;
    if (random_below(loads_per_stale_one) == 0) {
        const std::uint64_t known = through_cache ? 0 : known_words().at_least(word);
        std::size_t oldest = chosen;
        while (oldest > 0 && values[oldest].store > known && !is_own(values[oldest])) {
            --oldest;
        }
        chosen = oldest + random_below(values.size() - oldest);
    }
    if (!through_cache) {
        known_words().note(word, values[chosen].store);
    }
    return values[chosen].value;
}

} // namespace

std::int32_t load_relaxed(const std::int32_t* word) {
    return load(word, false);
}

unsigned load_relaxed_bits(const unsigned* word) {
    return load_newest(word);
}

unsigned long long load_relaxed_bits(const unsigned long long* word) {
    return load_newest(word);
}

std::int32_t load_relaxed_through_cache(const std::int32_t* word) {
    return load(word, true);
}

void store_relaxed(std::int32_t* word, std::int32_t value) {
    yield();
    tell_watch(word, false, true);
    if (is_in_kernel()) {
        note_store(word, value);
    } else {
        *word = value;
    }
}

bool compare_exchange_relaxed(std::int32_t* word, std::int32_t expected, std::int32_t value) {
    yield();
    const bool is_expected = *word == expected;
    tell_watch(word, true, is_expected);
    if (is_expected && is_in_kernel()) {
        note_store(word, value);
    } else if (is_expected) {
        *word = value;
    }
    return is_expected;
}

std::uint64_t stores_so_far() {
    return stores;
}

void forget_earlier_values() {
    values_of.clear();
    stores = 0;
}

} // namespace kith::emulation
