#include "cuda_emulation/grid.hpp"

#include "cuda_emulation/fiber_stack.hpp"

#include <boost/context/fiber.hpp>
#include <boost/context/preallocated.hpp>

#include <algorithm>
#include <bit>
#include <exception>
#include <memory>
#include <random>
#include <span>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace kith::emulation {

namespace {

namespace context = boost::context;

const char* name_of(Meeting meeting) {
    switch (meeting) {
    case Meeting::block_barrier:
        return "__syncthreads";
    case Meeting::warp_barrier:
        return "__syncwarp";
    case Meeting::shuffle:
        return "a shuffle";
    case Meeting::ballot:
        return "__ballot_sync";
    case Meeting::any:
        return "__any_sync";
    case Meeting::all:
        return "__all_sync";
    case Meeting::reduce_add:
        return "__reduce_add_sync";
    case Meeting::reduce_min:
        return "__reduce_min_sync";
    case Meeting::reduce_max:
        return "__reduce_max_sync";
    case Meeting::match_any:
        return "__match_any_sync";
    }
    return "nothing";
}

std::string text_of(const Index& index) {
    std::ostringstream text;
    text << '(' << index.x << ", " << index.y << ", " << index.z << ')';
    return text.str();
}

unsigned count_of(const Index& sizes) {
    return sizes.x * sizes.y * sizes.z;
}

Index index_of(unsigned linear, const Index& sizes) {
    return {linear % sizes.x, linear / sizes.x % sizes.y, linear / sizes.x / sizes.y};
}

/// Thrown in the threads of a block that is given up, so that they end.
struct GivenUp {};

struct Thread {
    enum class State : std::uint8_t { ready, waiting, ended };

    explicit Thread(const Stack& given) : stack(&given) {}

    const Stack* stack;
    context::fiber fiber;     ///< this thread, while it does not run
    context::fiber scheduler; ///< who runs it, while it does
    void* kept = nullptr;     ///< the sanitizer's, while this thread does not run
    State state = State::ready;
    Meeting meeting{};
    std::uint32_t mask = 0;
    std::source_location where;
    std::uint64_t value = 0;
    Brought brought{};
    std::array<std::uint64_t, warp_size> met{}; ///< at which barrier of the warp it was last with each lane
    std::exception_ptr error;
};

class Block {
public:
    Block(std::string name, const Position& position, const std::function<void()>& kernel, std::uint64_t serial,
          std::span<const std::unique_ptr<Stack>> stacks)
        : name_(std::move(name)), position_(position), kernel_(kernel), serial_(serial),
          waiting_of_warp_(stacks.size() / warp_size), warp_barriers_(stacks.size() / warp_size) {
        for (const auto& stack : stacks) {
            threads_.push_back(std::make_unique<Thread>(*stack));
        }
    }

    void run(std::mt19937_64& random) {
        for (std::size_t i = 0; i < threads_.size(); ++i) {
            Thread& thread = *threads_[i];
            thread.fiber = context::fiber(
                std::allocator_arg,
                context::preallocated(thread.stack->memory().sp, thread.stack->memory().size, thread.stack->memory()),
                Borrowed(), [this, &thread](context::fiber&& scheduler) { return live(thread, std::move(scheduler)); });
            ready_.push_back(static_cast<int>(i));
        }
        std::exception_ptr error;
        while (!ready_.empty()) {
            const std::size_t pick = random() % ready_.size();
            const int thread = std::exchange(ready_[pick], ready_.back());
            ready_.pop_back();
            resume(thread);
            if (threads_[thread]->error) {
                error = threads_[thread]->error;
                break;
            }
            if (threads_[thread]->state == Thread::State::waiting) {
                release_if_complete(thread);
            } else if (threads_[thread]->state == Thread::State::ready) { // it yielded
                ready_.push_back(thread);
            }
        }
        if (!error && std::any_of(threads_.begin(), threads_.end(),
                                  [](const auto& thread) { return thread->state != Thread::State::ended; })) {
            error = std::make_exception_ptr(KernelError(stuck()));
        }
        if (error) {
            give_up();
            std::rethrow_exception(error);
        }
    }

    const Brought& meet(Meeting meeting, std::uint32_t mask, std::uint64_t value, const std::source_location& where) {
        Thread& thread = *threads_[running_];
        if (meeting != Meeting::block_barrier && ((mask >> lane()) & 1U) == 0) {
            fail(std::string("a lane that is not in its own mask calls ") + name_of(meeting) + at(where));
        }
        thread.meeting = meeting;
        thread.mask = mask;
        thread.value = value;
        thread.where = where;
        thread.state = Thread::State::waiting;
        ++waiting_;
        ++waiting_of_warp_[static_cast<std::size_t>(running_ / warp_size)];
        leave(thread);
        if (given_up_) {
            throw GivenUp();
        }
        return thread.brought;
    }

