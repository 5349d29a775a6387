// Stacks of fibers, and telling the address sanitizer when the running one changes.
#pragma once

#include <boost/context/fixedsize_stack.hpp>
#include <boost/context/stack_context.hpp>

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace kith::emulation {

/// Memory of a fiber's stack, kept from block to block. Allocated alike, the stacks of a warp would begin at the same
/// place of a page and drive each other out of the cache, so each begins some lines further than the one before it.
class Stack {
public:
    explicit Stack(std::size_t number) : allocated_(allocator_.allocate()), memory_(allocated_) {
        const std::size_t left_out = number * 7 % 64 * 64;
        memory_.sp = static_cast<char*>(memory_.sp) - left_out;
        memory_.size -= left_out;
    }
    Stack(const Stack&) = delete;
    Stack& operator=(const Stack&) = delete;
    ~Stack() { allocator_.deallocate(allocated_); }

    [[nodiscard]] const boost::context::stack_context& memory() const { return memory_; }
    [[nodiscard]] const void* bottom() const { return static_cast<const char*>(memory_.sp) - memory_.size; }
    [[nodiscard]] bool has(const void* place) const {
        return static_cast<std::size_t>(static_cast<const char*>(place) - static_cast<const char*>(bottom())) <
               memory_.size;
    }

private:
    boost::context::fixedsize_stack allocator_{std::size_t{1} << 18};
    boost::context::stack_context allocated_;
    boost::context::stack_context memory_;
};

/// For a fiber whose stack belongs to somebody else.
struct Borrowed {
    static void deallocate(boost::context::stack_context& /*memory*/) {}
};

/// Tells the address sanitizer that the stack changes; nobody is told where there is none.
class StackChange {
public:
    /// From the running stack to another one. `kept` is null if the running one is not come back to.
    static void leave([[maybe_unused]] void** kept, [[maybe_unused]] const void* bottom,
                      [[maybe_unused]] std::size_t size) {
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_start_switch_fiber(kept, bottom, size);
#endif
    }
    static void arrive([[maybe_unused]] void* kept, [[maybe_unused]] const void** bottom,
                       [[maybe_unused]] std::size_t* size) {
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_finish_switch_fiber(kept, bottom, size);
#endif
    }
};

} // namespace kith::emulation
