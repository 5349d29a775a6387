// Halo catalogs read back: the columns of /Group that a Catalog has, the members, and halos (hdf5_halos_reader.hpp).
//
// Groups are counted by GroupLen; every other column must have as many rows, in every file of a set. Members follow
// each other in group order, so that a group's begin where those of the group before end; where a file states offsets,
// they must be these. Types that a file does not tell apart (Gadget has 6 and fewer) have no members.
#include "io/file_set.hpp"
#include "io/hdf5_column_reader.hpp"
#include "io/hdf5_halos_reader.hpp"
#include "io/hdf5_signature.hpp"
#include "io/input_file.hpp"
#include "io/memory.hpp"
#include "io/refuse.hpp"

#include <kith/catalog_columns.hpp>
#include <kith/error.hpp>
#include <kith/io.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <type_traits>

namespace kith::io {

namespace {

class CatalogBuilder {
public:
    explicit CatalogBuilder(const CatalogReadOptions& options) : options_(options) {}
    void read(const std::filesystem::path& path);
    [[nodiscard]] CatalogFile take();

private:
    void read_file(const std::filesystem::path& path);
    [[nodiscard]] std::int64_t count_groups() const;
    [[nodiscard]] int stated_dimension() const;
    void find_dimension();
    template <class T>
    void read_field(const CatalogColumn& column, std::vector<T>& all, std::int64_t groups);
    void record_source(const std::string& name, std::string_view member);
    template <class T>
    void read_members(const char* group, const char* dataset, std::vector<T>& into);
    void warn(std::string text) { found_.warnings.push_back(std::move(text)); }
    void check_offsets();
    void check_members(std::int64_t members);
    void compare_types_with_counts();

