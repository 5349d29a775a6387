#include "cli/interrupt.hpp"

#include <kith/error.hpp>

#include <csignal>
#include <unistd.h>

namespace kith::cli {

namespace {

// A signal handler may touch nothing else.
volatile std::sig_atomic_t received = 0;
volatile std::sig_atomic_t writing = 0;

extern "C" void note_signal(int signal) {
    if (received != 0 && writing == 0) {
        _exit(128 + signal);
    }
    received = signal;
}

} // namespace

void watch_for_interrupts() {
    struct sigaction action = {};
    action.sa_handler = note_signal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
        // Who started us with the signal ignored (nohup, a shell's background job) wants it ignored.
        struct sigaction inherited = {};
        sigaction(signal, nullptr, &inherited);
        if (inherited.sa_handler != SIG_IGN) {
            sigaction(signal, &action, nullptr);
        }
    }
    std::signal(SIGXFSZ, SIG_IGN); // a file beyond the limit is then a failed write like any other
}

bool interrupted() noexcept {
    return received != 0;
}

void stop_if_interrupted() {
    if (interrupted()) {
        throw Error(ErrorKind::canceled, "canceled between two stages");
    }
}

int interrupt_exit_code() noexcept {
    return 128 + (received != 0 ? static_cast<int>(received) : SIGINT);
}

WritingSection::WritingSection() noexcept {
    writing = 1;
}
WritingSection::~WritingSection() {
    writing = 0;
}

} // namespace kith::cli
