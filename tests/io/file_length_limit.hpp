// A limit on the length of files stands for a full disk: writing fails half way.
#pragma once

#include <csignal>

#include <sys/resource.h>

namespace kith::test {

class FileLengthLimit {
public:
    explicit FileLengthLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit{bytes, before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    FileLengthLimit(const FileLengthLimit&) = delete;
    FileLengthLimit& operator=(const FileLengthLimit&) = delete;
    ~FileLengthLimit() {
        setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }

private:
    rlimit before_{};
    void (*handler_)(int);
};

} // namespace kith::test
