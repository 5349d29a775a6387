// The points of a recorded call on the emulated GPU, and what the words of the command line make of it
// (record_launches.cpp).
#pragma once

#include "recorded_call.hpp"

#include "calls/device_calls.hpp"
#include "cuda_emulation/cuda_runtime.hpp"

#include <kith/kith.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace kith::bench {

inline std::vector<char> contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (bytes.empty()) {
        throw std::runtime_error("cannot read " + path);
    }
    return bytes;
}

/// Memory of the emulated device with these bytes.
inline std::shared_ptr<void> on_device(const void* from, std::size_t bytes, const kith::Execution& execution) {
    std::shared_ptr<void> memory = kith::detail::on_gpu().result_memory(static_cast<std::int64_t>(bytes), execution);
    if (from != nullptr) {
        (void)cudaMemcpyAsync(memory.get(), from, bytes, cudaMemcpyDefault, nullptr);
    }
    return memory;
}

/// Rows of coordinates that the device holds, with which calls are made.
template <class T>
class RecordedPoints {
public:
    RecordedPoints(const std::filesystem::path& folder, const std::string& path, int dimension,
                   const std::set<std::string>& words)
        : folder_(folder), words_(words) {
        execution_.threads = 1; // of the host: kernels run on the thread that calls
        const std::vector<char> bytes = contents(path);
        memory_ = on_device(bytes.data(), bytes.size(), execution_);
        count_ = static_cast<std::int64_t>(bytes.size() / sizeof(T)) / dimension;
        points_ = kith::PointsView(static_cast<const T*>(memory_.get()), kith::dtype_of<T>, count_, dimension,
                                   dimension, 1, execution_.device);
        queries_ = kith::PointsView(static_cast<const T*>(memory_.get()), kith::dtype_of<T>,
                                    std::min<std::int64_t>(count_, 16), dimension, dimension, 1, execution_.device);
        box_ = has("periodic") ? kith::Box::periodic(1) : kith::Box();
    }

    [[nodiscard]] bool has(const char* word) const { return words_.contains(word); }
    [[nodiscard]] const kith::Execution& execution() const { return execution_; }
    [[nodiscard]] const kith::Box& box() const { return box_; }
    [[nodiscard]] std::int64_t count() const { return count_; }
    [[nodiscard]] int dimension() const { return points_.dimension(); }
    [[nodiscard]] const T* data() const { return static_cast<const T*>(memory_.get()); }
    [[nodiscard]] const kith::PointsView& view() const { return points_; }
    /// Null without the word.
    [[nodiscard]] const kith::PointsView* queries() const { return has("queries") ? &queries_ : nullptr; }

    template <class Call>
    void record_as(Saved saved, const Call& call) const {
        record(folder_, count_, has("results") ? Saved::results : has("counts") ? Saved::none : saved, call);
    }

    /// Memory of the device, until this ends.
    template <class Item>
    std::span<Item> take(std::int64_t items) {
        taken_.push_back(on_device(nullptr, static_cast<std::size_t>(items) * sizeof(Item), execution_));
        return {static_cast<Item*>(taken_.back().get()), static_cast<std::size_t>(items)};
    }

    /// One for each point.
    [[nodiscard]] std::vector<double> numbers() const {
        std::vector<double> numbers(static_cast<std::size_t>(count_));
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            numbers[i] = static_cast<double>(i % 7) / 4;
        }
        return numbers;
    }

private:
    std::filesystem::path folder_;
    std::set<std::string> words_;
    kith::Execution execution_ = kith::cuda();
    std::shared_ptr<void> memory_;
    std::int64_t count_ = 0;
    kith::PointsView points_;
    kith::PointsView queries_;
    kith::Box box_;
    std::vector<std::shared_ptr<void>> taken_;
};

} // namespace kith::bench
