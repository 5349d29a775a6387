// The snapshot in group order, as HDF5 (the order is that of sorted_rows.hpp).
//
// An HDF5 input is copied with all that is in it: every dataset that has one row per particle is joined from the files
// of the snapshot and put in order (hdf5_row_copy.hpp), all else is copied from the first file as it is. The header's
// counts become those of one file. What says at which rows of the old file particles lie would be wrong and is left
// out: SWIFT's /Cells, EAGLE's /HashTable. Inputs of other formats are written from the columns that their readers give
// (hdf5_sorted_columns.cpp), unless Tipsy is written as Tipsy (tipsy_sorted.cpp).
//
// Over ranks, rank 0 walks the input and writes; before it copies a type or a column it tells the others, which then
// read and sort their rows of it.
#include "io/hdf5_sorted_snapshot.hpp"

#include "io/hdf5_copy.hpp"
#include "io/hdf5_create.hpp"
#include "io/hdf5_row_copy.hpp"
#include "io/hdf5_snapshot.hpp"
#include "io/reader.hpp"
#include "io/refuse.hpp"
#include "io/sorted_rows.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <string_view>
#include <system_error>

namespace kith::io {

namespace {

constexpr std::array<std::string_view, 2> indices_of_rows = {"Cells", "HashTable"};

void require_sortable(const std::filesystem::path& path, const SnapshotHeader& header) {
    if (header.files.empty()) {
        throw Error(ErrorKind::invalid_argument,
                    "the snapshot names no files; pass one that read_snapshot() has read, so that all of its columns "
                    "can be read again");
    }
    if (!header.has_types) {
        throw error(ErrorKind::invalid_argument, header.files.front().string(), ": ", header.format,
                    " has no particle types and no header, so there is no snapshot to sort; the rows of the "
                    "groups are in the catalog's /Members/Index");
    }
    for (const std::filesystem::path& file : header.files) {
        std::error_code ignored;
        if (std::filesystem::equivalent(path, file, ignored)) {
            throw error(ErrorKind::invalid_argument, path.string(),
                        ": this is a file of the input; write the sorted snapshot elsewhere");
        }
    }
}

bool is_named_as_tipsy(const std::filesystem::path& path) {
    return path.extension() == ".std" || path.extension() == ".tipsy";
}

/// Says how far the work is and stops it where the caller wants that.
class Steps {
public:
    Steps(const Progress& progress, const TypeCounts& counts)
        : progress_(progress), rows_(static_cast<double>(std::max<std::int64_t>(
                                   1, std::accumulate(counts.begin(), counts.end(), std::int64_t{0})))) {}

    void begin_type(std::int64_t rows, std::size_t columns) {
        done_ += share_;
        share_ = static_cast<double>(rows) / rows_;
        columns_ = columns;
        column_ = 0;
    }
    void next_column() {
        const double within =
            columns_ == 0 ? 0 : static_cast<double>(std::min(column_++, columns_)) / static_cast<double>(columns_);
        report_sorting(progress_, std::min(1.0, done_ + share_ * within));
    }

private:
    const Progress& progress_;
    double rows_;
    double done_ = 0;  ///< share of the types before
    double share_ = 0; ///< of this type
    std::size_t columns_ = 0;
    std::size_t column_ = 0;
};

/// What was found in one file of the input.
struct SurveyedFile {
    std::filesystem::path path;
    TypeCounts counts{};
    MassTable mass_table{};
};

// All types are copied, also those that were not grouped.
void require_all_types(const hdf5::SnapshotFile& file, const FileSummary& summary) {
    for (std::size_t type = 0; type < summary.faults.size(); ++type) {
        if (!summary.faults[type].empty()) {
            throw Error(ErrorKind::file, summary.faults[type]);
        }
        if (summary.header.counts[type] > 0) {
            static_cast<void>(file.find(type, {"Coordinates"}));
        }
    }
}

std::vector<SurveyedFile> survey(const SnapshotHeader& header) {
    std::vector<SurveyedFile> files;
    TypeCounts total{};
    for (const std::filesystem::path& path : header.files) {
        const hdf5::SnapshotFile file = hdf5::open_snapshot(path);
        const FileSummary summary = hdf5::summarize(file);
        require_all_types(file, summary);
        files.push_back({path, summary.header.counts, summary.mass_table});
        std::transform(total.begin(), total.end(), summary.header.counts.begin(), total.begin(), std::plus<>());
    }
    require_same_counts(total, header);
    return files;
}

/// The particles of each type in each file, of one file after the other.
std::vector<std::int64_t> counts_of(const std::vector<SurveyedFile>& files) {
    std::vector<std::int64_t> counts;
    for (const SurveyedFile& file : files) {
        counts.insert(counts.end(), file.counts.begin(), file.counts.end());
    }
    return counts;
}

/// What is sorted, on each rank.
struct SortedInput {
    hdf5::Ranks& ranks;
    const Catalog& catalog;
    const Snapshot& snapshot;
    std::vector<std::int64_t> counts; ///< files x types

