// Plain memory that is kept from use to use and grows when it must.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>

namespace kith::detail {

/// Room for elements, not initialized: what is never written costs no memory, since the system hands out pages only as
/// they are touched. Aligned so that no vector straddles two cache lines, nor two pages where vectors are stored at any
/// of the first 1,024 bytes: an EPYC takes some 150 cycles for such a store. Whole vectors may be read behind what was
/// written, if what they hold there is left out.
template <class Element>
class ScratchArray {
    static_assert(std::is_trivially_copyable_v<Element>);

public:
    /// Makes room for at least so many elements. When that takes new memory, the first `kept` elements are carried over
    /// and the others lost.
    void reserve(std::int64_t size, std::int64_t kept = 0) {
        if (size_ < size) [[unlikely]] {
            grow(size, kept);
        }
    }
    [[nodiscard]] std::int64_t bytes() const noexcept { return size_ * static_cast<std::int64_t>(sizeof(Element)); }
    [[nodiscard]] Element* data() noexcept { return memory_.get(); }
    [[nodiscard]] const Element* data() const noexcept { return memory_.get(); }
    [[nodiscard]] Element& operator[](std::int64_t i) noexcept { return memory_[i]; }
    [[nodiscard]] const Element& operator[](std::int64_t i) const noexcept { return memory_[i]; }

private:
    static constexpr std::align_val_t alignment{1024};
    struct Free {
        void operator()(Element* memory) const noexcept { ::operator delete(memory, alignment); }
    };

    void grow(std::int64_t size, std::int64_t kept) {
        const std::int64_t larger = size + size / 2;
        if (kept == 0) { // not beside the new memory
            memory_.reset();
            size_ = 0;
        }
        std::unique_ptr<Element[], Free> memory(
            static_cast<Element*>(::operator new(static_cast<std::size_t>(larger) * sizeof(Element), alignment)));
        std::copy_n(memory_.get(), kept, memory.get());
        memory_ = std::move(memory);
        size_ = larger;
    }

    std::unique_ptr<Element[], Free> memory_;
    std::int64_t size_ = 0;
};

} // namespace kith::detail
