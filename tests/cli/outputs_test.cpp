// All outputs or none, and none where something else is.
#include "cli/outputs.hpp"

#include "cli/usage_error.hpp"
#include "support/temporary_folder.hpp"

#include <kith/error.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace {

namespace fs = std::filesystem;
using kith::Error;
using kith::cli::OutputFiles;
using kith::cli::UsageError;

class Outputs : public testing::Test {
protected:
    [[nodiscard]] std::size_t file_count() const { return folder_.entries(); }
    static void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }
    static std::string read(const fs::path& path) {
        std::ifstream file(path);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    const kith::test::TemporaryFolder folder_;
    const fs::path directory_ = folder_.path();
};

TEST_F(Outputs, CommitPutsEveryFileInPlace) {
    OutputFiles outputs;
    outputs.plan("-o", directory_ / "a.hdf5", {".hdf5"});
    outputs.plan("--labels", directory_ / "b.npy", {".npy"});
    outputs.plan("--map", "");
    outputs.probe_directories();
    EXPECT_EQ(file_count(), 0U);
    write(outputs.staged(directory_ / "a.hdf5"), "groups");
    write(outputs.staged(directory_ / "b.npy"), "labels");
    outputs.commit();
    EXPECT_EQ(file_count(), 2U);
    EXPECT_EQ(read(directory_ / "a.hdf5"), "groups");
    EXPECT_EQ(read(directory_ / "b.npy"), "labels");
}

TEST_F(Outputs, AReplacedFileKeepsItsPermissions) {
    const fs::path target = directory_ / "a.npy";
    write(target, "older");
    constexpr fs::perms private_to_group = fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read;
    fs::permissions(target, private_to_group);
    OutputFiles outputs;
    outputs.plan("--labels", target, {".npy"});
    write(outputs.staged(target), "newer");
    outputs.commit();
    EXPECT_EQ(read(target), "newer");
    EXPECT_EQ(fs::status(target).permissions(), private_to_group);
}

TEST_F(Outputs, WithoutCommitNothingIsLeftAndOlderFilesStay) {
    write(directory_ / "a.hdf5", "older");
    {
        OutputFiles outputs;
        outputs.plan("-o", directory_ / "a.hdf5", {".hdf5"});
        outputs.plan("--labels", directory_ / "b.npy", {".npy"});
        write(outputs.staged(directory_ / "a.hdf5"), "newer");
    }
    EXPECT_EQ(file_count(), 1U);
    EXPECT_EQ(read(directory_ / "a.hdf5"), "older");
}

TEST_F(Outputs, AFailingCommitLeavesNoOutput) {
    {
        OutputFiles outputs;
        outputs.plan("-o", directory_ / "a.hdf5", {".hdf5"});
        outputs.plan("--labels", directory_ / "b.npy", {".npy"});
        write(outputs.staged(directory_ / "a.hdf5"), "groups"); // the labels are missing
        EXPECT_THROW(outputs.commit(), Error);
    }
    EXPECT_EQ(file_count(), 0U);
}

TEST_F(Outputs, NamesThatCannotBeAreRefused) {
    OutputFiles outputs;
    EXPECT_THROW(outputs.plan("-o", directory_ / "a.txt", {".hdf5", ".h5"}), UsageError);
    EXPECT_THROW(outputs.plan("-o", directory_ / "noextension", {".hdf5"}), UsageError);
    fs::create_directory(directory_ / "folder.hdf5");
    EXPECT_THROW(outputs.plan("-o", directory_ / "folder.hdf5", {".hdf5"}), UsageError);
    outputs.plan("--grp", directory_ / "same");
    EXPECT_THROW(outputs.plan("--gtp", directory_ / "." / "same"), UsageError);
}

TEST_F(Outputs, TheInputIsNeverAnOutput) {
    write(directory_ / "in.npy", "points");
    fs::create_symlink(directory_ / "in.npy", directory_ / "link.npy");
    fs::create_hard_link(directory_ / "in.npy", directory_ / "hard.npy");
    for (const char* name : {"in.npy", "link.npy", "hard.npy"}) {
        OutputFiles outputs;
        outputs.plan("--labels", directory_ / name, {".npy"});
        EXPECT_THROW(outputs.reject_overwrite_of(directory_ / "in.npy"), UsageError) << name;
    }
}

TEST_F(Outputs, AMissingDirectoryIsFoundByProbing) {
    OutputFiles outputs;
    outputs.plan("-o", directory_ / "missing" / "a.hdf5", {".hdf5"});
    try {
        outputs.probe_directories();
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), kith::ErrorKind::file);
        EXPECT_NE(std::string(error.what()).find("a.hdf5"), std::string::npos);
    }
}

} // namespace
