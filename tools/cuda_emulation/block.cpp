#include "cuda_emulation/block.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <sstream>
#include <string_view>
#include <utility>

namespace kith::emulation {

namespace {

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
    if (linear < sizes.x) { // most blocks and grids have one axis
        return {linear, 0, 0};
    }
    return {linear % sizes.x, linear / sizes.x % sizes.y, linear / sizes.x / sizes.y};
}

void Block::begin(const std::string& name, const Position& position, const std::function<void()>& kernel,
                  std::uint64_t serial, Strands& strands) {
    name_ = &name;
    position_ = position;
    kernel_ = &kernel;
    serial_ = serial;
    strands_ = &strands;
    const std::size_t threads = count_of(position.grid.threads);
    kept_threads_.resize(std::max(kept_threads_.size(), threads));
    threads_ = std::span(kept_threads_).first(threads);
    for (Thread& thread : threads_) {
        thread = {};
    }
    ready_.resize(threads);
    std::iota(ready_.begin(), ready_.end(), 0);
    ended_ = 0;
    waiting_ = 0;
    given_up_ = false;
    barriers_ = 0;
    const std::size_t warps = threads / warp_size;
    waiting_of_warp_.assign(warps, 0);
    warp_barriers_.assign(warps, 0);
    whole_warp_barriers_.assign(warps, 0);
    brought_to_warp_.resize(warps);
    stores_known_to_warp_.assign(warps, 0);
}

void Block::step(Randomness& random, bool is_alone) {
    random_ = &random;
    is_alone_ = is_alone;
    run(take_ready(), strands_->system());
    if (const Thread& last = threads_[running_]; last.error) {
        std::rethrow_exception(last.error);
    }
    if (ready_.empty() && !has_ended()) {
        throw KernelError(stuck());
    }
}

void Block::add_ready(int number) {
    const HardwareAtWork works;
    ready_.push_back(number);
}

int Block::take_ready() {
    const HardwareAtWork works;
    const std::size_t pick = random_->below(ready_.size());
    const int number = std::exchange(ready_[pick], ready_.back());
    ready_.pop_back();
    return number;
}

void Block::set_running(int number) {
    running_ = number;
    position_.thread = index_of(static_cast<unsigned>(number), position_.grid.threads);
}

const Brought& Block::meet(Meeting meeting, std::uint32_t mask, std::uint64_t value,
                           const std::source_location& where) {
    Thread& thread = threads_[running_];
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
    release_if_complete(running_);
    leave();
    if (given_up_) {
        throw GivenUp();
    }
    return *thread.brought;
}

void Block::yield() {
    is_alone_ = false;
    add_ready(running_);
    leave();
    if (given_up_) {
        throw GivenUp();
    }
}

void Block::preempt() {
    if (!given_up_) {
        Thread& thread = threads_[running_];
        is_alone_ = false;
        thread.can_unwind = false;
        add_ready(running_);
        leave();
        thread.can_unwind = true;
    }
}

void Block::stop(const std::string& what) {
    if (!given_up_) {
        Thread& thread = threads_[running_];
        thread.error = std::make_exception_ptr(KernelError(text_of_failure(what)));
        thread.can_unwind = false;
        thread.fiber->change_to(strands_->system());
    }
}

bool Block::is_ordered(const Moment& before) const {
    if (before.thread == running_ || before.barriers < barriers_) {
        return true;
    }
    const Thread& thread = threads_[running_];
    const int warp = running_ / warp_size;
    return before.thread / warp_size == warp &&
           (before.warp_barriers < whole_warp_barriers_[static_cast<std::size_t>(warp)] ||
            (thread.of_some &&
             before.warp_barriers < thread.of_some->met[static_cast<std::size_t>(before.thread % warp_size)]));
}

KnownWords& Block::known_words() {
    std::optional<KnownWords>& of_thread = threads_[running_].known_words;
    KnownWords& known = of_thread ? *of_thread : of_thread.emplace();
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
    return *name_ + ", block " + text_of(position_.block);
}

/// Changes from this strand to the thread's, which has one from its start.
void Block::run(int number, Strand& from) {
    set_running(number);
    Thread& thread = threads_[number];
    if (thread.state == Thread::State::new_one) {
        const HardwareAtWork works;
        thread.fiber = &strands_->take();
        thread.fiber->give([](void* block) { static_cast<Block*>(block)->live(); }, this);
    }
    from.change_to(*thread.fiber);
}

/// The running thread, and those that start on its fiber after it. When it is come back to, it has ended, and the fiber's
/// next work may be another block's.
void Block::live() {
    Fiber& fiber = *threads_[running_].fiber;
    for (;;) {
        Thread& thread = threads_[running_];
        thread.state = Thread::State::ready;
        try {
            (*kernel_)();
        } catch (const GivenUp&) { // as was asked
        } catch (...) {
            thread.error = std::current_exception();
        }
        thread.state = Thread::State::ended;
        ++ended_;
        note_progress();
        if (thread.error || !goes_on_by_itself()) {
            strands_->give_back(fiber);
            fiber.change_to(strands_->system());
            return;
        }
        const int next = take_ready();
        if (threads_[next].state != Thread::State::new_one) {
            strands_->give_back(fiber);
            run(next, fiber);
            return;
        }
        threads_[next].fiber = &fiber;
        set_running(next);
    }
}

/// The running thread lets others go on, or waits.
void Block::leave() {
    const int number = running_;
    Fiber& fiber = *threads_[number].fiber;
    if (!goes_on_by_itself()) {
        fiber.change_to(strands_->system());
    } else if (const int next = take_ready(); next != number) {
        run(next, fiber);
    }
}

/// Lets all go on who wait for the meeting that this thread came to, if it was the last.
void Block::release_if_complete(int number) {
    const HardwareAtWork works;
    const Thread& last = threads_[number];
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
            const Thread& other = threads_[first + i];
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
        threads_[i].state = Thread::State::ready;
        --waiting_;
        --waiting_of_warp_[static_cast<std::size_t>(i / warp_size)];
        ready_.push_back(i);
    }
}

