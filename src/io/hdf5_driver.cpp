// The driver's functions, in the form that the library calls (see hdf5_driver.hpp).
#include "io/hdf5_driver.hpp"

#if H5_VERSION_GE(1, 13, 2)
#include <H5FDdevelop.h>
#endif

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

namespace kith::io::hdf5 {

namespace {

// Travels with the file access properties.
struct Settings {
    int* failure;
};

// The library sees only the first member.
struct OpenFile {
    H5FD_t shared;
    int descriptor;
    haddr_t allocated; // end of the space that the library has given out
    haddr_t written;   // end of what is, or after a failure would be, in the file
    int* failure;
};

OpenFile& of(H5FD_t* file) {
    return *reinterpret_cast<OpenFile*>(file);
}
const OpenFile& of(const H5FD_t* file) {
    return *reinterpret_cast<const OpenFile*>(file);
}

void note(const OpenFile& file) {
    if (*file.failure == 0) {
        *file.failure = errno != 0 ? errno : EIO;
    }
}

// The library first asks without H5F_ACC_CREAT whether the file is there, and means no harm by it.
H5FD_t* open_new(const char* name, unsigned flags, hid_t access, haddr_t) {
    const auto* settings = static_cast<const Settings*>(H5Pget_driver_info(access));
    if (settings == nullptr) {
        return nullptr;
    }
    constexpr mode_t everyone = 0666; // less what the user's mask takes away
    const bool making = (flags & H5F_ACC_CREAT) != 0;
    const int descriptor = making ? ::open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, everyone) : -1;
    if (descriptor < 0) {
        *settings->failure = making ? errno : 0;
        return nullptr;
    }
    auto* file = new (std::nothrow) OpenFile{};
    if (file == nullptr) {
        ::close(descriptor);
        return nullptr;
    }
    file->descriptor = descriptor;
    file->failure = settings->failure;
    return &file->shared;
}

herr_t close_file(H5FD_t* shared) {
    OpenFile* file = &of(shared);
    errno = 0;
    if (::close(file->descriptor) != 0) {
        note(*file);
    }
    delete file;
    return 0;
}

herr_t write_at(H5FD_t* shared, H5FD_mem_t, hid_t, haddr_t offset, size_t size, const void* bytes) {
    OpenFile& file = of(shared);
    file.written = std::max(file.written, offset + size);
    const auto* from = static_cast<const char*>(bytes);
    while (size > 0 && *file.failure == 0) {
        constexpr size_t most = size_t{1} << 30; // one call writes less than 2 GiB
        errno = 0;
        const ssize_t done = ::pwrite(file.descriptor, from, std::min(size, most), static_cast<off_t>(offset));
        if (done > 0) {
            from += done;
            offset += static_cast<haddr_t>(done);
            size -= static_cast<size_t>(done);
        } else if (errno != EINTR) {
            note(file);
        }
    }
    return 0;
}

// Beyond the end of the file, and after a failure where writes were dropped, zeros are read.
herr_t read_at(H5FD_t* shared, H5FD_mem_t, hid_t, haddr_t offset, size_t size, void* bytes) {
    const OpenFile& file = of(shared);
    auto* to = static_cast<char*>(bytes);
    while (size > 0) {
        const ssize_t done = ::pread(file.descriptor, to, size, static_cast<off_t>(offset));
        if (done < 0 && errno != EINTR) {
            return -1;
        }
        if (done == 0) {
            std::memset(to, 0, size);
            return 0;
        }
        if (done > 0) {
            to += done;
            offset += static_cast<haddr_t>(done);
            size -= static_cast<size_t>(done);
        }
    }
    return 0;
}

herr_t truncate_to_allocated(H5FD_t* shared, hid_t, hbool_t) {
    OpenFile& file = of(shared);
    errno = 0;
    if (*file.failure == 0 && file.written != file.allocated &&
        ::ftruncate(file.descriptor, static_cast<off_t>(file.allocated)) != 0) {
        note(file);
    }
    file.written = file.allocated;
    return 0;
}

haddr_t allocated_end(const H5FD_t* file, H5FD_mem_t) {
    return of(file).allocated;
}

herr_t set_allocated_end(H5FD_t* file, H5FD_mem_t, haddr_t end) {
    of(file).allocated = end;
    return 0;
}

haddr_t written_end(const H5FD_t* file, H5FD_mem_t) {
    return of(file).written;
}

int compare(const H5FD_t* left, const H5FD_t* right) {
    return left < right ? -1 : left > right ? 1 : 0;
}

herr_t features(const H5FD_t*, unsigned long* flags) {
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

const H5FD_class_t& driver_class() {
    static const H5FD_class_t driver = [] {
        H5FD_class_t made{};
#if H5_VERSION_GE(1, 13, 2)
        made.version = H5FD_CLASS_VERSION;
        made.value = static_cast<H5FD_class_value_t>(511); // of the range that is free for anyone's use
#endif
        made.name = "kith_writing";
        made.maxaddr = (haddr_t{1} << 62) - 1;
        made.fc_degree = H5F_CLOSE_WEAK;
        made.fapl_size = sizeof(Settings);
        made.open = open_new;
        made.close = close_file;
        made.cmp = compare;
        made.query = features;
        made.get_eoa = allocated_end;
        made.set_eoa = set_allocated_end;
        made.get_eof = written_end;
        made.read = read_at;
        made.write = write_at;
        made.truncate = truncate_to_allocated;
        return made;
    }();
    return driver;
}

} // namespace

WritingDriver::WritingDriver() : failure_(std::make_unique<int>(0)), id_(H5FDregister(&driver_class())) {}

WritingDriver::~WritingDriver() {
    if (id_ >= 0) {
        H5FDunregister(id_);
    }
}

File WritingDriver::create(const std::filesystem::path& path) {
    const PropertyList access(H5Pcreate(H5P_FILE_ACCESS));
    const Settings settings{failure_.get()};
    if (id_ < 0 || H5Pset_driver(access.get(), id_, &settings) < 0) {
        return File();
    }
    return File(H5Fcreate(path.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, access.get()));
}

} // namespace kith::io::hdf5