    [[nodiscard]] hdf5::RowOrder order(std::size_t type) const {
        hdf5::RowOrder order;
        for (std::size_t file = 0; file < snapshot.header.files.size(); ++file) {
            if (const std::int64_t rows = counts[file * max_types + type]; rows > 0) {
                order.parts.push_back({snapshot.header.files[file], rows});
            }
        }
        order.permutation = sorted_rows(ranks, catalog, snapshot, type);
        return order;
    }
};

/// On other ranks than 0: does what rank 0 tells, which copies the group of a type, then its columns.
void follow(const SortedInput& input) {
    hdf5::RowOrder order;
    for (std::string path = input.ranks.told(); !path.empty(); path = input.ranks.told()) {
        std::size_t type = 0;
        while (type < max_types && path != hdf5::group_name(type)) {
            ++type;
        }
        if (type < max_types) {
            order = input.order(type);
        } else {
            static_cast<void>(hdf5::copy_rows(input.ranks, H5I_INVALID_HID, path, order, nullptr));
        }
    }
}

/// One HDF5 snapshot, in order, to one file.
class SortedCopy {
public:
    SortedCopy(const hdf5::OutputFile& target, const SortedInput& input, const std::vector<SurveyedFile>& files,
               const Progress& progress)
        : target_(target), input_(input), snapshot_(input.snapshot), files_(files),
          steps_(progress, input.snapshot.header.counts),
          copier_(target, [this](hid_t dataset, const std::string& path) { return copy_in_order(dataset, path); }) {}

    std::vector<std::string> run();

private:
    void copy_type(std::size_t type);
    void copy_the_rest();
    void collect_differences(std::size_t type, const hdf5::File& first);
    bool copy_in_order(hid_t dataset, const std::string& path);
    [[nodiscard]] std::string name_of_first_part() const { return order_.parts.front().file.filename().string(); }