    CatalogReadOptions options_;
    CatalogFile found_;
    hdf5::OpenCatalog opened_;
    hdf5::HaloBuilder halos_;
};

int CatalogBuilder::stated_dimension() const {
    const std::int64_t stated = hdf5::count_attribute(opened_, "Dimension").value_or(3);
    return stated >= 2 && stated <= max_dimension ? static_cast<int>(stated) : 3;
}

void CatalogBuilder::read(const std::filesystem::path& path) {
    opened_ = hdf5::open_catalog(path);
    const std::int64_t files = std::max<std::int64_t>(1, hdf5::count_attribute(opened_, "NumFiles").value_or(1));
    const std::optional<std::int64_t> total = hdf5::count_attribute(opened_, "Ngroups_Total");
    for (const std::filesystem::path& file : files_of_set(path, files)) {
        read_file(file);
        found_.files.push_back(file);
    }
    if (total && *total != found_.catalog.groups) {
        warn(message("the header announces ", *total, " groups in all, but there are ", found_.catalog.groups,
                     "; these count"));
    }
}

// The dimension and the width of numbers are those of the first file that has groups.
void CatalogBuilder::find_dimension() {
    const std::optional<hdf5::Dataset> positions = hdf5::find_column(opened_, "Group", {"GroupCM", "GroupPos"});
    if (found_.catalog.dimension != 0 || !positions) {
        return;
    }
    if (positions->columns < 2 || positions->columns > max_dimension) {
        refuse(opened_.name, positions->name, " has ", positions->columns, " columns; 2 to ", max_dimension,
               " were expected");
    }
    found_.catalog.dimension = static_cast<int>(positions->columns);
    found_.dtype = positions->dtype();
}

// A file of a set may have no groups, and then none of the datasets.
std::int64_t CatalogBuilder::count_groups() const {
    const std::optional<std::int64_t> announced = hdf5::count_attribute(opened_, "Ngroups_ThisFile");
    const std::optional<hdf5::Dataset> lengths = hdf5::find_column(opened_, "Group", {"GroupLen"});
    if (!lengths && announced.value_or(0) > 0) {
        refuse(opened_.name, "the header announces ", *announced, " groups, but there is no dataset Group/GroupLen");
    }
    return lengths ? lengths->rows : 0;
}

void CatalogBuilder::read_file(const std::filesystem::path& path) {
    opened_ = hdf5::open_catalog(path);
    const bool is_first = found_.files.empty();
    const std::int64_t groups = count_groups();
    const std::int64_t announced = hdf5::count_attribute(opened_, "Ngroups_ThisFile").value_or(groups);
    if (announced != groups) {
        warn(message(path.filename().string(), ": the header announces ", announced, " groups, but Group/GroupLen has ",
                     groups, " rows; the rows count"));
    }
    find_dimension();
    hdf5::list_columns(opened_, "Group", found_.columns);
    if (is_first) {
        const int known = found_.catalog.dimension;
        hdf5::read_catalog_header(opened_, known != 0 ? known : stated_dimension(), found_);
    }
    halos_.read(opened_, found_);
    for_each_field(found_.catalog,
                   [&](const CatalogColumn& column, auto& values) { read_field(column, values, groups); });
    found_.catalog.groups += groups;
    if (options_.members) {
        read_members("Members", "Index", found_.file_rows);
        read_members("IDs", "ID", found_.ids);
    }
}

template <class T>
void CatalogBuilder::read_field(const CatalogColumn& column, std::vector<T>& all, std::int64_t groups) {
    const std::optional<hdf5::Dataset> dataset =
        hdf5::find_column(opened_, "Group", {column.read_before, column.name, column.read_else});
    const bool was_there = !all.empty() || found_.catalog.groups == 0;
    if (groups > 0 && (!dataset ? !all.empty() : !was_there)) {
        refuse(opened_.name, "Group/", column.read_before.empty() ? column.name : column.read_before, " is ",
               dataset ? "here but not in" : "missing, but there in", " ", found_.files.front().filename().string(),
               "; the files are not of one catalog");
    }
    if (!dataset) {
        return;
    }
    const bool by_type = column.shape == ColumnShape::by_type;
    const std::int64_t width = column.width(found_.catalog.dimension);
    const std::int64_t least = by_type ? 1 : width;
    if (dataset->rows != groups || dataset->columns < least || dataset->columns > width) {
        refuse(opened_.name, dataset->name, " is ", dataset->rows, " x ", dataset->columns, ", but there are ", groups,
               " groups; ", groups, " x ", by_type ? "1 to " : "", width, " was expected");
    }
    std::vector<T> values = hdf5::values_of<T>(*dataset);
    if (dataset->columns < width) {
        std::vector<T> padded = allocate<T>(groups, width, dataset->name);
        for (std::int64_t group = 0; group < groups; ++group) {
            std::copy_n(values.begin() + group * dataset->columns, dataset->columns, padded.begin() + group * width);
        }
        values = std::move(padded);
    }
    hdf5::append(all, std::move(values));
    record_source(dataset->name.substr(dataset->name.find('/') + 1), column.field);
}

// All files of a set must hold a member of Catalog under one name: AREPO has two for the center.
void CatalogBuilder::record_source(const std::string& name, std::string_view member) {
    for (CatalogFileColumn& column : found_.columns) {
        if (column.name == name) {
            column.field = member;
        } else if (column.field == member) {
            refuse(opened_.name, "the groups have ", name, ", but ", column.name, " in ",
                   found_.files.front().filename().string(), "; the files are not of one catalog");
        }
    }
}

template <class T>
void CatalogBuilder::read_members(const char* group, const char* dataset, std::vector<T>& into) {
    const std::optional<hdf5::Dataset> rows = hdf5::find_column(opened_, group, {dataset});
    if (!rows) {
        return;
    }
    if (rows->columns != 1) {
        refuse(opened_.name, rows->name, " has ", rows->columns, " columns; one was expected");
    }
    hdf5::append(into, hdf5::values_of<T>(*rows));
}

void CatalogBuilder::check_offsets() {
    Catalog& catalog = found_.catalog;
    std::vector<std::int64_t> offsets = allocate<std::int64_t>(catalog.groups, 1, "offsets");
    std::int64_t members = 0;
    for (std::size_t group = 0; group < offsets.size(); ++group) {
        const std::int64_t count = catalog.count[group];
        if (count < 0 || count > std::numeric_limits<std::int64_t>::max() - members) {
            refuse(found_.files.front().string(), "Group/GroupLen of group ", group, " is ", count,
                   ", which is no number of members");
        }
        offsets[group] = members;
        members += count;
    }
    if (!catalog.offset.empty() && catalog.offset != offsets) {
        const auto [stated, right] = std::mismatch(catalog.offset.begin(), catalog.offset.end(), offsets.begin());
        refuse(found_.files.front().string(), "Group/MembersOffset of group ", stated - catalog.offset.begin(), " is ",
               *stated, ", but the groups before have ", *right, " members");
    }
    catalog.offset = std::move(offsets);
    check_members(members);
}

// Gadget's lists of ids may hold others than those of the groups; they are then of no use.
void CatalogBuilder::check_members(std::int64_t members) {
    const auto rows = std::ssize(found_.file_rows);
    const auto ids = std::ssize(found_.ids);
    if (rows != 0 && rows != members) {
        refuse(found_.files.front().string(), "Members/Index has ", rows, " entries, but the groups have ", members,
               " members");
    }
    const auto negative =
        std::find_if(found_.file_rows.begin(), found_.file_rows.end(), [](std::int64_t row) { return row < 0; });
    if (negative != found_.file_rows.end()) {
        refuse(found_.files.front().string(), "entry ", negative - found_.file_rows.begin(), " of Members/Index is ",
               *negative, ", which is no row");
    }
    if (ids != 0 && ids != members) {
        warn(message("IDs/ID has ", ids, " entries, but the groups have ", members, " members; the ids are left out"));
        found_.ids.clear();
    }
}

void CatalogBuilder::compare_types_with_counts() {
    const Catalog& catalog = found_.catalog;
    for (std::size_t group = 0; max_types * group < catalog.count_by_type.size(); ++group) {
        const auto first = catalog.count_by_type.begin() + static_cast<std::ptrdiff_t>(max_types * group);
        const std::int64_t sum = std::accumulate(first, first + max_types, std::int64_t{0});
        if (sum != catalog.count[group]) {
            warn(message("group ", group, " has ", catalog.count[group], " members, but those of its types are ", sum));
            return;
        }
    }
}

CatalogFile CatalogBuilder::take() {
    Catalog& catalog = found_.catalog;
    check_offsets();
    compare_types_with_counts();
    if (catalog.dimension == 0) {
        catalog.dimension = stated_dimension();
    }
    found_.linking_length = hdf5::number_in(found_, "linking_length");
    if (found_.linking_length && found_.dtype == DType::float32) {
        found_.linking_length =
            static_cast<float>(*found_.linking_length); // its text has as many digits as a float needs
    }
    catalog.lengths.linking_length = found_.linking_length.value_or(0);
    const auto least = std::min_element(catalog.count.begin(), catalog.count.end());
    catalog.min_members =
        static_cast<std::int64_t>(hdf5::number_in(found_, "min_members")
                                      .value_or(least == catalog.count.end() ? 0.0 : static_cast<double>(*least)));
    found_.halos = halos_.take(found_);
    return std::move(found_);
}

bool begins_as_hdf5(const std::filesystem::path& path) {
    const InputFile file(path);
    return is_hdf5({file.start(recognition_window), file.length()});
}

} // namespace

bool is_catalog(const std::filesystem::path& path) {
    try {
        const std::filesystem::path file = resolve_stem(path);
        if (!begins_as_hdf5(file)) {
            return false;
        }
        const hdf5::Session session;
        return hdf5::holds_catalog(hdf5::open_file(file).get());
    } catch (const Error&) {
        return false;
    }
}

CatalogFile read_catalog(const std::filesystem::path& path, const CatalogReadOptions& options) {
    const std::filesystem::path file = resolve_stem(path);
    if (!begins_as_hdf5(file)) {
        const std::optional<ResultFile> result = describe_result(file);
        refuse(file.string(), "this is no HDF5 file, in which halo catalogs are",
               result ? message("; it holds ", result->kind, ", a result of kith",
                                result->kind == "a table of groups"
                                    ? ": pandas or astropy read it, and kith fof -o writes the catalog"
                                    : "")
                      : "");
    }
    const hdf5::Session session;
    CatalogBuilder source(options);
    source.read(file);
    return source.take();
}

} // namespace kith::io
