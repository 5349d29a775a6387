#include "cuda_emulation/block.hpp"

#include <boost/context/preallocated.hpp>

#include <algorithm>
#include <bit>
#include <sstream>
#include <string_view>
#include <utility>

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

std::string at(const std::source_location& where) {
    return std::string(" at ") + where.file_name() + ":" + std::to_string(where.line());
}

/// Thrown in the threads of a block that is given up, so that they end.
struct GivenUp {};

} // namespace

unsigned count_of(const Index& sizes) {
    return sizes.x * sizes.y * sizes.z;
}

Index index_of(unsigned linear, const Index& sizes) {
    return {linear % sizes.x, linear / sizes.x % sizes.y, linear / sizes.x / sizes.y};
}

Block::Block(std::string name, const Position& position, const std::function<void()>& kernel, std::uint64_t serial,
             std::span<const std::unique_ptr<Stack>> stacks)
    : name_(std::move(name)), position_(position), kernel_(kernel), serial_(serial),
      waiting_of_warp_(stacks.size() / warp_size), warp_barriers_(stacks.size() / warp_size),
      whole_warp_barriers_(stacks.size() / warp_size), brought_to_warp_(stacks.size() / warp_size),
      stores_known_to_warp_(stacks.size() / warp_size) {
    for (const auto& stack : stacks) {
        const Index index = index_of(static_cast<unsigned>(threads_.size()), position.grid.threads);
        Thread& thread = *threads_.emplace_back(std::make_unique<Thread>(*stack, index));
        thread.fiber = context::fiber(
            std::allocator_arg,
            context::preallocated(thread.stack->memory().sp, thread.stack->memory().size, thread.stack->memory()),
            Borrowed(), [this, &thread](context::fiber&& scheduler) { return live(thread, std::move(scheduler)); });
        ready_.push_back(static_cast<int>(threads_.size()) - 1);
    }
}

void Block::step(std::mt19937_64& random) {
    const std::size_t pick = random() % ready_.size();
    const int number = std::exchange(ready_[pick], ready_.back());
    ready_.pop_back();
    resume(number);
    const Thread& thread = *threads_[number];
    if (thread.error) {
        std::rethrow_exception(thread.error);
    }
    if (thread.state == Thread::State::waiting) {
        release_if_complete(number);
    } else if (thread.state == Thread::State::ready) { // it yielded
        ready_.push_back(number);
    }
    if (ready_.empty() && !has_ended()) {
        throw KernelError(stuck());
    }
}

const Brought& Block::meet(Meeting meeting, std::uint32_t mask, std::uint64_t value,
                           const std::source_location& where) {
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
    return *thread.brought;
}

void Block::yield() {
    leave(*threads_[running_]);
    if (given_up_) {
        throw GivenUp();
    }
}

void Block::preempt() {
    if (!given_up_) {
        Thread& thread = *threads_[running_];
        thread.can_unwind = false;
        leave(thread);
        thread.can_unwind = true;
    }
}

void Block::stop(const std::string& what) {
    if (!given_up_) {
        Thread& thread = *threads_[running_];
        thread.error = std::make_exception_ptr(KernelError(text_of_failure(what)));
        thread.can_unwind = false;
        leave(thread);
    }
}

bool Block::is_ordered(const Moment& before) const {
    if (before.thread == running_ || before.barriers < barriers_) {
        return true;
    }
    const Thread& thread = *threads_[running_];
    const int warp = running_ / warp_size;
    return before.thread / warp_size == warp &&
           (before.warp_barriers < whole_warp_barriers_[static_cast<std::size_t>(warp)] ||
            before.warp_barriers < thread.met[static_cast<std::size_t>(before.thread % warp_size)]);
}

KnownWords& Block::known_words() {
    KnownWords& known = threads_[running_]->known_words;
    known.note_all(stores_known_to_warp_[static_cast<std::size_t>(running_ / warp_size)]);
    return known;
}

void Block::fail(const std::string& what) const {
    const HardwareAtWork works;
    throw KernelError(text_of_failure(what));
}

std::string Block::text_of_failure(const std::string& what) const {
    return heading() + ", thread " + std::to_string(running_) + ": " + what;
}

std::string Block::heading() const {
    return name_ + ", block " + text_of(position_.block);
}

