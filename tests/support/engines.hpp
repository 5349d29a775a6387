// The engines that the table of src/calls/answers.hpp grants a task: tests that loop over them meet a new row by
// themselves.
#pragma once

#include "calls/answers.hpp"

#include <cstddef>
#include <vector>

namespace kith::test {

/// Engine::automatic first.
inline std::vector<Engine> engines_of(detail::Task task, detail::Where where = detail::Where::cpu) {
    std::vector<Engine> engines;
    for (std::size_t i = 0; i < engine_names.size(); ++i) {
        if (detail::answers(static_cast<Engine>(i), task, where)) {
            engines.push_back(static_cast<Engine>(i));
        }
    }
    return engines;
}

/// The same without Engine::automatic.
inline std::vector<Engine> named_engines_of(detail::Task task, detail::Where where) {
    std::vector<Engine> engines = engines_of(task, where);
    std::erase(engines, Engine::automatic);
    return engines;
}

} // namespace kith::test
