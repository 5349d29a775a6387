// Texts to values. CLI11's own conversions are not used for numbers: they read 010 as octal and accept nan.
#include "cli/options.hpp"

#include "cli/report.hpp"
#include "cli/split_text.hpp"
#include "cli/usage_error.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <regex>

namespace kith::cli {

namespace {

/// Also as people write large ones: 1e6. Those beyond int64 become its limits.
bool parse_whole_number(std::string_view text, std::int64_t& value, bool& is_beyond) {
    double number = 0;
    if (parse_all(text, value)) {
        return true;
    }
    if (!parse_all(text, number) || !std::isfinite(number) || number != std::trunc(number)) {
        return false;
    }
    is_beyond = std::abs(number) >= 0x1p63;
    value = !is_beyond   ? static_cast<std::int64_t>(number)
            : number > 0 ? std::numeric_limits<std::int64_t>::max()
                         : std::numeric_limits<std::int64_t>::min();
    return true;
}

template <class IsValid>
double parse_number(std::string_view option, std::string_view text, const char* expected, const IsValid& is_valid) {
    double value = 0;
    if (!parse_all(text, value) || !is_valid(value)) {
        throw UsageError(fmt::format("{} is '{}'; it must be {}", option, text, expected));
    }
    return value;
}

} // namespace

std::int64_t parse_whole(std::string_view option, std::string_view text, std::int64_t least, std::int64_t most) {
    std::int64_t value = 0;
    bool is_beyond = false;
    if (!parse_whole_number(text, value, is_beyond) || value < least) {
        throw UsageError(fmt::format("{} is '{}'; it must be a whole number of {} or more", option, text, least));
    }
    if (value > most || is_beyond) {
        throw UsageError(fmt::format("{} is {}; it can be {} at most", option, text, most));
    }
    return value;
}

double parse_length(std::string_view option, std::string_view text) {
    return parse_number(option, text, "a finite number of 0 or more",
                        [](double value) { return std::isfinite(value) && value >= 0; });
}

double parse_positive(std::string_view option, std::string_view text) {
    return parse_number(option, text, "a finite number above 0",
                        [](double value) { return std::isfinite(value) && value > 0; });
}

double parse_positive_or_infinite(std::string_view option, std::string_view text) {
    return parse_number(option, text, "a finite number above 0, or inf", [](double value) { return value > 0; });
}

std::size_t parse_name(std::string_view option, std::string_view text, std::span<const std::string_view> names) {
    const auto found = std::find(names.begin(), names.end(), text);
    if (found == names.end()) {
        throw UsageError(fmt::format("{} is '{}'; give one of: {}", option, text, fmt::join(names, ", ")));
    }
    return static_cast<std::size_t>(found - names.begin());
}

std::vector<double> parse_lengths(std::string_view option, std::string_view text) {
    std::vector<double> lengths;
    for (const std::string_view part : split_at(text, ',')) {
        if (part.empty()) {
            throw UsageError(fmt::format("{} is '{}'; give numbers with one comma between them", option, text));
        }
        lengths.push_back(parse_length(option, part));
    }
    return lengths;
}

io::TypeSelection parse_types(std::string_view option, std::string_view text) {
    io::TypeSelection selection;
    if (text == "auto") {
        return selection;
    }
    if (text == "all") {
        selection.kind = io::TypeSelection::Kind::all;
        return selection;
    }
    selection.kind = io::TypeSelection::Kind::listed;
    for (const std::string_view part : split_at(text, ',')) {
        int type = 0;
        if (!parse_all(part, type) || type < 0 || type >= max_types) {
            throw UsageError(fmt::format("{0} is '{1}'; give {2}particle types 0 to {3} separated by commas ({0} 1, "
                                         "{0} 0,4)",
                                         option, text, option == "--types" ? "all, or " : "", max_types - 1));
        }
        selection.types.push_back(type);
    }
    std::sort(selection.types.begin(), selection.types.end());
    selection.types.erase(std::unique(selection.types.begin(), selection.types.end()), selection.types.end());
    return selection;
}

std::string describe_types(const io::Snapshot& snapshot) {
    if (!snapshot.header.has_types || snapshot.types.empty()) {
        return "";
    }
    std::array<bool, 256> present{};
    for (const std::uint8_t type : snapshot.types) {
        present[type] = true;
    }
    std::string list;
    for (std::size_t type = 0; type < present.size(); ++type) {
        if (present[type]) {
            list += fmt::format("{}{}", list.empty() ? "" : ", ", type);
        }
    }
    return (list.find(',') == std::string::npos ? "type " : "types ") + list;
}

Error with_file_context(const Error& error, const std::string& path, const io::Snapshot& snapshot) {
    // A column is an argument of the library; here it is of the file.
    static const std::regex of_column("(: row |^the weight of point )\\d+ (has|is|in) ");
    const bool is_of_column = error.kind() == ErrorKind::invalid_argument && std::regex_search(error.what(), of_column);
    if (error.kind() != ErrorKind::invalid_points && !is_of_column) {
        return error;
    }
    const std::string types = describe_types(snapshot);
    return {ErrorKind::invalid_points,
            fmt::format("'{}'{}: {}", path, types.empty() ? "" : ", " + types, error.what())};
}

void add_snapshot_argument(const Parser& command, const char* name, std::vector<std::string>& files, const char* help) {
    command.files(name, help, files).required();
}

void add_footer(const Parser& command, const std::string& about, const std::string& examples) {
    command.footer(fmt::format("{}\n\n{}\n\nExamples:\n{}", about, input_formats, examples));
}

std::string only_snapshot(const std::vector<std::string>& files, std::string_view loop_body) {
    const auto whole = io::one_snapshot({files.begin(), files.end()});
    if (!whole) {
        constexpr std::size_t max_listed = 4;
        std::string list;
        for (std::size_t i = 0; i < std::min(files.size(), max_listed); ++i) {
            list += ' ' + shell_word(files[i]);
        }
        throw UsageError(
            fmt::format("these {} files are not those of one snapshot, and one call reads one snapshot. "
                        "For one after the other (any one file of each snapshot), type\n  for file in{}{}; do {}; done",
                        files.size(), list, files.size() > max_listed ? " ..." : "", loop_body));
    }
    return whole->string();
}

io::Snapshot read_points(const std::string& path, const io::ReadOptions& options) {
    try {
        return io::read_snapshot(path, options);
    } catch (const Error& error) {
        const bool is_chosen = options.types.kind == io::TypeSelection::Kind::listed || !options.columns.empty();
        if (error.kind() == ErrorKind::invalid_argument && !is_chosen) {
            throw Error(ErrorKind::file, error.what());
        }
        throw;
    }
}

std::string_view name_of(DType dtype) {
    return dtype == DType::float32 ? "float32" : "float64";
}

void add_json_option(const Parser& command, CommonOptions& options) {
    command.flag("--json", "Print the summary as one JSON object", options.json);
}

Device parse_device(std::string_view text) {
    constexpr std::string_view prefix = "cuda:";
    if (text == "cpu") {
        return {};
    }
    if (text == "cuda") {
        return {DeviceKind::cuda, 0};
    }
    int index = 0;
    if (!text.starts_with(prefix) || !parse_all(text.substr(prefix.size()), index) || index < 0) {
        throw UsageError(fmt::format("--device is '{}'; it must be cpu, cuda, or cuda:1 for the second GPU", text));
    }
    return {DeviceKind::cuda, index};
}

std::string name_of(const Device& device) {
    return device.kind == DeviceKind::cpu ? "cpu" : fmt::format("cuda:{}", device.index);
}

Execution execution_of(const CommonOptions& options, Progress progress) {
    return options.device.kind == DeviceKind::cpu ? cpu(options.threads, std::move(progress))
                                                  : cuda(options.device.index, nullptr, std::move(progress));
}

void add_execution_options(const Parser& command, CommonOptions& options, bool on_gpus_of_ranks) {
    command.text("--device", "cpu|cuda[:I]",
                 std::string("Where to search and link: cpu (the default), or cuda for the first GPU, cuda:1 for the "
                             "second; ") +
                     (on_gpus_of_ranks ? "over ranks cuda is a GPU for each, which those of one machine take in turn"
                                       : "GPUs are not used over ranks"),
                 [&options](const std::string& text) {
                     options.device = parse_device(text);
                     options.any_gpu = text == "cuda";
                 });
    add_threads_option(command, options);
    add_json_option(command, options);
}

void add_threads_option(const Parser& command, CommonOptions& options) {
    add_value(command, "--threads", "T", "Threads to use; 0, the default, means all", options.threads, parse_whole, 0,
              max_threads);
}

void add_box_option(const Parser& command, BoxChoice& choice) {
    command.text("--box", "auto|none|L|Lx,Ly,Lz",
                 "The periodic box: auto (the default) takes the file's, none is open space, L or Lx,Ly,Lz gives the "
                 "periods; 0 leaves an axis open",
                 [&choice](const std::string& text) { choice = parse_box(text); });
}

void add_types_option(const Parser& command, io::TypeSelection& selection) {
    command.text("--types", "all|1|0,1,...",
                 "Particle types to use, if the file has types: all, or numbers 0 to 6 (default: 1 if the file has "
                 "any, else all)",
                 [&selection](const std::string& text) { selection = parse_types("--types", text); });
}

void add_columns_option(const Parser& command, std::vector<std::string>& columns, const std::string& name,
                        const std::string& help) {
    command.text(name, "all|x,y,z|2,3,4", help, [&columns, name](const std::string& text) {
        columns.clear();
        for (const std::string_view part : split_at(text, ',')) {
            if (part.empty()) {
                throw UsageError(fmt::format("{} is '{}'; give all, or names or numbers of columns with one comma "
                                             "between them",
                                             name, text));
            }
            columns.emplace_back(part);
        }
    });
}

void add_options_over_ranks(const Parser& command, CommonOptions& options, bool on_gpus_of_ranks) {
    command.flag("--rebalance",
                 "Under mpirun, let every process work on about as many points, near each other, wherever they are "
                 "in the file",
                 options.rebalance);
    add_execution_options(command, options, on_gpus_of_ranks);
}

void add_engine_option(const Parser& command, Engine& engine, const std::string& answering) {
    command.text("--engine", answering, "Search algorithm; auto by default. The answer does not depend on it",
                 [&engine, answering](const std::string& text) {
                     const std::vector<std::string_view> names = split_at(answering, '|');
                     engine = engine_named(names[parse_name("--engine", text, names)]).value();
                 });
}

} // namespace kith::cli
