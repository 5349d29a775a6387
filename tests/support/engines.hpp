// The engines that the table of src/calls/answers.hpp grants a task: tests that loop over them meet a new row by
// themselves.
#pragma once

#include "calls/answers.hpp"

#include <kith/tree.hpp>

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

/// Options of an index of the engine, with planes of that shape if it has any.
inline TreeOptions index_options(Engine engine, const Box& box, const TreeShape& shape) {
    const bool has_planes = engine == Engine::automatic || engine == Engine::tree;
    return {.box = box, .engine = engine, .shape = has_planes ? shape : TreeShape{}};
}

} // namespace kith::test
