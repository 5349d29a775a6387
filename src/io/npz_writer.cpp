// Neighbors and spanning trees as .npz: a zip archive, members stored uncompressed, that numpy.load opens.
//
// The archive reads each array from where it lies in memory (header and values are two fragments of one member), so no
// copy is made. libzip turns to zip64 by itself where a member or the archive exceeds 4 GiB. Times in the archive are
// fixed, so that the same result makes the same bytes.
#include "io/npy_format.hpp"
#include "io/output_file.hpp"
#include "io/refuse.hpp"

#include <kith/io.hpp>

#include <nlohmann/json.hpp>
#include <zip.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace kith::io {

namespace {

std::string as_json(const Provenance& provenance) {
    const nlohmann::json json = {{"program", provenance.program},
                                 {"command", provenance.command},
                                 {"input", provenance.input},
                                 {"parameters", provenance.parameters}};
    // Command lines and file names may hold bytes that are no UTF-8: these are replaced.
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

class Archive {
public:
    explicit Archive(const std::filesystem::path& target) : replacement_(target) {
        int code = 0;
        archive_.reset(zip_open(replacement_.temporary().c_str(), ZIP_CREATE | ZIP_EXCL, &code));
        if (!archive_) {
            zip_error_t error;
            zip_error_init_with_code(&error, code);
            const std::string reason = zip_error_strerror(&error);
            zip_error_fini(&error);
            fail(reason);
        }
    }

    /// Adds a .npy array in rows of `columns`, or one-dimensional for 0. The values must stay where they are until
    /// commit().
    template <class T>
    void add_array(const char* name, std::span<const T> values, std::int64_t columns = 0) {
        constexpr char kind = std::is_floating_point_v<T> ? 'f' : 'i';
        add(name, make_npy_header(kind, sizeof(T), npy_rows(values.size(), columns), columns), std::as_bytes(values));
    }

    /// Adds a .npy array of rows x columns items, whose bytes `next` makes while the archive is written.
    void add_stream(const char* name, char kind, std::int64_t item_bytes, std::int64_t rows, std::int64_t columns,
                    const std::function<void(std::span<std::byte>)>& next) {
        Stream& stream = streams_.emplace_back();
        stream.head = make_npy_header(kind, item_bytes, rows, columns);
        stream.length = std::ssize(stream.head) + rows * columns * item_bytes;
        stream.next = next;
        add(name, zip_source_function(archive_.get(), Stream::serve, &stream));
    }

    /// Indices and distances of a KnnResult or a RadiusResult.
    template <class Result>
    void add_neighbors(const Result& neighbors, std::int64_t columns = 0) {
        if (neighbors.index_type() == IndexType::int64) {
            add_array("indices.npy", neighbors.indices64(), columns);
        } else {
            add_array("indices.npy", neighbors.indices(), columns);
        }
        if (neighbors.dtype() == DType::float64) {
            add_array("distances.npy", neighbors.template distances<double>(), columns);
        } else {
            add_array("distances.npy", neighbors.template distances<float>(), columns);
        }
    }

    /// Adds the provenance and puts the file in its place.
    void commit(const Provenance& provenance) {
        add("provenance.json", as_json(provenance), {});
        if (zip_close(archive_.get()) != 0) {
            for (const Stream& stream : streams_) {
                if (stream.failure) {
                    std::rethrow_exception(stream.failure);
                }
            }
            fail(zip_strerror(archive_.get()));
        }
        static_cast<void>(archive_.release()); // zip_close has freed it
        replacement_.commit();
    }

private:
    struct Discard {
        void operator()(zip_t* archive) const noexcept { zip_discard(archive); }
    };

    /// A member that is made as libzip reads it: a header, then what next() makes.
    struct Stream {
        std::string head;
        std::int64_t length = 0; ///< of all
        std::int64_t at = 0;     ///< read so far
        std::function<void(std::span<std::byte>)> next;
        std::exception_ptr failure; ///< no exception passes through libzip

        static zip_int64_t serve(void* self, void* data, zip_uint64_t length, zip_source_cmd_t command) {
            return static_cast<Stream*>(self)->answer(data, length, command);
        }
        zip_int64_t answer(void* data, zip_uint64_t room, zip_source_cmd_t command) {
            switch (command) {
            case ZIP_SOURCE_OPEN:
                at = 0;
                return 0;
            case ZIP_SOURCE_READ:
                return read({static_cast<std::byte*>(data), static_cast<std::size_t>(room)});
            case ZIP_SOURCE_STAT: {
                auto* const stat = static_cast<zip_stat_t*>(data);
                zip_stat_init(stat);
                stat->valid = ZIP_STAT_SIZE;
                stat->size = static_cast<zip_uint64_t>(length);
                return sizeof(zip_stat_t);
            }
            case ZIP_SOURCE_ERROR: {
                const std::array<int, 2> codes{ZIP_ER_READ, 0};
                std::memcpy(data, codes.data(), sizeof(codes));
                return sizeof(codes);
            }
            case ZIP_SOURCE_CLOSE:
            case ZIP_SOURCE_FREE:
                return 0;
            case ZIP_SOURCE_SUPPORTS:
                return ZIP_SOURCE_SUPPORTS_READABLE;
            default:
                return -1;
            }
        }
        zip_int64_t read(std::span<std::byte> room) {
            const auto head_bytes = std::ssize(head);
            const auto some = room.first(std::min(std::ssize(room), (at < head_bytes ? head_bytes : length) - at));
            if (at < head_bytes) {
                std::memcpy(some.data(), head.data() + at, some.size());
            } else if (!some.empty()) {
                try {
                    next(some);
                } catch (...) {
                    failure = std::current_exception();
                    return -1;
                }
            }
            at += std::ssize(some);
            return static_cast<zip_int64_t>(some.size());
        }
    };

    /// Adds a member made of two pieces.
    void add(const char* name, std::string text, std::span<const std::byte> body) {
        const std::string_view head = heads_.emplace_back(std::move(text));
        std::array<zip_buffer_fragment_t, 2> pieces{};
        pieces[0] = as_fragment(std::as_bytes(std::span(head)));
        pieces[1] = as_fragment(body);
        add(name, zip_source_buffer_fragment(archive_.get(), pieces.data(), body.empty() ? 1 : 2, 0));
    }
    void add(const char* name, zip_source_t* source) {
        const zip_int64_t index = source == nullptr ? -1 : zip_file_add(archive_.get(), name, source, ZIP_FL_ENC_UTF_8);
        if (index < 0) {
            zip_source_free(source);
            fail(zip_strerror(archive_.get()));
        }
        const auto member = static_cast<zip_uint64_t>(index);
        constexpr zip_uint16_t first_of_january_1980 = (1 << 5) | 1;
        if (zip_set_file_compression(archive_.get(), member, ZIP_CM_STORE, 0) != 0 ||
            zip_file_set_dostime(archive_.get(), member, 0, first_of_january_1980, 0) != 0) {
            fail(zip_strerror(archive_.get()));
        }
    }

    // libzip takes pointers to non-const, but a source made to be added is only read.
    static zip_buffer_fragment_t as_fragment(std::span<const std::byte> bytes) {
        return {reinterpret_cast<zip_uint8_t*>(const_cast<std::byte*>(bytes.data())), bytes.size()};
    }
    [[noreturn]] void fail(const std::string& reason) const {
        refuse(replacement_.target().string(), "the archive could not be written (", reason, ")");
    }

    Replacement replacement_;
    std::deque<std::string> heads_; ///< read when the archive is closed, as are the streams
    std::deque<Stream> streams_;
    std::unique_ptr<zip_t, Discard> archive_;
};

std::int64_t bytes_of(IndexType type) {
    return type == IndexType::int64 ? 8 : 4;
}
std::int64_t bytes_of(DType dtype) {
    return dtype == DType::float64 ? 8 : 4;
}

/// The ends of the edges, one after the other.
std::span<const std::int32_t> indices_of(const SpanningTree& tree) {
    static_assert(sizeof(SpanningEdge) == 2 * sizeof(std::int32_t));
    return {reinterpret_cast<const std::int32_t*>(tree.edges().data()), 2 * tree.edges().size()};
}

} // namespace

void write_neighbors_npz(const std::filesystem::path& path, const KnnResult& neighbors, const Provenance& provenance) {
    Archive archive(path);
    archive.add_neighbors(neighbors, neighbors.k());
    archive.commit(provenance);
}

void stream_neighbors_npz(const std::filesystem::path& path, const NeighborSource& neighbors,
                          const Provenance& provenance) {
    Archive archive(path);
    archive.add_stream("indices.npy", 'i', bytes_of(neighbors.index_type), neighbors.rows, neighbors.k, neighbors.next);
    archive.add_stream("distances.npy", 'f', bytes_of(neighbors.dtype), neighbors.rows, neighbors.k, neighbors.next);
    archive.commit(provenance);
}

void write_radius_neighbors_npz(const std::filesystem::path& path, const RadiusResult& neighbors,
                                const Provenance& provenance) {
    Archive archive(path);
    archive.add_array("offsets.npy", neighbors.offsets());
    archive.add_neighbors(neighbors);
    archive.commit(provenance);
}

void write_spanning_tree_npz(const std::filesystem::path& path, const SpanningTree& tree,
                             const Provenance& provenance) {
    Archive archive(path);
    archive.add_array("edges.npy", indices_of(tree), 2);
    if (tree.dtype() == DType::float64) {
        archive.add_array("weights.npy", tree.weights<double>());
        archive.add_array("heights.npy", tree.heights<double>());
    } else {
        archive.add_array("weights.npy", tree.weights<float>());
        archive.add_array("heights.npy", tree.heights<float>());
    }
    archive.commit(provenance);
}

void write_radius_counts_npz(const std::filesystem::path& path, std::span<const std::int64_t> counts,
                             const Provenance& provenance) {
    Archive archive(path);
    archive.add_array("counts.npy", counts);
    archive.commit(provenance);
}

} // namespace kith::io
