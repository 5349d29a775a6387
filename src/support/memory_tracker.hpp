// The account of working memory.
#pragma once

#include <atomic>
#include <cstdint>

namespace kith::detail {

/// Bytes held now and at most since the last reset.
class MemoryTracker {
public:
    void add(std::int64_t bytes) noexcept {
        const std::int64_t now = held_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
        std::int64_t peak = peak_.load(std::memory_order_relaxed);
        while (now > peak && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
        }
    }
    void release(std::int64_t bytes) noexcept { held_.fetch_sub(bytes, std::memory_order_relaxed); }
    void restart_peak() noexcept { peak_.store(held_.load()); }
    [[nodiscard]] std::int64_t held() const noexcept { return held_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::int64_t peak() const noexcept { return peak_.load(); }

private:
    std::atomic<std::int64_t> held_{0};
    std::atomic<std::int64_t> peak_{0};
};

} // namespace kith::detail
