// What a call carries from stage to stage: errors.
#include "support/context.hpp"

#include "support/parallel.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <new>

namespace kith::test {
namespace {

TEST(Context, ContainersThatFailToAllocateThrowErrors) {
    detail::Context context(cpu(2));
    try {
        context.stage("search", [] {
            detail::parallel_for(0, 1000, 1, [](std::int64_t begin, std::int64_t end) {
                if (begin <= 500 && 500 < end) {
                    throw std::bad_alloc();
                }
            });
        });
        FAIL() << "nothing was thrown";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::out_of_memory);
    }
}

} // namespace
} // namespace kith::test
