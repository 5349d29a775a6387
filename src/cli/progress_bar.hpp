// One line on the terminal that says how far the work is, and is gone when it ends.
//
// It is drawn on stderr, only if that is a terminal, at most ten times a second. It is also how Ctrl-C reaches the
// library: the callback returns false once a signal has come.
#pragma once

#include <kith/progress.hpp>

#include <chrono>
#include <string_view>

namespace kith::cli {

class ProgressBar {
public:
    /// A silent one draws nothing.
    explicit ProgressBar(bool is_silent = false);
    ~ProgressBar();
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;

    /// For kith::Execution; the bar must outlive it.
    [[nodiscard]] Progress callback();

    /// Names a stage that cannot tell how far it is.
    void announce(std::string_view stage);

    void erase();

private:
    void draw(std::string_view stage, double fraction);

    bool on_terminal_;
    bool drawn_ = false;
    std::chrono::steady_clock::time_point drawn_at_{};
};

} // namespace kith::cli