    void yield() {
        leave(*threads_[running_]);
        if (given_up_) {
            throw GivenUp();
        }
    }

    [[nodiscard]] int lane() const { return running_ % warp_size; }
    [[nodiscard]] const Position& position() const { return position_; }

    [[nodiscard]] Moment now() const {
        return {serial_, barriers_, warp_barriers_[static_cast<std::size_t>(running_ / warp_size)], running_};
    }
    [[nodiscard]] bool is_ordered(const Moment& before) const {
        if (before.thread == running_ || before.barriers < barriers_) {
            return true;
        }
        const Thread& thread = *threads_[running_];
        return before.thread / warp_size == running_ / warp_size &&
               before.warp_barriers < thread.met[static_cast<std::size_t>(before.thread % warp_size)];
    }

    [[noreturn]] void fail(const std::string& what) const {
        throw KernelError(heading() + ", thread " + std::to_string(running_) + ": " + what);
    }

private:
    static std::string at(const std::source_location& where) {
        return std::string(" at ") + where.file_name() + ":" + std::to_string(where.line());
    }
    [[nodiscard]] std::string heading() const { return name_ + ", block " + text_of(position_.block); }

    context::fiber live(Thread& thread, context::fiber&& scheduler) {
        StackChange::arrive(nullptr, &scheduler_bottom_, &scheduler_size_);
        thread.scheduler = std::move(scheduler);
        try {
            if (!given_up_) {
                kernel_();
            }
        } catch (const GivenUp&) { // as was asked
        } catch (const context::detail::forced_unwind&) {
            throw;
        } catch (...) {
            thread.error = std::current_exception();
        }
        thread.state = Thread::State::ended;
        StackChange::leave(nullptr, scheduler_bottom_, scheduler_size_);
        return std::move(thread.scheduler);
    }

    void leave(Thread& thread) {
        StackChange::leave(&thread.kept, scheduler_bottom_, scheduler_size_);
        thread.scheduler = std::move(thread.scheduler).resume();
        StackChange::arrive(thread.kept, &scheduler_bottom_, &scheduler_size_);
    }

    void resume(int number) {
        running_ = number;
        position_.thread = index_of(static_cast<unsigned>(number), position_.grid.threads);
        Thread& thread = *threads_[number];
        void* kept = nullptr;
        StackChange::leave(&kept, thread.stack->bottom(), thread.stack->memory().size);
        thread.fiber = std::move(thread.fiber).resume();
        StackChange::arrive(kept, nullptr, nullptr);
    }

    /// Lets all go on who wait for the meeting that this thread came to, if it was the last.
    void release_if_complete(int number) {
        const Thread& last = *threads_[number];
        int& waiting_of_warp = waiting_of_warp_[static_cast<std::size_t>(number / warp_size)];
        if (last.meeting == Meeting::block_barrier ? waiting_ < static_cast<int>(threads_.size())
                                                   : waiting_of_warp < std::popcount(last.mask)) {
            return;
        }
        const auto is_there = [&](int i) {
            const Thread& other = *threads_[i];
            return other.state == Thread::State::waiting && other.meeting == last.meeting && other.mask == last.mask &&
                   other.where.line() == last.where.line() && other.where.column() == last.where.column() &&
                   (other.where.file_name() == last.where.file_name() ||
                    std::string_view(other.where.file_name()) == last.where.file_name());
        };
        std::vector<int> present;
        if (last.meeting == Meeting::block_barrier) {
            for (int i = 0; i < static_cast<int>(threads_.size()); ++i) {
                if (!is_there(i)) {
                    return;
                }
                present.push_back(i);
            }
            ++barriers_;
        } else {
            const int first = number / warp_size * warp_size;
            Brought brought{};
            for (int i = 0; i < warp_size; ++i) {
                if ((last.mask >> i) & 1U) {
                    if (!is_there(first + i)) {
                        return;
                    }
                    present.push_back(first + i);
                    brought[static_cast<std::size_t>(i)] = threads_[first + i]->value;
                }
            }
            std::uint64_t& serial = warp_barriers_[static_cast<std::size_t>(number / warp_size)];
            serial += last.meeting == Meeting::warp_barrier ? 1 : 0;
            for (const int i : present) {
                threads_[i]->brought = brought;
                if (last.meeting == Meeting::warp_barrier) {
                    for (const int other : present) {
                        threads_[i]->met[static_cast<std::size_t>(other % warp_size)] = serial;
                    }
                }
            }
        }
        for (const int i : present) {
            threads_[i]->state = Thread::State::ready;
            --waiting_;
            --waiting_of_warp_[static_cast<std::size_t>(i / warp_size)];
            ready_.push_back(i);
        }
    }

