// A block of the emulated grid: its threads, which are fibers, and where they meet.
#pragma once

#include "cuda_emulation/fiber_stack.hpp"
#include "cuda_emulation/grid.hpp"
#include "cuda_emulation/relaxed_words.hpp"

#include <boost/context/fiber.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <random>
#include <source_location>
#include <span>
#include <string>
#include <vector>

namespace kith::emulation {

unsigned count_of(const Index& sizes);
Index index_of(unsigned linear, const Index& sizes);

class Block {
public:
    /// Serial numbers are those of blocks in this process.
    Block(std::string name, const Position& position, const std::function<void()>& kernel, std::uint64_t serial,
          std::span<const std::unique_ptr<Stack>> stacks);

    /// Whether a thread is ready.
    [[nodiscard]] bool can_go_on() const { return !ready_.empty(); }
    [[nodiscard]] bool has_ended() const { return ended_ == threads_.size(); }
    /// Runs one of the ready threads until it waits, yields or ends. Throws what the thread throws; KernelError if the
    /// rest waits for each other.
    void step(std::mt19937_64& random);
    /// Ends the threads that wait, so that what they hold is released.
    void give_up();

    // For the running thread.
    const Brought& meet(Meeting meeting, std::uint32_t mask, std::uint64_t value, const std::source_location& where);
    void yield();
    void preempt();
    void stop(const std::string& what);
    [[nodiscard]] int lane() const { return running_ % warp_size; }
    [[nodiscard]] const Position& position() const { return position_; }
    [[nodiscard]] Moment now() const {
        return {serial_, barriers_, warp_barriers_[static_cast<std::size_t>(running_ / warp_size)], running_};
    }
    [[nodiscard]] bool is_ordered(const Moment& before) const;
    [[nodiscard]] bool is_on_own_stack(const void* memory) const { return threads_[running_]->stack->has(memory); }
    [[nodiscard]] KnownWords& known_words();
    [[noreturn]] void fail(const std::string& what) const;

private:
    struct Thread {
        enum class State : std::uint8_t { ready, waiting, ended };

        Thread(const Stack& given, const Index& where_in_block) : index(where_in_block), stack(&given) {}

        // What every change of threads touches comes first, on few lines of the cache.
        boost::context::fiber fiber;     ///< this thread, while it does not run
        boost::context::fiber scheduler; ///< who runs it, while it does
        State state = State::ready;
        bool can_unwind = true; ///< if it goes on by an exception, while it does not run
        Meeting meeting{};
        std::uint32_t mask = 0;
        std::source_location where;
        std::uint64_t value = 0;
        const Brought* brought = nullptr;
        std::exception_ptr error;
        Index index; ///< in the block
        const Stack* stack;
        void* kept = nullptr; ///< the sanitizer's, while this thread does not run
        KnownWords known_words;
        Brought brought_to_some{};                  ///< by some lanes of its warp
        std::array<std::uint64_t, warp_size> met{}; ///< at which barrier of some lanes it was last with each lane
    };

    [[nodiscard]] std::string heading() const;
    [[nodiscard]] std::string text_of_failure(const std::string& what) const;
    boost::context::fiber live(Thread& thread, boost::context::fiber&& scheduler);
    void leave(Thread& thread);
    void resume(int number);
    void release_if_complete(int number);
    void bring_to_warp(std::size_t warp);
    void bring_to_present(std::size_t warp);
    [[nodiscard]] std::string stuck() const;
    [[nodiscard]] static std::string doing(const Thread& thread);

    std::string name_;
    Position position_;
    const std::function<void()>& kernel_;
    std::uint64_t serial_;
    std::vector<std::unique_ptr<Thread>> threads_;
    std::vector<int> ready_;
    std::size_t ended_ = 0; ///< threads that have
    int running_ = 0;
    int waiting_ = 0; ///< threads that do
    std::vector<int> waiting_of_warp_;
    bool given_up_ = false;
    std::uint64_t barriers_ = 0;
    std::vector<std::uint64_t> warp_barriers_;
    std::vector<std::uint64_t> whole_warp_barriers_;  ///< the last of warp_barriers_ at which all lanes were
    std::vector<Brought> brought_to_warp_;            ///< by all of its lanes
    std::vector<int> present_;                        ///< at the meeting that ends
    std::vector<std::uint64_t> stores_known_to_warp_; ///< those before its last barrier
    const void* scheduler_bottom_ = nullptr;
    std::size_t scheduler_size_ = 0;
};

} // namespace kith::emulation
