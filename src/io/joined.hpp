// Lists in messages.
#pragma once

#include "support/message.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace kith::io {

/// The items, or `part` of each, with the separator between them: "x, y, z".
template <class Items, class Part = std::identity>
std::string joined(const Items& items, std::string_view separator, const Part& part = {}) {
    std::string text;
    for (const auto& item : items) {
        detail::append(text, text.empty() ? "" : separator);
        detail::append(text, std::invoke(part, item));
    }
    return text;
}

} // namespace kith::io
