// What a run tells about itself: the time of its stages, its memory, its warnings; for people and as JSON.
#pragma once

#include <kith/io.hpp>
#include <kith/progress.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kith::cli {

using Json = nlohmann::ordered_json;

class RankTeam;

/// What this process was asked to do.
struct Invocation {
    std::string command;       ///< the command line, quoted so that a shell reads it back
    RankTeam* ranks = nullptr; ///< the processes that do it together; null: this one alone
};

/// Values beside their names.
template <class Value>
using Named = std::vector<std::pair<std::string, Value>>;

/// The value of a name, added to the others if it is new.
template <class Value>
Value& value_of(Named<Value>& values, std::string_view name) {
    const auto found = std::ranges::find(values, name, &std::pair<std::string, Value>::first);
    return found != values.end() ? found->second : values.emplace_back(name, Value()).second;
}

template <class Value>
[[nodiscard]] Json object_of(const Named<Value>& values) {
    return Json::object_t(values.begin(), values.end());
}

/// The largest numbers, in descending order.
template <class Numbers>
[[nodiscard]] auto largest_of(const Numbers& numbers, std::size_t most = 10) {
    std::vector<typename Numbers::value_type> largest(std::min(most, static_cast<std::size_t>(numbers.size())));
    std::partial_sort_copy(numbers.begin(), numbers.end(), largest.begin(), largest.end(), std::greater<>());
    return largest;
}

/// A word as a shell reads it back.
[[nodiscard]] std::string shell_word(std::string_view word);

[[nodiscard]] Invocation invocation_of(int argument_count, char** arguments);

/// Seconds by stage, in the order given to the constructor, and the working memory of those that the library reports.
/// Stages that never ran count 0; stages that the library names beside them follow.
class StageClock {
public:
    explicit StageClock(std::vector<std::string> stages);

    void add(std::string_view stage, double seconds);
    void add(const StageReports& reports);

    /// Runs the body and books its time.
    template <class Body>
    decltype(auto) time(std::string_view stage, Body&& body) {
        const Booking booking{*this, stage};
        return std::forward<Body>(body)();
    }

    [[nodiscard]] Json json() const;              ///< every stage, and the total wall-clock time so far
    [[nodiscard]] Json peaks_json() const;        ///< bytes of working memory, of the stages that report it
    [[nodiscard]] std::string peaks_text() const; ///< "order 1.5 MiB, tree 0.2 MiB"; empty if no stage took any
    [[nodiscard]] std::string text() const;       ///< "read 0.12 s, tree 0.02 s; 0.2 s in all", idle stages left out

private:
    using Clock = std::chrono::steady_clock;
    struct Booking {
        StageClock& clock;
        std::string_view stage;
        Clock::time_point start = Clock::now();
        ~Booking() { clock.add(stage, std::chrono::duration<double>(Clock::now() - start).count()); }
    };
    [[nodiscard]] double total() const;

    Named<double> seconds_;
    Named<std::int64_t> peaks_;
    Clock::time_point start_ = Clock::now();
};

/// The memory line of a summary: what the process held at most, and the working memory of its stages.
[[nodiscard]] std::string memory_text(const StageClock& clock);

/// The most memory this process ever held, as the system counts it.
[[nodiscard]] std::int64_t peak_rss_bytes();

[[nodiscard]] std::string format_bytes(std::int64_t bytes);
[[nodiscard]] std::string format_seconds(double seconds);   ///< 0.0042 as 4.2 ms, 12.3 as 12.30 s
[[nodiscard]] std::string format_count(std::int64_t count); ///< 1234567 as 1,234,567

/// Of at least one number; of an even count, the mean of the two in the middle.
[[nodiscard]] double median(std::vector<double> values);

/// A length of points of that type, in the fewest digits that read back to the same value.
[[nodiscard]] std::string format_length(double length, DType dtype);

/// On stderr. That nobody can read it there (closed, or on a full disk) is no reason to fail.
void print_stderr(std::string_view text);

/// Each on stderr, after "kith: warning: ".
void print_warnings(const std::vector<std::string>& warnings);

/// One object on stdout. Names that are not UTF-8 are shown with replacement characters.
void print_json(const Json& json);

/// "label    text": one line of a summary on stdout.
void print_line(std::string_view label, std::string_view text);
void print_if_known(std::string_view label, const std::optional<double>& number);

} // namespace kith::cli
