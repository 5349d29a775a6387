// Points from .npy: a two-dimensional array, one row per point, 2 to 8 columns (npy_array.hpp).
#include "io/input_file.hpp"
#include "io/npy_array.hpp"
#include "io/reader.hpp"

namespace kith::io {

namespace {

class NpyFile final : public NpySource {
public:
    explicit NpyFile(const std::filesystem::path& path) : file_(path) {}
    [[nodiscard]] std::string name() const override { return file_.path().string(); }
    [[nodiscard]] std::string format() const override { return "npy"; }
    [[nodiscard]] std::int64_t length() const override { return file_.length(); }
    void read(std::int64_t offset, std::span<std::byte> bytes) override { file_.read(offset, bytes); }

private:
    InputFile file_;
};

SnapshotHeader npy_header(const std::filesystem::path& path) {
    NpyFile file(path);
    return npy_points_header(file);
}

Snapshot npy_snapshot(const std::filesystem::path& path, const ReadOptions& options) {
    NpyFile file(path);
    return npy_points(file, options);
}

} // namespace

const Reader npy_reader = {"numpy array (.npy, n x d)", is_npy, npy_header, npy_snapshot, true};

} // namespace kith::io
