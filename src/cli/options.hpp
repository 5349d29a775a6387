// The options that several commands share: numbers, boxes, particle types.
//
// Texts become values here, with an error that names the option, the text and what was expected. A box can only be
// settled once the file is known (`auto`, and the number of axes), so it is parsed first and resolved after reading.
#pragma once

#include "cli/parser.hpp"

#include <kith/error.hpp>
#include <kith/execution.hpp>
#include <kith/io.hpp>
#include <kith/knn.hpp>
#include <kith/points.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kith::cli {

/// Throw UsageError unless the text is a whole number (16, 1e6) of at least `least`, or a finite number of 0 or more,
/// one above 0, or one above 0 or "inf".
[[nodiscard]] std::int64_t parse_whole(std::string_view option, std::string_view text, std::int64_t least,
                                       std::int64_t most);
[[nodiscard]] double parse_length(std::string_view option, std::string_view text);
[[nodiscard]] double parse_positive(std::string_view option, std::string_view text);
[[nodiscard]] double parse_positive_or_infinite(std::string_view option, std::string_view text);
/// The position of a name in a list of them.
[[nodiscard]] std::size_t parse_name(std::string_view option, std::string_view text,
                                     std::span<const std::string_view> names);
/// Several separated by commas.
[[nodiscard]] std::vector<double> parse_lengths(std::string_view option, std::string_view text);

/// What --box says, before the file is known.
struct BoxChoice {
    enum class Kind : std::uint8_t { automatic, open, periods };
    Kind kind = Kind::automatic;
    std::vector<double> periods; ///< one for all axes, or one per axis; 0 leaves an axis open
};

[[nodiscard]] BoxChoice parse_box(std::string_view text);

struct ResolvedBox {
    Box box;
    std::string origin; ///< where it comes from, for people: "from the file", "--box", "the file names none"
};

/// Throws UsageError if the number of periods is not the number of axes, and Error(file) if the choice is the file's
/// box and the file states one that has no meaning.
[[nodiscard]] ResolvedBox resolve_box(const BoxChoice& choice, const io::SnapshotHeader& header);

/// Adds what is suspicious about periods that --box gives: that they contradict the file's, or else that points extend
/// well beyond them and are wrapped. Above two periods the library refuses; a little beyond one is how simulations
/// write particles that left the box.
void add_box_warnings(std::vector<std::string>& warnings, const BoxChoice& choice, const io::Snapshot& snapshot);

/// Adds that the file of the queries states another box than the one that both sets are searched in.
void add_query_box_warning(std::vector<std::string>& warnings, const ResolvedBox& box, const std::string& path,
                           const io::SnapshotHeader& header);

/// "1 x 1 x 1", "open", or "1 x open x 1"; of points, as their type has the periods.
[[nodiscard]] std::string describe(const Box& box, int dimension, DType dtype = DType::float64);
[[nodiscard]] std::string describe(const Box& box, const io::RealArray& points);

/// "auto", "all", or numbers 0 to 6 separated by commas.
[[nodiscard]] io::TypeSelection parse_types(std::string_view option, std::string_view text);

/// "type 1", "types 0, 1, 4", or "" for files without types: what was really read.
[[nodiscard]] std::string describe_types(const io::Snapshot& snapshot);

/// The path that stands for the files given. Throws UsageError if they are of several snapshots: a command reads one,
/// and `loop_body` is what a shell's loop over "$file" would do.
[[nodiscard]] std::string only_snapshot(const std::vector<std::string>& files, std::string_view loop_body);

/// Reads the selected particles. That the selection is empty, or a chosen column is not there, is wrong usage; that a
/// snapshot has no particles of any type is the file's fault, and thrown as Error(file). An array without rows is an
/// ordinary one.
[[nodiscard]] io::Snapshot read_points(const std::string& path, const io::ReadOptions& options);

/// The library's refusal of points or of a number in a column; it becomes invalid_points, and names the file and the
/// types that were taken from it, among which points are counted. Other errors come back as they are.
[[nodiscard]] Error with_file_context(const Error& error, const std::string& path, const io::Snapshot& snapshot);

