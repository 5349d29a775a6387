// Arrays of results as .npz: a zip archive, members stored uncompressed, that numpy.load opens.
//
// The archive reads each array block by block when it is closed. libzip turns to zip64 by itself where a member or the
// archive exceeds 4 GiB. Times in the archive are fixed, so that the same result makes the same bytes.
#include "io/npy_format.hpp"
#include "io/output_file.hpp"
#include "io/refuse.hpp"
#include "io/result_arrays.hpp"

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

    /// Adds a member: a header, then as many bytes, which `next` makes while the archive is written.
    void add(const std::string& name, std::string head, std::int64_t bytes = 0, const BlockSource* next = nullptr) {
        Stream& stream = streams_.emplace_back(Stream{std::move(head), bytes, next});
        stream.length += std::ssize(stream.head);
        zip_source_t* const source = zip_source_function(archive_.get(), Stream::serve, &stream);
        const zip_int64_t index =
            source == nullptr ? -1 : zip_file_add(archive_.get(), name.c_str(), source, ZIP_FL_ENC_UTF_8);
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

    /// Adds the provenance and puts the file in its place.
    void commit(const Provenance& provenance) {
        add("provenance.json", as_json(provenance));
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
        const BlockSource* next = nullptr;
        std::int64_t at = 0;             ///< read so far
        std::exception_ptr failure = {}; ///< no exception passes through libzip

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
                    (*next)(some);
                } catch (...) {
                    failure = std::current_exception();
                    return -1;
                }
            }
            at += std::ssize(some);
            return static_cast<zip_int64_t>(some.size());
        }
    };

    [[noreturn]] void fail(const std::string& reason) const {
        refuse(replacement_.target().string(), "the archive could not be written (", reason, ")");
    }

    Replacement replacement_;
    std::deque<Stream> streams_; ///< read when the archive is closed
    std::unique_ptr<zip_t, Discard> archive_;
};

} // namespace

void write_arrays_npz(const std::filesystem::path& path, const StreamedArrays& results, const Provenance& provenance) {
    Archive archive(path);
    for (const StreamedArray& array : results.arrays) {
        archive.add(message(array.name, ".npy"),
                    make_npy_header(array.kind, static_cast<std::size_t>(array.item_bytes), array.rows, array.columns),
                    array.rows * std::max<std::int64_t>(1, array.columns) * array.item_bytes, &results.next);
    }
    archive.commit(provenance);
}

} // namespace kith::io
