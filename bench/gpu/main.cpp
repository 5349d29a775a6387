// bench_gpu: what kith takes on a GPU, row by row, each checked, beside its goal and its floor.
//
// A row's name is printed behind "> " before it begins, so that bench/gpu_check.sh knows which row takes too long or
// ends the program; its results go to a file as soon as it ends. The program ends if a row leaves the device unusable.
// Exit status: 0 all is right, 1 something failed or was wrong, 2 the arguments make no sense, 3 there is no GPU.
#include "generator.hpp"
#include "report_file.hpp"
#include "row.hpp"

#include <kith/execution.hpp>
#include <kith/version.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <ctime>
#include <iomanip>
#include <iostream>
#include <optional>
#include <regex>
#include <sstream>
#include <string_view>

namespace bench {
namespace {

constexpr int no_gpu = 3;

constexpr std::string_view usage = R"(usage: bench_gpu [options]
  --list               names the rows, the main ones first, and exits
  --main, --rest       only the main rows, or all others
  --rows PATTERN       only rows whose name has a match of the regular expression
  --output FILE        the results as JSON; a file of an earlier run is continued
  --repetitions N      timed runs of a row (10)
  --positions FILE     points of your own instead: float32, three coordinates a point, in a periodic cube
  --period L           the width of that cube (1)
  --commit NAME        of the sources, for the file
)";

/// The arguments make no sense; the text says why.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Options {
    bool list = false;
    std::optional<bool> main;
    std::regex rows{""};
    std::string output;
    int repetitions = 10;
    std::string positions;
    double period = 1;
    std::string commit = BENCH_COMMIT;
};

template <class Number>
Number number(std::string_view option, std::string_view text, Number least) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !(value >= least)) {
        throw UsageError(std::string(option) + " must be a number from " + std::to_string(least) + " on, not '" +
                         std::string(text) + "'");
    }
    return value;
}

Options options_of(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string_view option = argv[i];
        if (option == "--list") {
            options.list = true;
            continue;
        }
        if (option == "--main" || option == "--rest") {
            options.main = option == "--main";
            continue;
        }
        if (option != "--rows" && option != "--output" && option != "--repetitions" && option != "--positions" &&
            option != "--period" && option != "--commit") {
            throw UsageError("there is no option '" + std::string(option) + "'");
        }
        if (++i == argc) {
            throw UsageError(std::string(option) + " needs a value");
        }
        const std::string value = argv[i];
        if (option == "--rows") {
            try {
                options.rows = std::regex(value);
            } catch (const std::regex_error&) {
                throw UsageError("'" + value + "' is no regular expression");
            }
        } else if (option == "--output") {
            options.output = value;
        } else if (option == "--repetitions") {
            options.repetitions = number(option, value, 1);
        } else if (option == "--positions") {
            options.positions = value;
        } else if (option == "--period") {
            options.period = number(option, value, 0.0);
        } else {
            options.commit = value;
        }
    }
    return options;
}

std::vector<Row> chosen_rows(const Options& options) {
    std::vector<Row> rows = options.positions.empty() ? all_rows() : rows_of_file(options.positions, options.period);
    std::erase_if(rows, [&](const Row& row) {
        return (options.main && row.main != *options.main) || !std::regex_search(row.name, options.rows);
    });
    if (rows.empty()) {
        throw UsageError("no row is called so; --list names them");
    }
    return rows;
}

std::string now() {
    const std::time_t time = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::ostringstream text;
    text << std::put_time(std::localtime(&time), "%Y-%m-%dT%H:%M");
    return text.str();
}

JsonObject head_of_report(const Options& options, const Ceilings& ceilings, bool points_as_on_host) {
    JsonObject device;
    for (const auto& [name, value] : device_facts()) {
        device.add(name, value);
    }
    device.add("clocks_at_start", clocks_now())
        .add("copy_bytes_per_second", ceilings.bytes_per_second)
        .add("float32_instructions_per_second", ceilings.instructions_per_second);
    return JsonObject()
        .add("date", now())
        .add("suite", "gpu")
        .add("commit", options.commit)
        .add("machine", device)
        .add("repetitions", options.repetitions)
        .add("points_as_on_host", points_as_on_host)
        .add("contestants", JsonObject().add("kith", JsonObject()
                                                         .add("name", "kith")
                                                         .add("version", KITH_VERSION)
                                                         .add("settings", "defaults")
                                                         .add("build", BENCH_BUILD)));
}

bool run(const Options& options, const std::vector<Row>& rows) {
    Bench bench;
    bench.repetitions = options.repetitions;
    bench.ceilings = measure_ceilings(bench.stream);
    std::cout << device_facts().at("name") << ", " << std::setprecision(3) << bench.ceilings.bytes_per_second * 1e-12
              << " TB/s copied, " << bench.ceilings.instructions_per_second * 2e-12 << " TFLOP/s of float32 fma; "
              << clocks_now() << '\n'
              << std::left << std::setw(32) << "row" << std::right << std::setw(10) << "median" << std::setw(10)
              << "least" << std::setw(10) << "most" << std::setw(10) << "goal" << std::setw(7) << "floors"
              << std::setw(7) << "B/pt" << std::endl;
    const bool points_as_on_host = places_as_the_host(bench.stream);
    if (!points_as_on_host) {
        std::cerr << "bench_gpu: the device places points elsewhere than the host\n";
    }
    std::optional<ReportFile> report;
    if (!options.output.empty()) {
        report.emplace(options.output, head_of_report(options, bench.ceilings, points_as_on_host));
    }
    bool good = true;
    for (const Row& row : rows) {
        std::cout << "> " << row.name << std::endl;
        Outcome outcome;
        try {
            outcome = row.run(bench, row.name);
        } catch (const std::exception& error) {
            outcome = {failure(row.name, error.what()), row.name + "  FAILED: " + error.what(), false};
        }
        good = good && outcome.good;
        if (report) {
            report->add(row.name, outcome.row);
        }
        std::cout << outcome.line << std::endl;
        if (const cudaError_t error = cudaDeviceSynchronize(); error != cudaSuccess) {
            std::cerr << "bench_gpu: rows after this one need another process: " << cudaGetErrorString(error) << '\n';
            return false;
        }
        kith::release_memory({kith::DeviceKind::cuda, 0}); // so that no row depends on what another one took
    }
    return good;
}

} // namespace
} // namespace bench

int main(int argc, char** argv) {
    using namespace bench;
    try {
        const Options options = options_of(argc, argv);
        const std::vector<Row> rows = chosen_rows(options);
        if (options.list) {
            for (const Row& row : rows) {
                std::cout << row.name << '\n';
            }
            return 0;
        }
        int devices = 0;
        const cudaError_t error = cudaGetDeviceCount(&devices);
        if (error != cudaSuccess || devices == 0) {
            std::cerr << "bench_gpu: there is no GPU to run on: "
                      << (error == cudaSuccess ? "the driver names none" : cudaGetErrorString(error)) << '\n';
            return no_gpu;
        }
        return run(options, rows) ? 0 : 1;
    } catch (const UsageError& error) {
        std::cerr << "bench_gpu: " << error.what() << '\n' << usage;
        return 2;
    } catch (const std::exception& error) {
        std::cerr << "bench_gpu: " << error.what() << '\n';
        return 1;
    }
}
