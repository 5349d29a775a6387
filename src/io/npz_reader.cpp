// Points from .npz: one of the .npy arrays of a zip archive, stored or compressed (numpy.savez, savez_compressed).
//
// The array is named, with or without the .npy of its member; without a name it is the only one that can be points. The
// archive's directory is not believed: a member cannot be longer than its compressed bytes can make it, and libzip
// compares what it reads with the member's checksum.
#include "io/array_shape.hpp"
#include "io/input_file.hpp"
#include "io/npy_array.hpp"
#include "io/reader.hpp"
#include "io/refuse.hpp"
#include "io/result_file.hpp"

#include <kith/error.hpp>

#include <nlohmann/json.hpp>
#include <zip.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

namespace kith::io {

namespace {

struct Discard {
    void operator()(zip_t* archive) const noexcept { zip_discard(archive); }
};
struct CloseMember {
    void operator()(zip_file_t* member) const noexcept { zip_fclose(member); }
};

constexpr std::string_view suffix = ".npy";
constexpr const char* provenance_name = "provenance.json";

class Archive {
public:
    explicit Archive(const std::filesystem::path& path) : path_(path.string()), bytes_(InputFile(path).length()) {
        int code = 0;
        archive_.reset(zip_open(path.c_str(), ZIP_RDONLY, &code));
        if (!archive_) {
            zip_error_t error;
            zip_error_init_with_code(&error, code);
            const std::string reason = zip_error_strerror(&error);
            zip_error_fini(&error);
            refuse(path_, "this begins like a zip archive (.npz is one), but is none that can be read (", reason,
                   "); is it cut off?");
        }
        const zip_int64_t entries = zip_get_num_entries(archive_.get(), 0);
        for (zip_int64_t i = 0; i < entries; ++i) {
            const char* const name = zip_get_name(archive_.get(), static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW);
            if (name != nullptr && std::string_view(name).ends_with(suffix)) {
                arrays_.emplace_back(name);
            }
        }
        if (arrays_.empty()) {
            refuse(path_, "this is a zip archive, but it holds no .npy arrays; save "
                          "the points with numpy.save or numpy.savez");
        }
    }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] std::int64_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] zip_t* get() const noexcept { return archive_.get(); }
    /// Names of the members that end in .npy.
    [[nodiscard]] const std::vector<std::string>& arrays() const noexcept { return arrays_; }
    /// Whether npz_writer.cpp made it: of neighbors, edges or labels.
    [[nodiscard]] bool is_result() const noexcept { return zip_name_locate(archive_.get(), provenance_name, 0) >= 0; }
    /// What that file says; empty if it cannot be read.
    [[nodiscard]] std::string provenance() const {
        constexpr std::size_t most = 1 << 20;
        const std::unique_ptr<zip_file_t, CloseMember> file(zip_fopen(archive_.get(), provenance_name, 0));
        std::string text(most, '\0');
        const zip_int64_t bytes = file ? zip_fread(file.get(), text.data(), text.size()) : 0;
        text.resize(static_cast<std::size_t>(std::max<zip_int64_t>(0, bytes)));
        return text;
    }

private:
    std::string path_;
    std::int64_t bytes_ = 0;
    std::unique_ptr<zip_t, Discard> archive_;
    std::vector<std::string> arrays_;
};

std::string_view without_suffix(std::string_view member) {
    return member.substr(0, member.size() - suffix.size());
}

