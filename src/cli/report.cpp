#include "cli/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <sys/resource.h>

namespace kith::cli {

namespace {

/// A failure stays in the stream's error flag, which main() looks at.
void print(const std::string& text) {
    static_cast<void>(std::fwrite(text.data(), 1, text.size(), stdout));
}

/// "read 0.12 s, tree 0.02 s": the values above 0.
template <class Value, class Format>
std::string listed(const Named<Value>& values, const Format& format) {
    std::string text;
    for (const auto& [name, value] : values) {
        if (value > 0) {
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, format(value));
        }
    }
    return text;
}

} // namespace

std::string shell_word(std::string_view word) {
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 ||
               std::string_view("-_./,=:+@%").find(static_cast<char>(c)) != std::string_view::npos;
    });
    if (plain) {
        return std::string(word);
    }
    std::string text = "'";
    for (const char c : word) {
        text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return text + "'";
}

Invocation invocation_of(int argument_count, char** arguments) {
    Invocation invocation{"kith", nullptr};
    for (int i = 1; i < argument_count; ++i) {
        invocation.command += ' ' + shell_word(arguments[i]);
    }
    return invocation;
}

StageClock::StageClock(std::vector<std::string> stages) {
    for (std::string& stage : stages) {
        seconds_.emplace_back(std::move(stage), 0.0);
    }
}

void StageClock::add(std::string_view stage, double seconds) {
    value_of(seconds_, stage) += seconds;
}

void StageClock::add(const StageReports& reports) {
    for (const StageReport& report : reports) {
        add(report.name, report.seconds);
        std::int64_t& peak = value_of(peaks_, report.name);
        peak = std::max(peak, report.peak_bytes);
    }
}

double StageClock::total() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
}

Json StageClock::json() const {
    Json json = object_of(seconds_);
    json["total"] = total();
    return json;
}

std::string StageClock::text() const {
    return fmt::format("{}; {} in all", listed(seconds_, format_seconds), format_seconds(total()));
}

Json StageClock::peaks_json() const {
    return object_of(peaks_);
}

std::string StageClock::peaks_text() const {
    return listed(peaks_, format_bytes);
}

std::string memory_text(const StageClock& clock) {
    const std::string peaks = clock.peaks_text();
    return fmt::format("{} at most{}{}", format_bytes(peak_rss_bytes()),
                       peaks.empty() ? "" : "; working memory: ", peaks);
}

std::int64_t peak_rss_bytes() {
    rusage usage = {};
    getrusage(RUSAGE_SELF, &usage);
#if defined(__APPLE__)
    return usage.ru_maxrss;
#else
    return std::int64_t{1024} * usage.ru_maxrss;
#endif
}

std::string format_bytes(std::int64_t bytes) {
    constexpr double mebibyte = 1024.0 * 1024.0;
    const double size = static_cast<double>(bytes) / mebibyte;
    return size < 1024 ? fmt::format("{:.1f} MiB", size) : fmt::format("{:.2f} GiB", size / 1024);
}

std::string format_seconds(double seconds) {
    if (seconds < 0.001) {
        return fmt::format("{:.0f} \u00b5s", 1e6 * seconds);
    }
    return seconds < 1 ? fmt::format("{:.{}f} ms", 1000 * seconds, seconds < 0.01 ? 1 : 0)
                       : fmt::format("{:.2f} s", seconds);
}

std::string format_count(std::int64_t count) {
    std::string text = fmt::format("{}", count);
    for (auto comma = static_cast<std::ptrdiff_t>(text.size()) - 3; comma > (count < 0 ? 1 : 0); comma -= 3) {
        text.insert(static_cast<std::size_t>(comma), 1, ',');
    }
    return text;
}

std::string format_length(double length, DType dtype) {
    return dtype == DType::float32 ? fmt::format("{}", static_cast<float>(length)) : fmt::format("{}", length);
}

void print_stderr(std::string_view text) {
    static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
    static_cast<void>(std::fflush(stderr));
}

void print_warnings(const std::vector<std::string>& warnings) {
    for (const std::string& warning : warnings) {
        print_stderr(fmt::format("kith: warning: {}\n", warning));
    }
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

void print_json(const Json& json) {
    print(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

void print_line(std::string_view label, std::string_view text) {
    print(fmt::format("{:<9}{}\n", label, text));
}

void print_if_known(std::string_view label, const std::optional<double>& number) {
    if (number) {
        print_line(label, fmt::format("{}", *number));
    }
}

} // namespace kith::cli
