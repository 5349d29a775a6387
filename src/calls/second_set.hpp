// The name of a second set of points in errors. It is checked and wrapped as queries are, whose errors begin with
// "queries"; a call that has another name for it replaces that.
#pragma once

#include <kith/error.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace kith::detail {

/// Runs body(), whose errors about points of the second set then begin with its name.
template <class Body>
decltype(auto) naming_second_set(std::string_view name, const Body& body) {
    try {
        return body();
    } catch (const Error& error) {
        constexpr std::string_view queries = "queries";
        std::string text = error.what();
        const std::size_t begin = text.starts_with("rank ") ? text.find(": ") + 2 : 0; // over ranks
        if (text.compare(begin, queries.size(), queries) != 0) {
            throw;
        }
        throw Error(error.kind(), text.replace(begin, queries.size(), name), error.details());
    }
}

} // namespace kith::detail
