// Memory that a caller gives for the work of one call, handed out piece by piece; or no memory, to learn how much it
// takes.
//
// Pieces are taken from the bottom up. What is given back is taken again once nothing lies above it, so that what is
// taken last should be given back first. All work is on one stream, so that a piece may be given back while work that
// uses it is still to be done. An arena without memory hands out addresses that are never used and notes how far they
// reach: the same requests reach as far with memory.
#pragma once

#include <kith/execution.hpp>

#include "cuda/namespace.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::detail::inline KITH_GPU {

class ScratchArena final : public DeviceResource {
public:
    static constexpr std::uintptr_t alignment = 256;

    /// To learn how much it takes.
    ScratchArena() : first_(alignment), end_(UINTPTR_MAX), measures_(true) {}
    /// Scratch begins where the memory is aligned. Memory that is kept from call to call begins where it starts, so
    /// that the same requests find what an earlier arena's were given.
    enum class Use : std::uint8_t { scratch, kept };
    explicit ScratchArena(std::span<std::byte> memory, Use use = Use::scratch)
        : first_(reinterpret_cast<std::uintptr_t>(memory.data())), end_(first_ + memory.size()),
          is_kept_(use == Use::kept) {
        first_ = is_kept_ ? first_ : rounded_up(first_);
    }

    [[nodiscard]] bool measures() const noexcept { return measures_; }
    [[nodiscard]] bool is_kept() const noexcept { return is_kept_; }
    /// Bytes that were in use at a time, at most, wherever the memory starts.
    [[nodiscard]] std::int64_t bytes_needed() const noexcept {
        return max_end_ == 0 ? 0 : static_cast<std::int64_t>(max_end_ + alignment - 1);
    }

    /// The same of memory from its start on.
    [[nodiscard]] std::int64_t bytes_from_start() const noexcept { return static_cast<std::int64_t>(max_end_); }

    [[nodiscard]] bool is_empty() const noexcept { return pieces_.empty(); } ///< nothing is held

    void* allocate(std::int64_t bytes, CudaStream /*stream*/) override {
        const std::uintptr_t start = pieces_.empty() ? first_ : first_ + rounded_up(pieces_.back().end - first_);
        if (start > end_ || static_cast<std::uintptr_t>(bytes) > end_ - start) {
            return nullptr;
        }
        pieces_.push_back({start, start + static_cast<std::uintptr_t>(bytes), true});
        max_end_ = std::max(max_end_, pieces_.back().end - first_);
        return reinterpret_cast<void*>(start); // NOLINT(performance-no-int-to-ptr): a place, perhaps of no memory
    }

    void deallocate(void* memory, std::int64_t /*bytes*/, CudaStream /*stream*/) noexcept override {
        const auto start = reinterpret_cast<std::uintptr_t>(memory);
        const auto piece =
            std::find_if(pieces_.rbegin(), pieces_.rend(), [start](const Piece& one) { return one.start == start; });
        piece->is_held = false;
        while (!pieces_.empty() && !pieces_.back().is_held) {
            pieces_.pop_back();
        }
    }

private:
    struct Piece {
        std::uintptr_t start;
        std::uintptr_t end;
        bool is_held;
    };

    static std::uintptr_t rounded_up(std::uintptr_t place) noexcept {
        return (place + alignment - 1) / alignment * alignment;
    }

    std::uintptr_t first_;
    std::uintptr_t end_;
    bool measures_ = false;
    bool is_kept_ = false;
    std::vector<Piece> pieces_; // by address
    std::uintptr_t max_end_ = 0;
};

} // namespace kith::detail::inline KITH_GPU