class Member final : public NpySource {
public:
    Member(const Archive& archive, std::string member) : archive_(archive), member_(std::move(member)) {
        zip_stat_t facts;
        if (zip_stat(archive.get(), member_.c_str(), ZIP_FL_ENC_RAW, &facts) != 0 ||
            (facts.valid & ZIP_STAT_SIZE) == 0 || (facts.valid & ZIP_STAT_COMP_SIZE) == 0) {
            fail(zip_strerror(archive.get()));
        }
        if ((facts.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && facts.encryption_method != ZIP_EM_NONE) {
            fail("it is encrypted");
        }
        if (facts.comp_method != ZIP_CM_STORE && facts.comp_method != ZIP_CM_DEFLATE) {
            fail(message("it is compressed by method ", facts.comp_method,
                         "; numpy.savez and savez_compressed are read"));
        }
        constexpr zip_uint64_t max_of_deflate = 1032; // bytes out of one, by its longest match and shortest code
        const auto most = static_cast<zip_uint64_t>(archive.bytes());
        if (facts.comp_size > most || facts.size / (facts.comp_method == ZIP_CM_STORE ? 1 : max_of_deflate) > most) {
            fail(message("it claims ", facts.size, " bytes, more than the archive of ", archive.bytes(),
                         " bytes can hold"));
        }
        length_ = static_cast<std::int64_t>(facts.size);
    }

    [[nodiscard]] std::string name() const override { return message(archive_.path(), ":", without_suffix(member_)); }
    [[nodiscard]] std::string format() const override { return "npz"; }
    [[nodiscard]] std::int64_t length() const override { return length_; }

    void read(std::int64_t offset, std::span<std::byte> bytes) override {
        if (offset != at_ || !file_) {
            file_.reset(zip_fopen(archive_.get(), member_.c_str(), ZIP_FL_ENC_RAW));
            at_ = 0;
            if (!file_) {
                fail(zip_strerror(archive_.get()));
            }
        }
        std::vector<std::byte> skipped(std::size_t{1} << 16);
        while (at_ < offset) {
            fill(std::span(skipped).first(std::min<std::int64_t>(offset - at_, 1 << 16)));
        }
        fill(bytes);
    }

private:
    void fill(std::span<std::byte> bytes) {
        constexpr std::size_t block = std::size_t{1} << 30;
        while (!bytes.empty()) {
            const zip_int64_t got = zip_fread(file_.get(), bytes.data(), std::min(bytes.size(), block));
            if (got < 0) {
                fail(zip_error_strerror(zip_file_get_error(file_.get())));
            }
            if (got == 0) {
                fail(message("it ends at byte ", at_, ", but ", length_, " were announced"));
            }
            at_ += got;
            bytes = bytes.subspan(got);
        }
    }
    [[noreturn]] void fail(const std::string& reason) const {
        refuse(name(), "the array could not be read from the archive (", reason, ")");
    }

    const Archive& archive_;
    std::string member_;
    std::unique_ptr<zip_file_t, CloseMember> file_;
    std::int64_t length_ = 0;
    std::int64_t at_ = 0;
};

/// The shape of an array; nothing if it cannot be read.
std::optional<std::vector<std::int64_t>> shape_of(const Archive& archive, const std::string& member) {
    try {
        Member array(archive, member);
        return read_npy_header(array).shape;
    } catch (const Error&) {
        return std::nullopt;
    }
}

bool can_be_points(const std::optional<std::vector<std::int64_t>>& shape) {
    return shape && shape->size() == 2 && has_shape_of_points((*shape)[1]);
}

/// "positions (100 x 3), masses (100)".
std::string contents(const Archive& archive) {
    constexpr std::size_t max_listed = 20;
    std::string text;
    for (std::size_t i = 0; i < std::min(archive.arrays().size(), max_listed); ++i) {
        const std::string& member = archive.arrays()[i];
        text += message(text.empty() ? "" : ", ", without_suffix(member), " (");
        const auto shape = shape_of(archive, member);
        for (std::size_t axis = 0; shape && axis < shape->size(); ++axis) {
            text += message(axis == 0 ? "" : " x ", (*shape)[axis]);
        }
        text += !shape ? "unreadable)" : shape->empty() ? "one number)" : ")";
    }
    return archive.arrays().size() > max_listed ? text + ", ..." : text;
}

/// Of an archive of results. Its provenance is JSON (npz_writer.cpp).
ResultFile describe(const Archive& archive) {
    ResultFile result{"npz", "", {}, {}};
    for (const std::string& member : archive.arrays()) {
        result.arrays.push_back(
            {std::string(without_suffix(member)), shape_of(archive, member).value_or(std::vector<std::int64_t>()), ""});
    }
    result.kind = kind_of_result(result.arrays);
    const auto json = nlohmann::json::parse(archive.provenance(), nullptr, false);
    const auto add = [&](const auto& name, const auto& value) {
        if (value.is_string()) {
            result.provenance.emplace(name, value.template get<std::string>());
        }
    };
    for (const auto& [stored, name] : {std::pair("program", "Program"), {"command", "Command"}, {"input", "Input"}}) {
        add(name, json.is_object() ? json.value(stored, nlohmann::json()) : nlohmann::json());
    }
    const auto parameters = json.is_object() ? json.value("parameters", nlohmann::json()) : nlohmann::json();
    if (parameters.is_object()) {
        for (const auto& [name, value] : parameters.items()) {
            add(name, value);
        }
    }
    return result;
}

std::string only_points(const Archive& archive) {
    if (archive.is_result()) {
        refuse(archive.path(), about_result(describe(archive)));
    }
    std::vector<std::string> found;
    for (const std::string& member : archive.arrays()) {
        if (can_be_points(shape_of(archive, member))) {
            found.push_back(member);
        }
    }
    if (found.size() == 1) {
        return found.front();
    }
    if (found.empty() && archive.arrays().size() == 1) {
        return archive.arrays().front(); // which is refused with its own reason
    }
    if (found.empty()) {
        refuse(archive.path(), "none of its arrays is one of points, n x 2 to ", max_dimension, "; the archive holds ",
               contents(archive));
    }
    refuse(archive.path(), found.size(), " of its arrays can be points; name one, as in ", archive.path(), ":",
           without_suffix(found.front()), "; the archive holds ", contents(archive));
}

std::string member_named(const Archive& archive, const std::string& name) {
    for (const std::string& member : archive.arrays()) {
        if (member == name || without_suffix(member) == name) {
            return member;
        }
    }
    refuse(archive.path(), "there is no array '", name, "'; the archive holds ", contents(archive));
}

bool is_zip(const FileStart& start) {
    using std::string_view_literals::operator""sv;
    return start.text().starts_with("PK\x03\x04"sv) || start.text().starts_with("PK\x05\x06"sv); // the second: empty
}

SnapshotHeader npz_header(const std::filesystem::path& path) {
    const Archive archive(path);
    Member array(archive, only_points(archive));
    return npy_points_header(array);
}

Snapshot npz_snapshot(const std::filesystem::path& path, const ReadOptions& options) {
    const Archive archive(path);
    Member array(archive, only_points(archive));
    return npy_points(array, options);
}

void warn_of_result(const Archive& archive, const std::string& name, SnapshotHeader& header) {
    if (archive.is_result()) {
        header.warnings.push_back(about_member(describe(archive), name));
    }
}

SnapshotHeader npz_member_header(const std::filesystem::path& path, const std::string& name) {
    const Archive archive(path);
    Member array(archive, member_named(archive, name));
    SnapshotHeader header = npy_points_header(array);
    warn_of_result(archive, name, header);
    return header;
}

Snapshot npz_member(const std::filesystem::path& path, const std::string& name, const ReadOptions& options) {
    const Archive archive(path);
    Member array(archive, member_named(archive, name));
    Snapshot snapshot = npy_points(array, options);
    warn_of_result(archive, name, snapshot.header);
    return snapshot;
}

} // namespace

std::optional<ResultFile> describe_npz_result(const std::filesystem::path& path) {
    const Archive archive(path);
    return archive.is_result() ? std::optional(describe(archive)) : std::nullopt;
}

const Reader npz_reader = {"numpy archive (.npz)", is_zip,    npz_header, npz_snapshot, true,
                           npz_member_header,      npz_member};

} // namespace kith::io
