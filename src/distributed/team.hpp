// The ranks of an execution (kith::over()).
#pragma once

#include <kith/communicator.hpp>
#include <kith/distributed.hpp>

namespace kith::detail {

struct Team {
    Communicator& communicator;
    RankOptions options;
};

} // namespace kith::detail
