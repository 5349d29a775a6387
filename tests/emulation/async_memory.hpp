// What calls that only put work on a stream are given on the emulated device: points, scratch of exactly the bytes that
// they ask for, a status; and a watch on what they ask of the runtime.
#pragma once

#include "cuda/device_context.hpp"

#include "cuda_emulation/cuda_runtime.hpp"

#include <kith/device_status.hpp>
#include <kith/points.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::test {

/// Elements in memory of a device, fenced.
template <class Element>
class ThereOn {
public:
    ThereOn(detail::DeviceContext& context, const std::vector<Element>& elements)
        : ThereOn(context, static_cast<std::int64_t>(elements.size())) {
        context.copy(memory_.data(), elements.data(), bytes());
    }
    ThereOn(detail::DeviceContext& context, std::int64_t size)
        : context_(context), memory_(context.buffer<Element>(size)) {}
    [[nodiscard]] Element* data() const { return memory_.data(); }
    [[nodiscard]] std::int64_t bytes() const { return memory_.size() * static_cast<std::int64_t>(sizeof(Element)); }
    [[nodiscard]] std::span<Element> span() const { return {memory_.data(), static_cast<std::size_t>(memory_.size())}; }
    [[nodiscard]] std::vector<Element> on_host() const { return context_.to_host(memory_.data(), memory_.size()); }
    /// Row-major points.
    [[nodiscard]] PointsView points(int dimension) const {
        return {memory_.data(),   dtype_of<Element>, memory_.size() / dimension, dimension, dimension, 1,
                context_.device()};
    }

private:
    detail::DeviceContext& context_;
    detail::DeviceBuffer<Element> memory_;
};

/// Scratch that starts and ends where nothing is aligned.
class Scratch {
public:
    Scratch(detail::DeviceContext& context, std::int64_t bytes) : memory_(context, before + bytes) {
        context.fill(memory_.data(), mark, before); // the rest is new
    }
    [[nodiscard]] std::span<std::byte> span() const { return memory_.span().subspan(before); }
    /// Whether all before it is as it was; what comes behind it has a fence of its own.
    [[nodiscard]] bool is_alone() const {
        const std::vector<std::byte> all = memory_.on_host();
        return std::all_of(all.begin(), all.begin() + before, [](std::byte byte) { return byte == std::byte{mark}; });
    }

private:
    static constexpr std::int64_t before = 37;
    static constexpr unsigned char mark = 0x5D;
    ThereOn<std::byte> memory_;
};

/// Runs a call, and holds that it asks the runtime for nothing that a stream's work can do without.
template <class Call>
void expect_no_requests(const Call& call) {
    const emulation::Requests before = emulation::requests();
    call();
    const emulation::Requests& after = emulation::requests();
    EXPECT_EQ(after.waits, before.waits);
    EXPECT_EQ(after.takes, before.takes);
    EXPECT_EQ(after.host_copies, before.host_copies);
    EXPECT_EQ(after.events, before.events);
}

} // namespace kith::test
