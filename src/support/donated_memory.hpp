// Memory that will be written to later and may be used until then: the rows of a result, or what a later stage needs.
//
// Fresh memory is dear: the system clears it, page by page, when it is first touched. What is donated here is touched
// anyway.
#pragma once

#include "support/context.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace kith::detail {

class DonatedMemory {
public:
    DonatedMemory() = default;

    /// Lends some bytes; up to two such pieces.
    void add(void* memory, std::int64_t bytes) {
        if (memory != nullptr) {
            pieces_[lent_++] = {memory, static_cast<std::size_t>(bytes)};
        }
    }

    /// Room for `size` elements: donated if a piece still has that much, or else newly allocated and tracked. By one
    /// thread only.
    template <class T>
    [[nodiscard]] Buffer<T> buffer(const std::shared_ptr<MemoryTracker>& memory_tracker, std::int64_t size) {
        const std::size_t bytes = static_cast<std::size_t>(size) * sizeof(T);
        for (Piece& piece : pieces_) {
            if (piece.memory != nullptr && std::align(alignof(T), bytes, piece.memory, piece.bytes) != nullptr) {
                void* taken = piece.memory;
                piece.memory = static_cast<std::byte*>(taken) + bytes;
                piece.bytes -= bytes;
                return Buffer<T>::borrowed(taken, size);
            }
        }
        return Buffer<T>(memory_tracker, size);
    }

private:
    struct Piece {
        void* memory = nullptr;
        std::size_t bytes = 0;
    };
    std::array<Piece, 2> pieces_;
    std::size_t lent_ = 0;
};

} // namespace kith::detail
