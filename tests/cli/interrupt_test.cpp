// What a signal does. Each case runs in a process of its own, as the flag stays up.
#include "cli/interrupt.hpp"
#include "cli/progress_bar.hpp"

#include <kith/error.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

namespace {

using namespace kith::cli;

[[noreturn]] void interrupt_and_report() {
    watch_for_interrupts();
    ProgressBar bar;
    const kith::Progress progress = bar.callback();
    const bool before = progress("tree", 0.5);
    std::raise(SIGINT);
    const bool after = progress("tree", 0.6);
    bool stopped = false;
    try {
        stop_if_interrupted();
    } catch (const kith::Error& error) {
        stopped = error.kind() == kith::ErrorKind::canceled;
    }
    std::_Exit(before && !after && stopped ? interrupt_exit_code() : 1);
}

[[noreturn]] void interrupt_twice(bool while_writing) {
    watch_for_interrupts();
    std::raise(SIGINT);
    if (while_writing) {
        const WritingSection writing;
        std::raise(SIGINT);
        std::_Exit(0);
    }
    std::raise(SIGINT);
    std::_Exit(1);
}

[[noreturn]] void interrupt_while_ignored(int signal) {
    std::signal(signal, SIG_IGN);
    watch_for_interrupts();
    std::raise(signal);
    std::_Exit(interrupted() ? 1 : 0);
}

[[noreturn]] void interrupt_once(int signal) {
    watch_for_interrupts();
    std::raise(signal);
    std::_Exit(interrupted() ? interrupt_exit_code() : 0);
}

TEST(InterruptDeathTest, TheFirstSignalCancels) {
    EXPECT_EXIT(interrupt_and_report(), testing::ExitedWithCode(130), "");
}

TEST(InterruptDeathTest, TheSecondEndsTheProcessButNotWhileWriting) {
    EXPECT_EXIT(interrupt_twice(false), testing::ExitedWithCode(130), "");
    EXPECT_EXIT(interrupt_twice(true), testing::ExitedWithCode(0), "");
}

TEST(InterruptDeathTest, AnIgnoredSignalStaysIgnored) {
    for (const int signal : {SIGINT, SIGHUP}) {
        EXPECT_EXIT(interrupt_while_ignored(signal), testing::ExitedWithCode(0), "") << signal;
    }
}

TEST(InterruptDeathTest, EverySignalThatAsksToEndIsWatched) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
        EXPECT_EXIT(interrupt_once(signal), testing::ExitedWithCode(128 + signal), "") << signal;
    }
}

TEST(InterruptDeathTest, AFileBeyondTheLimitIsLeftToTheWriter) {
    EXPECT_EXIT(interrupt_once(SIGXFSZ), testing::ExitedWithCode(0), "");
}

} // namespace
