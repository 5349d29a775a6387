// Texts to values. CLI11's own conversions are not used for numbers: they read 010 as octal and accept nan.
#include "cli/options.hpp"

#include "cli/report.hpp"
#include "cli/usage_error.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace kith::cli {

namespace {

template <class Number>
bool parse_all(std::string_view text, Number& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
}

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

std::vector<std::string_view> split_at(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(separator, begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
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

BoxChoice parse_box(std::string_view text) {
    if (text == "auto") {
        return {};
    }
    if (text == "none") {
        return {BoxChoice::Kind::open, {}};
    }
    BoxChoice choice{BoxChoice::Kind::periods, {}};
    for (const std::string_view part : split_at(text, ',')) {
        double period = 0;
        if (!parse_all(part, period) || !std::isfinite(period) || period < 0) {
            throw UsageError(
                fmt::format("--box is '{}'; give auto, none, one period for all axes (--box 1), or one per "
                            "axis separated by commas (--box 1,1,2; 0 leaves an axis open)",
                            text));
        }
        choice.periods.push_back(period);
    }
    if (choice.periods.size() > static_cast<std::size_t>(max_dimension)) {
        throw UsageError(
            fmt::format("--box has {} periods; points have at most {} axes", choice.periods.size(), max_dimension));
    }
    return choice;
}

ResolvedBox resolve_box(const BoxChoice& choice, const io::SnapshotHeader& header) {
    if (choice.kind == BoxChoice::Kind::open) {
        return {{}, "--box none"};
    }
    if (choice.kind == BoxChoice::Kind::periods) {
        if (choice.periods.size() == 1) {
            return {Box::periodic(choice.periods.front()), "--box"};
        }
        if (static_cast<int>(choice.periods.size()) != header.dimension) {
            throw UsageError(fmt::format("--box has {} periods, but the points have {} axes; give one period for all "
                                         "axes, or {} separated by commas",
                                         choice.periods.size(), header.dimension, header.dimension));
        }
        return {Box::periodic(choice.periods), "--box"};
    }
    if (!header.invalid_box.empty()) {
        throw Error(ErrorKind::file, header.invalid_box + "; give the box with --box, or --box none for open space");
    }
    const bool known = header.box_size &&
                       std::any_of(header.box_size->begin(), header.box_size->end(), [](double l) { return l > 0; });
    if (!known) {
        return {{}, "the file states no box; if it is periodic, give --box"};
    }
    return {Box::periodic(std::span<const double>(header.box_size->data(), static_cast<std::size_t>(header.dimension))),
            "from the file"};
}

namespace {

/// Both boxes, if periods contradict those of the file. Digits that float32 would drop do not count, and a 0 on either
/// side is no period.
std::string contradiction(const Box& given, const io::SnapshotHeader& header) {
    constexpr double tolerance = 1e-6;
    if (!header.box_size || header.dimension > 3) {
        return "";
    }
    const std::span stated(header.box_size->data(), static_cast<std::size_t>(header.dimension));
    for (int axis = 0; axis < header.dimension; ++axis) {
        const double ours = given.period(axis);
        const double files = stated[axis];
        if (ours > 0 && files > 0 && std::abs(ours - files) > tolerance * std::max(ours, files)) {
            return fmt::format(
                "--box is {}, but the file states a box of {}; --box is taken. Is it in other units than "
                "the points (Mpc, Mpc/h)? Without --box the file's box is taken",
                describe(given, header.dimension), describe(Box::periodic(stated), header.dimension));
        }
    }
    return "";
}

double extent_of(const io::RealArray& positions, int axis) {
    return std::visit(
        [&](const auto& values) {
            const auto step = static_cast<std::size_t>(positions.columns);
            auto low = values[axis];
            auto high = low;
            for (auto i = static_cast<std::size_t>(axis); i < values.size(); i += step) {
                low = std::min(low, values[i]);
                high = std::max(high, values[i]);
            }
            return static_cast<double>(high) - static_cast<double>(low);
        },
        positions.values);
}

std::string wrapped_points(const Box& given, const io::RealArray& positions) {
    constexpr double ordinary = 1.1; // periods that the particles of a box extend over when they are not wrapped
    for (int axis = 0; positions.rows() > 0 && axis < positions.columns; ++axis) {
        const double period = given.period(axis);
        const double extent = period > 0 ? extent_of(positions, axis) : 0;
        if (extent > ordinary * period) {
            return fmt::format("the points extend over {:.6g} on axis {}, but --box is {} there: those outside are "
                               "wrapped into it. Is --box in other units than the points (Mpc, Mpc/h)?",
                               extent, axis, period);
        }
    }
    return "";
}

} // namespace

void add_box_warnings(std::vector<std::string>& warnings, const BoxChoice& choice, const io::Snapshot& snapshot) {
    if (choice.kind != BoxChoice::Kind::periods) {
        return;
    }
    const Box given = resolve_box(choice, snapshot.header).box;
    std::string warning = contradiction(given, snapshot.header);
    if (warning.empty()) {
        warning = wrapped_points(given, snapshot.positions);
    }
    if (!warning.empty()) {
        warnings.push_back(std::move(warning));
    }
}

std::string describe(const Box& box, int dimension, DType dtype) {
    if (box.is_open()) {
        return "open";
    }
    std::string text;
    for (int axis = 0; axis < dimension; ++axis) {
        text += axis == 0 ? "" : " x ";
        text += box.period(axis) == 0 ? "open" : format_length(box.period(axis), dtype);
    }
    return text;
}

std::string describe(const Box& box, const io::RealArray& points) {
    return describe(box, points.columns, points.dtype());
}

io::TypeSelection parse_types(std::string_view text) {
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
            throw UsageError(fmt::format("--types is '{}'; give all, or particle types 0 to {} separated by commas "
                                         "(--types 1, --types 0,4)",
                                         text, max_types - 1));
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
    if (error.kind() != ErrorKind::invalid_points) {
        return error;
    }
    const std::string types = describe_types(snapshot);
    return {error.kind(), fmt::format("'{}'{}: {}", path, types.empty() ? "" : ", " + types, error.what())};
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
        if (error.kind() == ErrorKind::invalid_argument && options.types.kind != io::TypeSelection::Kind::listed) {
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

void add_execution_options(const Parser& command, CommonOptions& options) {
    command.text("--device", "cpu|cuda[:I]",
                 "Where to search and link: cpu (the default), or cuda for the first GPU, cuda:1 for the second",
                 [&options](const std::string& text) { options.device = parse_device(text); });
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
                 [&selection](const std::string& text) { selection = parse_types(text); });
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

void add_rebalance_option(const Parser& command, bool& rebalance) {
    command.flag("--rebalance",
                 "Under mpirun, let every process work on about as many points, near each other, wherever they are "
                 "in the file",
                 rebalance);
}

void add_engine_option(const Parser& command, Engine& engine, const std::string& answering) {
    command.text("--engine", answering, "Search algorithm; auto by default. The answer does not depend on it",
                 [&engine, answering](const std::string& text) {
                     const std::vector<std::string_view> names = split_at(answering, '|');
                     if (std::find(names.begin(), names.end(), text) == names.end()) {
                         throw UsageError(
                             fmt::format("--engine is '{}'; give one of: {}", text, fmt::join(names, ", ")));
                     }
                     engine = engine_named(text).value();
                 });
}

} // namespace kith::cli