/// Most meetings are of all lanes. They share what they brought: it changes only when all of them have come to the next.
void Block::bring_to_warp(std::size_t warp) {
    for (const int i : present_) {
        brought_to_warp_[warp][static_cast<std::size_t>(i % warp_size)] = threads_[i].value;
        threads_[i].brought = &brought_to_warp_[warp];
    }
    if (threads_[present_.front()].meeting == Meeting::warp_barrier) {
        whole_warp_barriers_[warp] = warp_barriers_[warp];
    }
}

void Block::bring_to_present(std::size_t warp) {
    Brought brought{};
    for (const int i : present_) {
        brought[static_cast<std::size_t>(i % warp_size)] = threads_[i].value;
    }
    for (const int i : present_) {
        Thread& thread = threads_[i];
        MeetingsOfSome& of_some = thread.of_some ? *thread.of_some : thread.of_some.emplace();
        of_some.brought = brought;
        thread.brought = &of_some.brought;
        if (thread.meeting == Meeting::warp_barrier) {
            for (const int other : present_) {
                of_some.met[static_cast<std::size_t>(other % warp_size)] = warp_barriers_[warp];
            }
        }
    }
}

/// Who waits where, when nobody can go on.
std::string Block::stuck() const {
    std::ostringstream text;
    text << heading() << ": no thread can go on";
    for (std::size_t i = 0; i < threads_.size();) {
        const std::string what = doing(threads_[i]);
        std::size_t end = i + 1;
        while (end < threads_.size() && doing(threads_[end]) == what) {
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
        const Thread& thread = threads_[i];
        if (!thread.can_unwind) {
            thread.fiber->begin_anew();
            strands_->give_back(*thread.fiber);
        } else if (thread.state == Thread::State::ready || thread.state == Thread::State::waiting) {
            run(i, strands_->system());
        }
    }
}

} // namespace kith::emulation
