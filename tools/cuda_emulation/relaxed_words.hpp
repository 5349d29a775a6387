// Relaxed atomic words of the device's scope, and what a thread may find in one while others write it.
//
// A store is seen by other blocks some time later, so a load may find an earlier value of its word. But a thread never
// finds one that is older than what it, or a thread of its block before their last barrier, has found or stored there.
// A look through the cache of a multiprocessor is held only to what its own block has stored. The values that a word
// has had since the kernel began are kept; the seed decides which of them a load finds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace kith::emulation {

// Outside of kernels these do what their names say.
[[nodiscard]] std::int32_t load_relaxed(const std::int32_t* word);
/// The newest value: of words that only atomic functions change, no earlier ones are kept.
[[nodiscard]] unsigned load_relaxed_bits(const unsigned* word);
[[nodiscard]] unsigned long long load_relaxed_bits(const unsigned long long* word);
[[nodiscard]] std::int32_t load_relaxed_through_cache(const std::int32_t* word);
void store_relaxed(std::int32_t* word, std::int32_t value);
/// Whether the word was as expected, and so holds the value now.
bool compare_exchange_relaxed(std::int32_t* word, std::int32_t expected, std::int32_t value);

/// How new a value a thread has found in each word: stores are counted.
class KnownWords {
public:
    [[nodiscard]] std::uint64_t at_least(const void* word) const {
        const Known& known = place_of(word);
        return known.word == word && known.store > all_ ? known.store : all_;
    }
    /// What has no place left counts for all words, which makes values newer than they need be.
    void note(const void* word, std::uint64_t store) {
        Known& known = known_[place(word)];
        if (known.word != word) {
            all_ = known.store > all_ ? known.store : all_;
            known = {word, store};
        } else if (known.store < store) {
            known.store = store;
        }
    }
    void note_all(std::uint64_t store) { all_ = store > all_ ? store : all_; }

private:
    struct Known {
        const void* word = nullptr;
        std::uint64_t store = 0;
    };
    static std::size_t place(const void* word) { return reinterpret_cast<std::uintptr_t>(word) / 4 % 8; }
    [[nodiscard]] const Known& place_of(const void* word) const { return known_[place(word)]; }

    std::uint64_t all_ = 0;
    std::array<Known, 8> known_{};
};

/// Stores of the running kernel so far.
[[nodiscard]] std::uint64_t stores_so_far();
/// Forgets all earlier values: a kernel sees what those before it stored.
void forget_earlier_values();

} // namespace kith::emulation
