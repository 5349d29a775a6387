#include "contestant.hpp"

#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <iostream>
#include <sstream>
#include <thread>

namespace bench {
namespace {

/// A field of /proc/self/status in bytes; 0 where there is none.
std::int64_t status_bytes(const std::string& field) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with(field + ":")) {
            return std::stoll(line.substr(field.size() + 1)) * 1024;
        }
    }
    return 0;
}

/// Lets the kernel count the peak of resident memory anew from here (man 5 proc_pid_clear_refs).
void restart_peak() {
    std::ofstream("/proc/self/clear_refs") << "5";
}

double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
        }
        out += c == '\n' ? ' ' : c;
    }
    return out + '"';
}

void reply(const std::string& json) {
    std::cout << json << std::endl;
}

double number(const std::string& name, const std::string& value) {
    try {
        return std::stod(value);
    } catch (const std::exception&) {
        throw std::runtime_error(name + " must be a number, not '" + value + "'");
    }
}

Workload workload_of(int argc, char** argv) {
    Workload workload;
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        const std::size_t equals = argument.find('=');
        const std::string name = argument.substr(0, equals);
        const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
        if (name == "points") {
            workload.points = read_points(value);
        } else if (name == "queries") {
            workload.queries = read_points(value);
        } else if (name == "k") {
            workload.k = static_cast<std::int64_t>(number(name, value));
        } else if (name == "linking_length") {
            workload.linking_length = number(name, value);
        } else if (name == "period") {
            workload.period = number(name, value);
        } else if (name == "threads") {
            workload.threads = static_cast<int>(number(name, value));
        } else if (name == "keep_tree") {
            workload.keep_tree = number(name, value) != 0;
        } else if (name == "visit") {
            workload.visit = number(name, value) != 0;
        } else {
            throw std::runtime_error("argument '" + argument + "' is none of points=, queries=, k=, linking_length=, " +
                                     "period=, threads=, keep_tree=, visit=");
        }
    }
    if (workload.points.bytes.empty() || workload.threads < 1 || (workload.k < 1) == !(workload.linking_length > 0)) {
        throw std::runtime_error("a workload needs points, at least one thread, and either k or a linking length");
    }
    if (workload.queries &&
        (workload.queries->type != workload.points.type || workload.queries->dimension != workload.points.dimension)) {
        throw std::runtime_error("queries and points must have one type and dimension");
    }
    return workload;
}

std::string timed_run(Contestant& contestant, bool keep_tree, bool first, std::int64_t bytes_before) {
    using Clock = std::chrono::steady_clock;
    const auto seconds_between = [](Clock::time_point from, Clock::time_point to) {
        return std::chrono::duration<double>(to - from).count();
    };
    if (!keep_tree) {
        contestant.forget();
    }
    restart_peak();
    double cpu_start = cpu_seconds();
    const auto start = Clock::now();
    if (!keep_tree || first) {
        contestant.build();
    }
    const auto built = Clock::now();
    if (keep_tree) {
        cpu_start = cpu_seconds();
    }
    contestant.search();
    const auto found = Clock::now();
    const double cpu = cpu_seconds() - cpu_start;
    const std::int64_t peak = status_bytes("VmHWM") - bytes_before;

    Stages stages = contestant.stages();
    if (stages.empty()) {
        stages = {{"build", seconds_between(start, built)}, {"search", seconds_between(built, found)}};
    }
    std::ostringstream json;
    json.precision(9);
    json << "{\"seconds\": " << seconds_between(keep_tree ? built : start, found) << ", \"cpu_seconds\": " << cpu
         << ", \"peak_bytes\": " << peak << ", \"stages\": {";
    const char* separator = "";
    for (const auto& [name, seconds] : stages) {
        json << separator << quoted(name) << ": " << seconds;
        separator = ", ";
    }
    json << "}}";
    return json.str();
}

} // namespace

int serve(int argc, char** argv, const Introduction& introduction, const MakeContestant& make) {
    try {
        const Workload workload = workload_of(argc, argv);
        const std::int64_t bytes_before = status_bytes("VmRSS");
        const std::unique_ptr<Contestant> contestant = make(workload);
        reply("{\"name\": " + quoted(introduction.name) + ", \"version\": " + quoted(introduction.version) +
              ", \"settings\": " + quoted(introduction.settings) +
              ", \"build\": " + quoted(std::string(BENCH_COMPILER " ") + BENCH_FLAGS) + "}");
        bool first = true;
        for (std::string line; std::getline(std::cin, line) && line != "quit";) {
            std::istringstream words(line);
            std::string command;
            words >> command;
            if (command == "run") {
                reply(timed_run(*contestant, workload.keep_tree, first, bytes_before));
                first = false;
                continue;
            }
            double factor = 1;
            std::string prefix;
            if (command == "regroup") {
                words >> factor;
            }
            std::getline(words >> std::ws, prefix); // a path may hold spaces
            if ((command != "answer" && command != "regroup") || !words || prefix.empty()) {
                throw std::runtime_error("command '" + line +
                                         "' is none of run, answer PREFIX, regroup FACTOR PREFIX, quit");
            }
            if (command == "regroup") {
                contestant->regroup(factor);
            }
            contestant->write_answer(prefix);
            reply("{}");
        }
        return 0;
    } catch (const Unsupported& reason) {
        reply("{\"unsupported\": " + quoted(reason.what()) + "}");
        return 0;
    } catch (const std::exception& error) {
        reply("{\"error\": " + quoted(error.what()) + "}");
        return 1;
    }
}

void in_blocks(std::size_t count, int threads, const std::function<void(std::size_t, std::size_t)>& work) {
    constexpr std::size_t block = 1024;
    std::atomic<std::size_t> next = 0;
    const auto take_blocks = [&] {
        for (std::size_t begin = next.fetch_add(block); begin < count; begin = next.fetch_add(block)) {
            work(begin, std::min(begin + block, count));
        }
    };
    std::vector<std::jthread> others;
    for (int thread = 1; thread < threads && static_cast<std::size_t>(thread) * block < count; ++thread) {
        others.emplace_back(take_blocks);
    }
    take_blocks();
}

} // namespace bench
