// Fibers that are kept: to make one takes longer than most threads of a kernel live, so that a fiber whose work has ended
// waits for more.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <boost/context/fixedsize_stack.hpp>

#include <cstddef>
#include <memory>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace kith::emulation {

/// What the processor can go on with: a stack, and where on it.
class Strand {
public:
    Strand() = default;
    Strand(const Strand&) = delete;
    Strand& operator=(const Strand&) = delete;

    /// From this one, which runs, to another. Returns when some strand changes to this one.
    void change_to(Strand& next) {
        next_ = &next;
        tell_of_change(next);
        arrive(boost::context::detail::jump_fcontext(next.context_, this));
    }

protected:
    ~Strand() = default;

    void set(boost::context::detail::fcontext_t context, const void* bottom, std::size_t size) {
        context_ = context;
        bottom_ = bottom;
        size_ = size;
        kept_ = nullptr;
    }
    /// The strand that began because another one changed to it.
    static Strand& begun(const boost::context::detail::transfer_t& came) {
        Strand& self = *static_cast<Strand*>(came.data)->next_;
        self.arrive(came);
        return self;
    }

private:
    void arrive(const boost::context::detail::transfer_t& came) {
        Strand& from = *static_cast<Strand*>(came.data);
        from.context_ = came.fctx;
        tell_of_arrival(from);
    }

    // The address sanitizer must know when the stack changes, and says where the last one was.
    void tell_of_change([[maybe_unused]] const Strand& next) {
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_start_switch_fiber(&kept_, next.bottom_, next.size_);
#endif
    }
    void tell_of_arrival([[maybe_unused]] Strand& from) const {
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_finish_switch_fiber(kept_, &from.bottom_, &from.size_);
#endif
    }

    boost::context::detail::fcontext_t context_ = nullptr; ///< while it does not run
    Strand* next_ = nullptr;                               ///< that it changed to
    const void* bottom_ = nullptr;
    std::size_t size_ = 0;
    void* kept_ = nullptr; ///< the sanitizer's, while it does not run
};

/// The strand of the system's thread.
class SystemStrand final : public Strand {};

class Fiber final : public Strand {
public:
    /// What it is to do, and for whom. Work must not throw; at its end it changes to another strand, and returns when it
    /// comes back.
    using Work = void (*)(void* whose);

    /// Allocated alike, the stacks of a warp would begin at the same place of a page and drive each other out of the
    /// cache, so each begins some lines further than the one before it.
    explicit Fiber(std::size_t number) : allocated_(allocator_.allocate()), stack_(allocated_) {
        const std::size_t left_out = number * 7 % 64 * 64;
        stack_.sp = static_cast<char*>(stack_.sp) - left_out;
        stack_.size -= left_out;
        begin_anew();
    }
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;
    ~Fiber() { allocator_.deallocate(allocated_); }

    /// For when some strand changes to it.
    void give(Work work, void* whose) {
        work_ = work;
        whose_ = whose;
    }
    /// Forgets what it was doing; what is on its stack is not released.
    void begin_anew() {
        set(boost::context::detail::make_fcontext(stack_.sp, stack_.size, &Fiber::live), bottom(), stack_.size);
    }
    [[nodiscard]] bool has_on_stack(const void* place) const {
        return static_cast<std::size_t>(static_cast<const char*>(place) - static_cast<const char*>(bottom())) <
               stack_.size;
    }

private:
    static void live(boost::context::detail::transfer_t came) {
        Fiber& self = static_cast<Fiber&>(begun(came));
        for (;;) {
            self.work_(self.whose_);
        }
    }
    [[nodiscard]] const void* bottom() const { return static_cast<const char*>(stack_.sp) - stack_.size; }

    Work work_ = nullptr;
    void* whose_ = nullptr;
    boost::context::fixedsize_stack allocator_{std::size_t{1} << 18};
    boost::context::stack_context allocated_;
    boost::context::stack_context stack_;
};

/// The strands of one thread of the system.
class Strands {
public:
    [[nodiscard]] SystemStrand& system() { return system_; }
    /// A fiber for new work, until it is given back.
    Fiber& take() {
        if (idle_.empty()) {
            idle_.push_back(all_.emplace_back(std::make_unique<Fiber>(all_.size())).get());
        }
        Fiber& taken = *idle_.back();
        idle_.pop_back();
        return taken;
    }
    void give_back(Fiber& fiber) { idle_.push_back(&fiber); }

private:
    SystemStrand system_;
    std::vector<std::unique_ptr<Fiber>> all_;
    std::vector<Fiber*> idle_;
};

} // namespace kith::emulation
