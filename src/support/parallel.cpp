#include "support/parallel.hpp"

#include "support/denormals.hpp"
#include "support/fork_join.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

namespace kith::detail {

void run_in_pieces(std::int64_t begin, std::int64_t end, std::int64_t grain, const LoopBody& body) {
    ForkJoin fork_join;
    const ForkSpan fork(fork_join);
    tbb::parallel_for(tbb::blocked_range<std::int64_t>(begin, end, grain < 1 ? 1 : static_cast<std::size_t>(grain)),
                      [&](const tbb::blocked_range<std::int64_t>& range) {
                          const TaskSpan task(fork_join);
                          const DenormalGuard guard;
                          body.call(body.body, range.begin(), range.end());
                      });
}

} // namespace kith::detail
