#include "cuda_emulation/streams.hpp"

#include "cuda_emulation/device_arena.hpp"
#include "cuda_emulation/grid.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <utility>

namespace kith::emulation {

namespace {

constexpr std::uint64_t waits_per_early_run = 4;

std::array<Stream, devices>& legacy_streams() {
    static std::array<Stream, devices> streams{Stream{.device = 0}, Stream{.device = 1}, Stream{.device = 2},
                                               Stream{.device = 3}};
    return streams;
}

std::vector<std::unique_ptr<Stream>>& made_streams() {
    static std::vector<std::unique_ptr<Stream>> streams;
    return streams;
}

bool is_legacy(const Stream& stream) {
    return &stream == &legacy_stream(stream.device);
}

template <class Function>
void for_each_stream(const Function& function) {
    for (Stream& stream : legacy_streams()) {
        function(stream);
    }
    for (const auto& stream : made_streams()) {
        function(*stream);
    }
}

/// What must be done before new work of a stream, beside the stream's own.
std::vector<Mark> before_new_work_of(Stream& stream) {
    std::vector<Mark> before;
    const auto add = [&](Stream& other) {
        if (!is_done(other.end())) {
            before.push_back(other.end());
        }
    };
    if (is_legacy(stream)) {
        for (const auto& other : made_streams()) {
            if (other->device == stream.device && other->heeds_legacy) {
                add(*other);
            }
        }
    } else if (stream.heeds_legacy) {
        add(legacy_stream(stream.device));
    }
    return before;
}

void run_tasks(const Mark& mark) {
    Stream& stream = *mark.stream;
    while (stream.done < mark.number && !stream.tasks.empty()) {
        const StreamTask task = std::move(stream.tasks.front());
        stream.tasks.pop_front();
        stream.running = 1;
        for (const Mark& before : task.after) {
            run_tasks(before);
        }
        task.run();
        stream.running = 0;
        ++stream.done;
    }
}

/// Memory is freed all the same.
void forget_all_work() {
    for_each_stream([](Stream& stream) {
        for (const StreamTask& task : std::exchange(stream.tasks, {})) {
            if (task.frees_memory) {
                task.run();
            }
            ++stream.done;
        }
        stream.done += std::exchange(stream.running, 0);
    });
}

void run_some_early() {
    static std::mt19937_64 random(1 + seed_of_environment());
    for_each_stream([](Stream& stream) {
        if (!stream.tasks.empty() && random() % waits_per_early_run == 0) {
            run_tasks({&stream, stream.done + 1 + random() % stream.tasks.size()});
        }
    });
}

} // namespace

Stream& legacy_stream(int device) {
    return legacy_streams()[static_cast<std::size_t>(device)];
}

Stream* make_stream(int device, bool heeds_legacy) {
    return made_streams()
        .emplace_back(std::make_unique<Stream>(Stream{.device = device, .heeds_legacy = heeds_legacy}))
        .get();
}

void destroy_stream(Stream* stream) {
    run_until(stream->end());
    std::erase_if(made_streams(), [stream](const auto& one) { return one.get() == stream; });
}

Mark put(Stream& stream, std::function<void()> work, bool frees_memory) {
    StreamTask task{std::move(work), before_new_work_of(stream), frees_memory};
    const bool is_first = task.after.empty() && is_done(stream.end());
    stream.tasks.push_back(std::move(task));
    const Mark mark = stream.end();
    if (frees_memory && is_first) {
        run_until(mark);
    }
    return mark;
}

void wait_on_stream(Stream& stream, const Mark& mark) {
    if (!is_done(mark)) {
        put(stream, [] {});
        stream.tasks.back().after.push_back(mark);
    }
}

void run_until(const Mark& mark) {
    const LeaveOpen works;
    try {
        run_some_early();
        run_tasks(mark);
    } catch (...) {
        forget_all_work();
        throw;
    }
}

void run_all(int device) {
    for_each_stream([device](Stream& stream) {
        if (stream.device == device) {
            run_until(stream.end());
        }
    });
}

bool is_done(const Mark& mark) {
    return mark.stream == nullptr || mark.stream->done >= mark.number;
}

} // namespace kith::emulation
