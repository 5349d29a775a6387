// Ctrl-C and other interrupts, without half-written files.
//
// The first SIGINT, SIGTERM, SIGHUP or SIGQUIT only raises a flag; the progress callback and the commands between their
// stages look at it, and the run ends as canceled. A second one ends the process at once, except while outputs are
// being written.
#pragma once

namespace kith::cli {

void watch_for_interrupts();

[[nodiscard]] bool interrupted() noexcept;

/// Throws Error(canceled) if the flag is up.
void stop_if_interrupted();

/// 128 plus the number of the signal, as shells have it.
[[nodiscard]] int interrupt_exit_code() noexcept;

/// While one of these lives, a second signal waits too.
class WritingSection {
public:
    WritingSection() noexcept;
    ~WritingSection();
    WritingSection(const WritingSection&) = delete;
    WritingSection& operator=(const WritingSection&) = delete;
};

} // namespace kith::cli