[[nodiscard]] std::string_view name_of(DType dtype);

/// What every command understands.
struct CommonOptions {
    bool json = false;
    int threads = 0;
    Device device;
    bool any_gpu = false;   ///< `--device cuda`: over ranks each takes a GPU of its machine in turn
    bool rebalance = false; ///< points over ranks
};

/// What commands that read one snapshot understand.
struct SnapshotArguments {
    CommonOptions common;
    std::vector<std::string> files;
    std::string snapshot; ///< the one that the files are
    std::string output;
    BoxChoice box;
    io::TypeSelection types;
    std::vector<std::string> columns;
};

/// "cpu", "cuda" or "cuda:1".
[[nodiscard]] Device parse_device(std::string_view text);
[[nodiscard]] std::string name_of(const Device& device);
[[nodiscard]] Execution execution_of(const CommonOptions& options, Progress progress);

/// What may be given for a snapshot or an array: for an argument's line, and for the end of a command's help.
inline constexpr const char* input_help = "Snapshot or array; the format is found from its content";
inline constexpr const char* input_formats =
    "Formats read: HDF5 (Gadget-4, AREPO, SWIFT, GIZMO), Gadget-2 binary (1 and 2), Tipsy (binary and ASCII), .npy,\n"
    ".npz, PLY, and tables in text, whose columns may be named (x,y,z,vx,vy,vz,mass,id), lists of halos (Rockstar,\n"
    "AHF) among them. A snapshot in several files is given\n"
    "by any of them, by all, or by its stem: snap_007 for snap_007.0, snap_007.1, ... or snap_007.0.hdf5, ...\n"
    "Any n x d dataset of an HDF5 file and any such array of a .npz archive is given after a colon:\n"
    "halos.hdf5:/Group/GroupPos, points.npz:positions.";

/// The argument of a command that reads one snapshot: one file, or what a shell makes of snap_007.*.hdf5.
void add_snapshot_argument(const Parser& command, const char* name, std::vector<std::string>& files,
                           const char* help = input_help);

/// The end of such a command's help: what there is to know about its results, the formats read, examples.
void add_footer(const Parser& command, const std::string& about, const std::string& examples);

/// Adds an option whose value is parse(option, text, limits...); errors name it by the first of its names.
template <class Value, class Parse, class... Limits>
Option add_value(const Parser& command, const std::string& names, const std::string& type, const std::string& help,
                 Value& value, Parse parse, Limits... limits) {
    const std::string option = names.substr(0, names.find(','));
    return command.text(names, type, help, [&value, parse, option, limits...](const std::string& text) {
        value = static_cast<Value>(parse(option, text, limits...));
    });
}

void add_json_option(const Parser& command, CommonOptions& options);
void add_threads_option(const Parser& command, CommonOptions& options);
/// Where and with how many threads to run, and --json. The help says whether ranks can have a GPU each.
void add_execution_options(const Parser& command, CommonOptions& options, bool on_gpus_of_ranks = false);
/// The same and --rebalance, for commands that run over ranks.
void add_options_over_ranks(const Parser& command, CommonOptions& options, bool on_gpus_of_ranks = false);
void add_box_option(const Parser& command, BoxChoice& choice);
void add_types_option(const Parser& command, io::TypeSelection& selection);
void add_columns_option(
    const Parser& command, std::vector<std::string>& columns, const std::string& name = "--columns",
    const std::string& help =
        "Columns of a text table that are the coordinates: names, numbers from 1, or all (default: "
        "x, y and z by name, or all of two or three without names); mass=NAME among them is that of the masses");
/// The engines that answer every call, for add_engine_option.
inline constexpr const char* tree_or_brute = "auto|tree|brute";
/// `answering` lists the engines that support the call, with | between them; others are refused.
void add_engine_option(const Parser& command, Engine& engine, const std::string& answering);

} // namespace kith::cli