    const hdf5::OutputFile& target_;
    const SortedInput& input_;
    const Snapshot& snapshot_;
    const std::vector<SurveyedFile>& files_;
    MassTable mass_table_{};
    Steps steps_;
    hdf5::Copier copier_;
    std::vector<std::string> left_out_;
    hdf5::File open_;      ///< the first file with particles of this type; identities of objects hold while it is open
    hdf5::RowOrder order_; ///< of the type that is being copied; no parts: of none
    std::set<std::string> incomplete_; ///< columns of it that some file lacks
};

std::set<std::string> names_below(const hdf5::File& file, const std::string& group, const std::string& name) {
    using Names = std::set<std::string>;
    Names names;
    hdf5::check(H5Lvisit_by_name(file.get(), group.c_str(), H5_INDEX_NAME, H5_ITER_INC,
                                 hdf5::add_name<H5L_info_t, Names>, &names, H5P_DEFAULT),
                name, message(group, " could not be listed"));
    return names;
}

// Columns that not every file with particles of the type has cannot be joined.
void SortedCopy::collect_differences(std::size_t type, const hdf5::File& first) {
    const std::string group = hdf5::group_name(type);
    const std::set<std::string> names = names_below(first, group, order_.parts.front().file.string());
    steps_.begin_type(order_.permutation.rows(), names.size());
    incomplete_.clear();
    for (std::size_t i = 1; i < order_.parts.size(); ++i) {
        const std::filesystem::path& file = order_.parts[i].file;
        const std::set<std::string> others = names_below(hdf5::open_file(file), group, file.string());
        std::vector<std::string> different;
        std::set_symmetric_difference(names.begin(), names.end(), others.begin(), others.end(),
                                      std::back_inserter(different));
        for (const std::string& name : different) {
            if (incomplete_.insert(message(group, "/", name)).second) {
                left_out_.push_back(message(group, "/", name, " is not in every file (",
                                            (names.contains(name) ? file.filename().string() : name_of_first_part()),
                                            " has none) and is left out of the sorted snapshot"));
            }
        }
    }
}

bool SortedCopy::copy_in_order(hid_t dataset, const std::string& path) {
    if (order_.parts.empty()) {
        return false;
    }
    steps_.next_column();
    if (incomplete_.contains(path)) {
        return true;
    }
    const hdf5::Type type(H5Dget_type(dataset));
    if (!hdf5::is_per_row(dataset, order_)) {
        if (order_.parts.size() > 1) {
            left_out_.push_back(message(path, " has not one row per particle; the sorted snapshot has that of ",
                                        name_of_first_part(), " alone"));
        }
        return false;
    }
    if (hdf5::holds_references(type.get())) {
        left_out_.push_back(message(path, " refers to objects of its own file and is left out of the sorted snapshot"));
        return true;
    }
    input_.ranks.tell(path);
    const auto made = hdf5::copy_rows(input_.ranks, dataset, path, order_, &target_);
    copier_.copy_attributes(dataset, made.get(), order_.parts.front().file.string());
    return true;
}

void SortedCopy::copy_type(std::size_t type) {
    if (snapshot_.header.counts[type] == 0) {
        return;
    }
    input_.ranks.tell(hdf5::group_name(type));
    order_ = input_.order(type);
    const std::filesystem::path& path = order_.parts.front().file;
    mass_table_[type] = std::ranges::find(files_, path, &SurveyedFile::path)->mass_table[type];
    hdf5::File other;
    if (path != files_.front().path) {
        other = hdf5::open_file(path);
    }
    const hdf5::File& file = other.get() < 0 ? open_ : other;
    collect_differences(type, file);
    copier_.copy_group(file.get(), hdf5::group_name(type), path.string());
    const hdf5::Object group(H5Oopen(target_.root(), hdf5::group_name(type).c_str(), H5P_DEFAULT));
    for (const char* name : {"NumberOfParticles", "TotalNumberOfParticles"}) {
        if (hdf5::has_attribute(group.get(), name)) {
            hdf5::replace_counts(target_, group.get(), name, {snapshot_.header.counts[type]});
        }
    }
}

// Where a type's group is a link, its target has been copied under the type's name.
void SortedCopy::copy_the_rest() {
    order_ = {};
    const std::string name = files_.front().path.string();
    const hdf5::Group root(hdf5::check(H5Gopen2(open_.get(), "/", H5P_DEFAULT), name, "the root could not be opened"));
    copier_.copy_attributes(root.get(), target_.root(), name);
    for (const std::string& link : hdf5::links_of(root.get(), name)) {
        if (std::find(indices_of_rows.begin(), indices_of_rows.end(), link) != indices_of_rows.end()) {
            left_out_.push_back(message("/", link,
                                        " says where rows of the unsorted file lie and is left out of the "
                                        "sorted snapshot"));
        } else if (!hdf5::exists(target_.root(), link)) {
            copier_.copy_link(root.get(), link, link, name);
        }
    }
}

std::vector<std::string> SortedCopy::run() {
    mass_table_ = files_.front().mass_table;
    open_ = hdf5::open_file(files_.front().path);
    for (std::size_t type = 0; type < snapshot_.header.counts.size(); ++type) {
        copy_type(type);
    }
    copy_the_rest();
    hdf5::write_counts(target_, snapshot_.header.counts);
    if (files_.size() > 1) {
        hdf5::write_mass_table(target_, mass_table_);
    }
    return std::move(left_out_);
}

} // namespace

void report_sorting(const Progress& progress, double share) {
    if (progress && !progress("sorted snapshot", share)) {
        throw Error(ErrorKind::canceled, "canceled while the sorted snapshot was written");
    }
}

void require_same_counts(const TypeCounts& found, const SnapshotHeader& header) {
    if (found != header.counts) {
        refuse(header.files.front().string(), "the numbers of particles have changed since the snapshot was read; "
                                              "read and group it again");
    }
}

namespace {

std::vector<std::string> write_sorted_copy(hdf5::Ranks& ranks, const std::filesystem::path& path,
                                           const Catalog& catalog, const Snapshot& snapshot,
                                           const Provenance& provenance, const Progress& progress) {
    SortedInput input{ranks, catalog, snapshot, {}};
    std::vector<SurveyedFile> files;
    ranks.agreed([&] {
        if (ranks.is_first()) {
            files = survey(snapshot.header);
            input.counts = counts_of(files);
        } else {
            input.counts.assign(snapshot.header.files.size() * max_types, 0);
        }
    });
    ranks.maximize(input.counts);
    if (!ranks.is_first()) {
        follow(input);
        return {};
    }
    std::vector<std::string> left_out;
    ranks.lead([&] {
        hdf5::OutputFile file(path);
        left_out = SortedCopy(file, input, files, progress).run();
        hdf5::write_provenance_of_copy(file, provenance);
        file.commit();
        ranks.tell("");
    });
    return left_out;
}

} // namespace

std::vector<std::string> write_sorted_snapshot(const std::filesystem::path& path, const Catalog& catalog,
                                               const Snapshot& snapshot, const Provenance& provenance,
                                               const Progress& progress, Communicator* communicator) {
    return hdf5::on_all_ranks(communicator, [&](hdf5::Ranks& ranks) {
        const Reader* reader = nullptr;
        ranks.agreed([&] {
            require_sortable(path, snapshot.header);
            reader = &reader_of(snapshot.header.files.front());
            if (is_named_as_tipsy(path) && reader != &tipsy_reader) {
                throw error(ErrorKind::invalid_argument, path.string(), ": ", snapshot.header.files.front().string(),
                            " is ", snapshot.header.format,
                            "; only a binary Tipsy snapshot is sorted as Tipsy; choose a name that ends in .hdf5");
            }
        });
        if (is_named_as_tipsy(path)) {
            write_sorted_records(ranks, path, catalog, snapshot, progress);
            return std::vector<std::string>{};
        }
        return reader == &hdf5_reader ? write_sorted_copy(ranks, path, catalog, snapshot, provenance, progress)
                                      : write_sorted_columns(ranks, path, catalog, snapshot, provenance, progress);
    });
}

} // namespace kith::io
