// Counting chunks and bytes (see hdf5_storage.hpp).
#include "io/hdf5_storage.hpp"

#include "io/hdf5_filters.hpp"
#include "io/refuse.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

namespace kith::io::hdf5 {

namespace {

struct ChunkGrid {
    std::vector<hsize_t> lengths; ///< of the dataset
    std::vector<hsize_t> chunk;   ///< of a chunk

    [[nodiscard]] hsize_t chunks_along(std::size_t axis) const {
        return lengths[axis] / chunk[axis] + (lengths[axis] % chunk[axis] != 0 ? 1 : 0);
    }
    /// Those that cover the dataset, those at its edge included; the largest number if there are more.
    [[nodiscard]] hsize_t chunks() const {
        hsize_t count = 1;
        for (std::size_t axis = 0; axis < lengths.size(); ++axis) {
            const hsize_t here = chunks_along(axis);
            constexpr hsize_t most = std::numeric_limits<hsize_t>::max();
            count = here != 0 && count > most / here ? most : count * here;
        }
        return count;
    }
    /// Where chunk number `chunk_index` begins; they are counted along the last axis first.
    [[nodiscard]] std::vector<hsize_t> begin_of(hsize_t chunk_index) const {
        std::vector<hsize_t> begin(lengths.size());
        for (std::size_t axis = lengths.size(); axis-- > 0;) {
            begin[axis] = chunk_index % chunks_along(axis) * chunk[axis];
            chunk_index /= chunks_along(axis);
        }
        return begin;
    }
};

ChunkGrid grid_of(hid_t dataset, const PropertyList& creation, std::string_view file_name, const std::string& what) {
    const Space space(check(H5Dget_space(dataset), file_name, what));
    const int rank = std::max(0, H5Sget_simple_extent_ndims(space.get()));
    ChunkGrid grid{std::vector<hsize_t>(rank), std::vector<hsize_t>(rank)};
    check(H5Sget_simple_extent_dims(space.get(), grid.lengths.data(), nullptr), file_name, what);
    check(H5Pget_chunk(creation.get(), rank, grid.chunk.data()), file_name, what);
    return grid;
}

// How many chunks have values; nothing if this library cannot tell.
std::optional<hsize_t> count_chunks(hid_t dataset, const PropertyList& creation, const ChunkGrid& grid) {
    if (H5Pget_nfilters(creation.get()) == 0) {
        const Type type(H5Dget_type(dataset));
        const hsize_t bytes =
            std::accumulate(grid.chunk.begin(), grid.chunk.end(),
                            hsize_t{std::max<std::size_t>(1, H5Tget_size(type.get()))}, std::multiplies<>());
        return bytes == 0 ? std::nullopt : std::optional(H5Dget_storage_size(dataset) / bytes);
    }
#if H5_VERSION_GE(1, 10, 5)
    const Space space(H5Dget_space(dataset));
    hsize_t count = 0;
    if (H5Dget_num_chunks(dataset, space.get(), &count) >= 0) {
        return count;
    }
    H5Eclear2(H5E_DEFAULT);
#endif
    return std::nullopt;
}

// "the first with rows 4 to 7".
std::string describe_first_missing([[maybe_unused]] hid_t dataset, [[maybe_unused]] const ChunkGrid& grid) {
#if H5_VERSION_GE(1, 10, 2)
    for (hsize_t i = 0; i < grid.chunks(); ++i) {
        const std::vector<hsize_t> begin = grid.begin_of(i);
        hsize_t bytes = 0;
        if (H5Dget_chunk_storage_size(dataset, begin.data(), &bytes) < 0 || bytes == 0) {
            H5Eclear2(H5E_DEFAULT);
            return message(", the first with rows ", begin[0], " to ",
                           std::min(begin[0] + grid.chunk[0], grid.lengths[0]) - 1, ", counted from 0");
        }
    }
#endif
    return "";
}

} // namespace

void require_all_chunks(hid_t dataset, const PropertyList& creation, std::string_view name,
                        std::string_view file_name) {
    if (H5Pget_layout(creation.get()) != H5D_CHUNKED) {
        return;
    }
    const ChunkGrid grid = grid_of(dataset, creation, file_name, message("the layout of ", name));
    const std::optional<hsize_t> written = count_chunks(dataset, creation, grid);
    if (!written || *written == 0 || *written >= grid.chunks()) {
        return;
    }
    const hsize_t missing = grid.chunks() - *written;
    refuse(file_name, "dataset ", name, " was written only in part: ", missing, " of its ", grid.chunks(),
           missing == 1 ? " chunks is" : " chunks are", " not in the file", describe_first_missing(dataset, grid),
           ", and would read as zeros or another fill value; write the file again, all rows of it");
}

void require_values(const Dataset& dataset) {
    const PropertyList creation(
        check(H5Dget_create_plist(dataset.id.get()), dataset.file, message("the layout of ", dataset.name)));
    require_own_values(creation, dataset.name, dataset.file);
    const auto claims = [&](const auto&... rest) {
        refuse(dataset.file, "dataset ", dataset.name, " claims ", dataset.rows, " x ", dataset.columns, " values",
               rest...);
    };
    const auto values = static_cast<hsize_t>(dataset.rows) * static_cast<hsize_t>(dataset.columns);
    const hsize_t stored = H5Dget_storage_size(dataset.id.get());
    if (values > 0 && stored == 0) {
        claims(", but none were ever written");
    }
    hsize_t file_length = 0;
    const bool in_one_piece =
        H5Pget_layout(creation.get()) == H5D_CONTIGUOUS && H5Pget_external_count(creation.get()) == 0;
    if (in_one_piece && (values > stored / dataset.item_bytes ||
                         (H5Fget_filesize(dataset.id.get(), &file_length) >= 0 && stored > file_length))) {
        claims(" of ", dataset.item_bytes, " bytes, which are not all in the file");
    }
    constexpr hsize_t max_values_of_a_byte = 1 << 17; // far beyond what filters compress real data to
    if (values / max_values_of_a_byte > stored) {
        claims(", but holds only ", stored, " bytes of them");
    }
    require_all_chunks(dataset.id.get(), creation, dataset.name, dataset.file);
    require_filters(creation, dataset.item_bytes, dataset.name, dataset.file);
}

} // namespace kith::io::hdf5