    /// Who waits where, when nobody can go on.
    [[nodiscard]] std::string stuck() const {
        std::ostringstream text;
        text << heading() << ": no thread can go on";
        for (std::size_t i = 0; i < threads_.size();) {
            const std::string what = doing(*threads_[i]);
            std::size_t end = i + 1;
            while (end < threads_.size() && doing(*threads_[end]) == what) {
                ++end;
            }
            text << "; " << (end - i == 1 ? "thread " : "threads ") << i;
            if (end - i > 1) {
                text << " to " << end - 1;
            }
            text << ' ' << what;
            i = end;
        }
        return text.str();
    }
    [[nodiscard]] static std::string doing(const Thread& thread) {
        if (thread.state == Thread::State::ended) {
            return "ended";
        }
        std::ostringstream text;
        text << "at " << name_of(thread.meeting);
        if (thread.meeting != Meeting::block_barrier) {
            text << " of lanes 0x" << std::hex << thread.mask;
        }
        text << at(thread.where);
        return text.str();
    }

    /// Ends the threads that wait, so that what they hold is released.
    void give_up() {
        given_up_ = true;
        for (int i = 0; i < static_cast<int>(threads_.size()); ++i) {
            if (threads_[i]->state != Thread::State::ended) {
                resume(i);
            }
        }
    }

    std::string name_;
    Position position_;
    const std::function<void()>& kernel_;
    std::uint64_t serial_;
    std::vector<std::unique_ptr<Thread>> threads_;
    std::vector<int> ready_;
    int running_ = 0;
    int waiting_ = 0; ///< threads that do
    std::vector<int> waiting_of_warp_;
    bool given_up_ = false;
    std::uint64_t barriers_ = 0;
    std::vector<std::uint64_t> warp_barriers_;
    const void* scheduler_bottom_ = nullptr;
    std::size_t scheduler_size_ = 0;
};

thread_local Block* current = nullptr;

Block& running() {
    if (current == nullptr) {
        throw KernelError("what only a kernel may call is called outside of one");
    }
    return *current;
}

} // namespace

void run(const std::string& name, const Grid& grid, const std::function<void()>& kernel, std::uint64_t seed) {
    static thread_local std::uint64_t serial = 0;
    const unsigned threads = count_of(grid.threads);
    if (threads == 0 || threads > 1024 || threads % warp_size != 0) {
        throw KernelError(name + ": a block has " + std::to_string(threads) +
                          " threads; it must have whole warps of 32, up to 1024 threads");
    }
    if (current != nullptr) {
        throw KernelError(name + ": launched from within a kernel");
    }
#if defined(__GLIBC__)
    static const int heap_is_kept = mallopt(M_TRIM_THRESHOLD, 1 << 26); // or it shrinks and grows with every block
    (void)heap_is_kept;
#endif
    std::mt19937_64 random(seed);
    static thread_local std::vector<std::unique_ptr<Stack>>
        stacks; // kept from kernel to kernel: making them takes time
    while (stacks.size() < threads) {
        stacks.push_back(std::make_unique<Stack>());
    }
    std::vector<unsigned> blocks(count_of(grid.blocks));
    for (unsigned i = 0; i < blocks.size(); ++i) {
        blocks[i] = i;
    }
    std::shuffle(blocks.begin(), blocks.end(), random);
    for (const unsigned number : blocks) {
        Block block(name, Position{{}, index_of(number, grid.blocks), grid}, kernel, ++serial,
                    std::span(stacks).first(threads));
        const auto restore = [](Block** place) { *place = nullptr; };
        current = &block;
        const std::unique_ptr<Block*, decltype(restore)> restored(&current, restore);
        block.run(random);
    }
}

const Position& here() {
    return running().position();
}

const Brought& meet(Meeting meeting, std::uint32_t mask, std::uint64_t value, const std::source_location& where) {
    return running().meet(meeting, mask, value, where);
}

void yield() {
    if (current != nullptr) {
        current->yield();
    }
}

int lane() {
    return running().lane();
}

Moment now() {
    return running().now();
}

bool is_ordered(const Moment& before) {
    return running().is_ordered(before);
}

void fail(const std::string& what) {
    running().fail(what);
}

} // namespace kith::emulation
