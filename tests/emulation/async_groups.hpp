// A search for groups that only puts work on a stream, and all that it is given on the emulated device: scratch of
// exactly the bytes asked for.
#pragma once

#include "calls/device_calls.hpp"

#include "emulation/async_memory.hpp"
#include "support/cases.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace kith::test {

class AsyncGroups {
public:
    AsyncGroups(const PointsOrTree& points, LinkingLength length, const Box& box, Engine engine)
        : labels_(context_, points.count()), summary_(context_, 1),
          status_(context_, 1), fof_{points,         length, {.box = box, .engine = engine, .execution = cuda(1)},
                                     labels_.data(), false,  summary_.data(),
                                     status_.data()} {}

    [[nodiscard]] std::int64_t bytes_needed() const {
        if (const Tree* const tree = fof_.points.tree()) {
            return detail::fof_async_bytes_on_device(*tree, Engine::automatic, {});
        }
        return detail::fof_async_bytes_on_device(
            AsyncTreeSize{fof_.points.dtype(), fof_.points.dimension(), fof_.points.count()}, fof_.options.engine,
            fof_.options.execution);
    }
    void run() {
        const Scratch scratch(context_, bytes_needed());
        expect_no_requests([&] { detail::fof_async_on_device(fof_, scratch.span()); });
        EXPECT_TRUE(scratch.is_alone());
    }
    [[nodiscard]] std::vector<std::int32_t> labels() const { return labels_.on_host(); }
    [[nodiscard]] DeviceFofSummary summary() { return context_.to_host(summary_.data()); }
    [[nodiscard]] DeviceStatus status() { return context_.to_host(status_.data()); }
    [[nodiscard]] detail::DeviceFofAsync& fof() { return fof_; }
    [[nodiscard]] detail::DeviceContext& context() { return context_; }

private:
    detail::DeviceContext context_{cuda(1)};
    ThereOn<std::int32_t> labels_;
    ThereOn<DeviceFofSummary> summary_;
    ThereOn<DeviceStatus> status_;
    detail::DeviceFofAsync fof_;
};

} // namespace kith::test
