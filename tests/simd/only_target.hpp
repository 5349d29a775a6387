// Choosing the instruction set for a test. Whoever includes this has the library's definitions of targets, so that both
// mean the same ones.
#pragma once

#include <hwy/highway.h>
#include <hwy/targets.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith::test {

/// Makes the library dispatch to one target while it lives.
class OnlyTarget {
public:
    explicit OnlyTarget(std::int64_t target) {
        hwy::SetSupportedTargetsForTest(target);
        hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    }
    OnlyTarget(const OnlyTarget&) = delete;
    OnlyTarget& operator=(const OnlyTarget&) = delete;
    ~OnlyTarget() {
        hwy::SetSupportedTargetsForTest(0);
        hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    }
    /// Place in the dispatch tables.
    [[nodiscard]] static std::size_t chosen() { return hwy::GetChosenTarget().GetIndex(); }
};

/// All targets that this machine has and the build contains, the scalar fallback among them.
inline std::vector<std::int64_t> targets() {
    std::vector<std::int64_t> all = hwy::SupportedAndGeneratedTargets();
    if ((HWY_TARGETS & HWY_SCALAR) != 0 && (all.empty() || all.back() != HWY_SCALAR)) {
        all.push_back(HWY_SCALAR);
    }
    return all;
}

} // namespace kith::test
