// Describing files of results (see result_file.hpp).
#include "io/result_file.hpp"

#include "io/hdf5_signature.hpp"
#include "io/input_file.hpp"
#include "io/joined.hpp"
#include "io/npy_format.hpp"
#include "io/refuse.hpp"
#include "io/text_fields.hpp"
#include "io/text_lines.hpp"

#include <kith/error.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace kith::io {

using std::string_view;

namespace {

struct Kind {
    string_view name;
    std::vector<string_view> arrays; ///< that a file of it has
};

constexpr string_view levels = "groups at several linking lengths";

const std::vector<Kind>& kinds() {
    static const std::vector<Kind> all = {{levels, {"linking_lengths", "parents"}},
                                          {"clusters of HDBSCAN*", {"labels", "probabilities"}},
                                          {"a minimum spanning tree", {"edges", "heights"}},
                                          {"pair counts", {"edges", "counts"}},
                                          {"densities", {"density"}},
                                          {"neighbors within a radius", {"offsets", "indices"}},
                                          {"nearest neighbors", {"indices"}},
                                          {"numbers of neighbors within a radius", {"counts"}},
                                          {"clusters of DBSCAN", {"labels", "is_core"}}};
    return all;
}

constexpr string_view ecsv_line = "# %ECSV 1.0";

/// Tables of groups and of halos, told by their first columns.
struct TableKind {
    string_view ecsv_column;
    string_view csv_columns;
    string_view name;
};
constexpr std::array table_kinds = {TableKind{"# - {name: Group, ", "Group,GroupLen,", "a table of groups"},
                                    TableKind{"# - {name: Halo, ", "Halo,SubhaloGroupNr,", "a table of halos"}};

/// The JSON text after `key` in a line of ECSV; empty if there is none.
std::string text_after(string_view line, string_view key) {
    const std::size_t at = line.find(key);
    if (at == string_view::npos) {
        return "";
    }
    const string_view rest = line.substr(at + key.size());
    const auto json = nlohmann::json::parse(rest.substr(0, rest.rfind('}')), nullptr, false);
    return json.is_string() ? json.get<std::string>() : "";
}

// "# - {name: GroupMass, unit: ..., datatype: ..., description: ...}" or "# - {"Program": "kith 0.1.0"}".
void read_ecsv_line(string_view line, ResultFile& result) {
    constexpr string_view column = "# - {name: ";
    constexpr string_view meta = "# - ";
    if (line.starts_with(column)) {
        const string_view rest = line.substr(column.size());
        result.arrays.push_back({std::string(rest.substr(0, rest.find(','))), {0}, text_after(line, "description: ")});
    } else if (line.starts_with(meta)) {
        const auto json = nlohmann::json::parse(line.substr(meta.size()), nullptr, false);
        for (auto each = json.begin(); json.is_object() && each != json.end(); ++each) {
            result.provenance[each.key()] = each->is_string() ? each->get<std::string>() : each->dump();
        }
    }
}

} // namespace

std::string kind_of_result(const std::vector<ResultArray>& arrays) {
    const auto has = [&](string_view name) {
        return std::any_of(arrays.begin(), arrays.end(), [&](const ResultArray& each) { return each.name == name; });
    };
    for (const Kind& kind : kinds()) {
        if (std::all_of(kind.arrays.begin(), kind.arrays.end(), has)) {
            return std::string(kind.name);
        }
    }
    return "arrays";
}

std::string about_result(const ResultFile& result) {
    const auto described = [](const ResultArray& array) {
        return message(array.name, " (", joined(array.shape, " x "), ")");
    };
    const auto input = result.provenance.find("Input");
    return message("this holds ", result.kind, ", a result of kith (", joined(result.arrays, ", ", described),
                   "), which kith info describes", result.kind == levels ? " and kith.plot.dendrogram draws" : "",
                   "; where points are needed, give the file that it was made from",
                   input == result.provenance.end() || input->second.empty() ? "" : ", '" + input->second + "'");
}

std::string about_member(const ResultFile& result, string_view name) {
    return message(name, " is taken as points, but the file holds ", result.kind, ", a result of kith");
}

std::optional<ResultFile> describe_group_table(const std::filesystem::path& path, const FileStart& start) {
    const bool is_ecsv = start.text().starts_with(ecsv_line);
    const auto kind = std::find_if(table_kinds.begin(), table_kinds.end(), [&](const TableKind& each) {
        return is_ecsv ? start.text().find(each.ecsv_column) != string_view::npos
                       : start.text().starts_with(each.csv_columns);
    });
    if (kind == table_kinds.end()) {
        return std::nullopt;
    }
    ResultFile result{is_ecsv ? "ECSV" : "CSV", std::string(kind->name), {}, {}};
    const InputFile file(path);
    TextLines lines(file);
    std::int64_t rows = -1; // the names come first
    while (const std::optional<string_view> line = lines.next()) {
        if (line->starts_with('#')) {
            read_ecsv_line(*line, result);
            continue;
        }
        if (rows < 0 && !is_ecsv) {
            for_each_field(*line, Separator::comma, [&](int, string_view name) {
                result.arrays.push_back({std::string(name), {0}, ""});
            });
        }
        rows += line->empty() ? 0 : 1;
    }
    for (ResultArray& column : result.arrays) {
        column.shape = {std::max<std::int64_t>(0, rows)};
    }
    return result;
}

std::optional<ResultFile> describe_values(const std::filesystem::path& path, const FileStart& start) {
    constexpr string_view kind = "one value per row, as labels have";
    if (is_npy(start)) {
        const NpyHeader header = parse_npy_header(start.bytes, path.string());
        const bool is_structured = header.descr.starts_with('[');
        return header.shape.size() == 1 && !is_structured
                   ? std::optional(ResultFile{"npy", std::string(kind), {{"values", header.shape, header.descr}}, {}})
                   : std::nullopt;
    }
    std::int64_t first = 0;
    if (!parse_number(trimmed(start.text().substr(0, start.text().find('\n'))), first)) {
        return std::nullopt;
    }
    const InputFile file(path);
    TextLines lines(file);
    std::int64_t values = 0;
    while (const std::optional<string_view> line = lines.next()) {
        double value = 0;
        if (!parse_number(trimmed(*line), value)) {
            return std::nullopt;
        }
        ++values;
    }
    const bool is_counted = values > 1 && first == values - 1; // as Tipsy's arrays are
    return ResultFile{is_counted ? "Tipsy array (ascii)" : "text",
                      std::string(kind),
                      {{"values", {is_counted ? first : values}, ""}},
                      {}};
}

std::optional<ResultFile> describe_result(const std::filesystem::path& path) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) {
        return std::nullopt;
    }
    const InputFile file(path);
    const std::vector<std::byte> bytes = file.start(recognition_window);
    const FileStart start{bytes, file.length(), &file};
    if (is_hdf5(start)) {
        return describe_hdf5_result(path);
    }
    if (npz_reader.recognize(start)) {
        return describe_npz_result(path);
    }
    std::optional<ResultFile> found = describe_group_table(path, start);
    found = found ? found : describe_values(path, start);
    const auto recognizes = [&](const Reader* reader) { return reader->recognize(start); };
    if (!found && std::none_of(readers().begin(), readers().end(), recognizes)) {
        found = describe_binary_tipsy_array(file, start);
    }
    return found;
}

} // namespace kith::io
