// A block of the emulated grid: its threads, which are fibers, and where they meet.
//
// Threads change to each other, not by way of the grid, as long as no other block is in flight. A thread gets a fiber when
// it starts; one that starts when another one has ended goes on with its fiber, so that one fiber runs all threads that
// never meet. Memory is kept from block to block.
#pragma once

#include "cuda_emulation/fiber.hpp"
#include "cuda_emulation/grid.hpp"
#include "cuda_emulation/randomness.hpp"
#include "cuda_emulation/relaxed_words.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <vector>

namespace kith::emulation {

unsigned count_of(const Index& sizes);
Index index_of(unsigned linear, const Index& sizes);

class Block {
public:
    Block() = default;
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    /// Begins with another block of a grid, after one that has ended or was given up. The name and the kernel must live as
    /// long as it runs. Serial numbers are those of blocks in this process.
    void begin(const std::string& name, const Position& position, const std::function<void()>& kernel,
               std::uint64_t serial, Strands& strands);

    /// Whether a thread is ready.
    [[nodiscard]] bool can_go_on() const { return !ready_.empty(); }
    [[nodiscard]] bool has_ended() const { return ended_ == threads_.size(); }
    /// Runs one of the ready threads until it waits, yields or ends; if the block is alone, all of them until one yields.
    /// Throws what a thread throws; KernelError if the rest waits for each other.
    void step(Randomness& random, bool is_alone);
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
    [[nodiscard]] bool is_on_own_stack(const void* memory) const {
        return threads_[running_].fiber->has_on_stack(memory);
    }
    [[nodiscard]] KnownWords& known_words();
    [[noreturn]] void fail(const std::string& what) const;

private:
    /// What only meetings of some lanes of a warp need.
    struct MeetingsOfSome {
        Brought brought{};
        std::array<std::uint64_t, warp_size> met{}; ///< at which barrier of some lanes it was last with each lane
    };

    struct Thread {
        enum class State : std::uint8_t { new_one, ready, waiting, ended };

        // What every change of threads touches comes first, on few lines of the cache.
        Fiber* fiber = nullptr; ///< once it has started
        State state = State::new_one;
        bool can_unwind = true; ///< if it goes on by an exception, while it does not run
        Meeting meeting{};
        std::uint32_t mask = 0;
        std::source_location where;
        std::uint64_t value = 0;
        const Brought* brought = nullptr;
        std::exception_ptr error;
        std::optional<KnownWords> known_words;
        std::optional<MeetingsOfSome> of_some;
    };

    [[nodiscard]] std::string heading() const;
    [[nodiscard]] std::string text_of_failure(const std::string& what) const;
    void add_ready(int number);
    int take_ready();
    void set_running(int number);
    void run(int number, Strand& from);
    void live();
    void leave();
    [[nodiscard]] bool goes_on_by_itself() const { return is_alone_ && !given_up_ && !ready_.empty(); }
    void release_if_complete(int number);
    void bring_to_warp(std::size_t warp);
    void bring_to_present(std::size_t warp);
    [[nodiscard]] std::string stuck() const;
    [[nodiscard]] static std::string doing(const Thread& thread);

    const std::string* name_ = nullptr;
    Position position_;
    const std::function<void()>* kernel_ = nullptr;
    std::uint64_t serial_ = 0;
    Strands* strands_ = nullptr;
    Randomness* random_ = nullptr;
    bool is_alone_ = false;
    std::vector<Thread> kept_threads_; ///< as many as the largest block had
    std::span<Thread> threads_;
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
};

} // namespace kith::emulation