context::fiber Block::live(Thread& thread, context::fiber&& scheduler) {
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
    ++ended_;
    note_progress();
    StackChange::leave(nullptr, scheduler_bottom_, scheduler_size_);
    return std::move(thread.scheduler);
}

void Block::leave(Thread& thread) {
    StackChange::leave(&thread.kept, scheduler_bottom_, scheduler_size_);
    thread.scheduler = std::move(thread.scheduler).resume();
    StackChange::arrive(thread.kept, &scheduler_bottom_, &scheduler_size_);
}

void Block::resume(int number) {
    running_ = number;
    Thread& thread = *threads_[number];
    position_.thread = thread.index;
    void* kept = nullptr;
    StackChange::leave(&kept, thread.stack->bottom(), thread.stack->memory().size);
    thread.fiber = std::move(thread.fiber).resume();
    StackChange::arrive(kept, nullptr, nullptr);
}

/// Lets all go on who wait for the meeting that this thread came to, if it was the last.
void Block::release_if_complete(int number) {
    const Thread& last = *threads_[number];
    const bool of_block = last.meeting == Meeting::block_barrier;
    const bool of_whole_warp = last.mask == ~0U;
    const auto warp = static_cast<std::size_t>(number / warp_size);
    const int first = of_block ? 0 : number / warp_size * warp_size;
    if (of_block ? waiting_ < static_cast<int>(threads_.size())
                 : waiting_of_warp_[warp] < (of_whole_warp ? warp_size : std::popcount(last.mask))) {
        return;
    }
    present_.clear();
    for (int i = 0; i < (of_block ? static_cast<int>(threads_.size()) : warp_size); ++i) {
        if (of_block || ((last.mask >> i) & 1U)) {
            const Thread& other = *threads_[first + i];
            if (other.state != Thread::State::waiting || other.meeting != last.meeting || other.mask != last.mask ||
                other.where.line() != last.where.line() || other.where.column() != last.where.column() ||
                (other.where.file_name() != last.where.file_name() &&
                 std::string_view(other.where.file_name()) != last.where.file_name())) {
                return;
            }
            present_.push_back(first + i);
        }
    }
    if (of_block) {
        ++barriers_;
        std::fill(stores_known_to_warp_.begin(), stores_known_to_warp_.end(), stores_so_far());
    } else {
        if (last.meeting == Meeting::warp_barrier) {
            ++warp_barriers_[warp];
            stores_known_to_warp_[warp] = stores_so_far();
        }
        of_whole_warp ? bring_to_warp(warp) : bring_to_present(warp);
    }
    for (const int i : present_) {
        threads_[i]->state = Thread::State::ready;
        --waiting_;
        --waiting_of_warp_[static_cast<std::size_t>(i / warp_size)];
        ready_.push_back(i);
    }
}

/// Most meetings are of all lanes. They share what they brought: it changes only when all of them have come to the next.
void Block::bring_to_warp(std::size_t warp) {
    for (const int i : present_) {
        brought_to_warp_[warp][static_cast<std::size_t>(i % warp_size)] = threads_[i]->value;
        threads_[i]->brought = &brought_to_warp_[warp];
    }
    if (threads_[present_.front()]->meeting == Meeting::warp_barrier) {
        whole_warp_barriers_[warp] = warp_barriers_[warp];
    }
}

void Block::bring_to_present(std::size_t warp) {
    Brought brought{};
    for (const int i : present_) {
        brought[static_cast<std::size_t>(i % warp_size)] = threads_[i]->value;
    }
    for (const int i : present_) {
        threads_[i]->brought_to_some = brought;
        threads_[i]->brought = &threads_[i]->brought_to_some;
        if (threads_[i]->meeting == Meeting::warp_barrier) {
            for (const int other : present_) {
                threads_[i]->met[static_cast<std::size_t>(other % warp_size)] = warp_barriers_[warp];
            }
        }
    }
}

/// Who waits where, when nobody can go on.
std::string Block::stuck() const {
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
std::string Block::doing(const Thread& thread) {
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

void Block::give_up() {
    given_up_ = true;
    for (int i = 0; i < static_cast<int>(threads_.size()); ++i) {
        if (!threads_[i]->can_unwind) { // what is on its stack is left there: the fiber must not be destroyed
            (void)new context::fiber(std::move(threads_[i]->fiber));
        } else if (threads_[i]->state != Thread::State::ended) {
            resume(i);
        }
    }
}

} // namespace kith::emulation
