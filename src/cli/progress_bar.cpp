#include "cli/progress_bar.hpp"

#include "cli/interrupt.hpp"
#include "cli/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unistd.h>

namespace kith::cli {

ProgressBar::ProgressBar(bool is_silent) : on_terminal_(!is_silent && ::isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() {
    erase();
}

Progress ProgressBar::callback() {
    return [this](std::string_view stage, double fraction) {
        const auto now = std::chrono::steady_clock::now();
        if (on_terminal_ && now - drawn_at_ >= std::chrono::milliseconds(100)) {
            drawn_at_ = now;
            draw(stage, fraction);
        }
        return !interrupted();
    };
}

void ProgressBar::announce(std::string_view stage) {
    if (on_terminal_) {
        print_stderr(fmt::format("\r\033[K{} ...", stage));
        drawn_ = true;
        drawn_at_ = std::chrono::steady_clock::now();
    }
}

void ProgressBar::erase() {
    if (drawn_) {
        print_stderr("\r\033[K");
        drawn_ = false;
    }
}

void ProgressBar::draw(std::string_view stage, double fraction) {
    constexpr int cells = 40;
    const double done = std::clamp(fraction, 0.0, 1.0);
    const auto filled = static_cast<std::size_t>(std::lround(done * cells));
    print_stderr(fmt::format("\r\033[K{:<10} [{:-<{}}] {:3.0f} %", stage, std::string(filled, '#'), cells, 100 * done));
    drawn_ = true;
}

} // namespace kith::cli
