// Labels or rows of points, 32 or 64 bits wide.
#pragma once

#include <kith/types.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace kith {

/// Numbers of points or groups in one of two widths: 64 bits over ranks, otherwise 32.
class IndexArray {
public:
    IndexArray() = default; ///< no numbers of 32 bits
    IndexArray(std::vector<std::int32_t> numbers)
        : numbers_(std::move(numbers)) {} // NOLINT(google-explicit-constructor)
    IndexArray(std::vector<std::int64_t> numbers)
        : numbers_(std::move(numbers)) {} // NOLINT(google-explicit-constructor)

    [[nodiscard]] IndexType type() const noexcept {
        return numbers_.index() == 0 ? IndexType::int32 : IndexType::int64;
    }
    /// Calls function(std::span<const std::int32_t>), or with the other width, and returns what it returns.
    template <class Function>
    decltype(auto) visit(const Function& function) const {
        const auto* const narrow = std::get_if<0>(&numbers_);
        return narrow != nullptr ? function(std::span<const std::int32_t>(*narrow))
                                 : function(std::span<const std::int64_t>(*std::get_if<1>(&numbers_)));
    }
    [[nodiscard]] std::int64_t size() const noexcept {
        return visit([](const auto& numbers) { return static_cast<std::int64_t>(numbers.size()); });
    }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    [[nodiscard]] std::int64_t operator[](std::int64_t i) const noexcept {
        return visit([i](const auto& numbers) { return std::int64_t{numbers[static_cast<std::size_t>(i)]}; });
    }

    /// Throw Error: invalid_argument (type() is the other one).
    [[nodiscard]] std::span<const std::int32_t> as_int32() const;
    [[nodiscard]] std::span<const std::int64_t> as_int64() const;

    /// For writing: a vector of this width, which is empty if the array held the other width.
    template <class Index>
    [[nodiscard]] std::vector<Index>& vector() {
        auto* const held = std::get_if<std::vector<Index>>(&numbers_);
        return held != nullptr ? *held : numbers_.template emplace<std::vector<Index>>();
    }

    friend bool operator==(const IndexArray&, const IndexArray&) = default;

private:
    std::variant<std::vector<std::int32_t>, std::vector<std::int64_t>> numbers_;
};

} // namespace kith
