// The arena that a call runs in, lent to it for as long as it lasts.
//
// Arenas are kept and used again: making one takes longer than a small search, and oneTBB loses some kilobytes with
// every arena that had workers and is destroyed (all of 2021; its issue 967). One call at a time has an arena, so there
// come to be as many as there are calls at once, for each number of threads that was asked for; beyond 64 they are
// destroyed again.
#pragma once

#include <tbb/info.h>
#include <tbb/task_arena.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace kith::detail {

class ArenaLease {
public:
    /// Room for that many threads, the caller's included; 0 means as many as the machine has.
    explicit ArenaLease(int threads) : arena_(take(threads == 0 ? tbb::info::default_concurrency() : threads)) {}
    ArenaLease(const ArenaLease&) = delete;
    ArenaLease& operator=(const ArenaLease&) = delete;
    ~ArenaLease() { give_back(std::move(arena_)); }

    [[nodiscard]] tbb::task_arena& operator*() const noexcept { return *arena_; }
    [[nodiscard]] tbb::task_arena* operator->() const noexcept { return arena_.get(); }

private:
    using Arena = std::unique_ptr<tbb::task_arena>;

    // Idle arenas, each in a place of its own. There is no lock that a fork could copy while it is held, and no
    // destructor that would run before the last call of the process.
    static constexpr std::size_t places = 64;
    static std::array<std::atomic<tbb::task_arena*>, places>& idle() {
        static std::array<std::atomic<tbb::task_arena*>, places> kept{};
        return kept;
    }

    static Arena take(int threads) {
        for (std::atomic<tbb::task_arena*>& place : idle()) {
            if (place.load(std::memory_order_relaxed) == nullptr) {
                continue;
            }
            Arena found(place.exchange(nullptr));
            if (found != nullptr && found->max_concurrency() == threads) {
                return found;
            }
            give_back(std::move(found));
        }
        return std::make_unique<tbb::task_arena>(threads);
    }

    static void give_back(Arena arena) {
        if (arena == nullptr) {
            return;
        }
        for (std::atomic<tbb::task_arena*>& place : idle()) {
            tbb::task_arena* none = nullptr;
            if (place.load(std::memory_order_relaxed) == nullptr && place.compare_exchange_strong(none, arena.get())) {
                (void)arena.release();
                return;
            }
        }
    }

    Arena arena_;
};

} // namespace kith::detail
