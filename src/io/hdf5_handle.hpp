// The HDF5 C library with ownership, one user at a time, and exceptions.
//
// A Session is held for the whole of every public call that uses HDF5: the library's usual builds are not safe to call
// from several threads, and its own error printing is process-wide; the session locks the one and mutes the other, and
// puts the caller's setting back. A call pauses its session while it waits for other threads, and keeps its handles.
// Handles close what they own and must be destroyed before the session.
#pragma once

#include <kith/points.hpp>

#include <hdf5.h>

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kith::io::hdf5 {

class Session {
public:
    Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    ~Session();

    class Pause {
    public:
        explicit Pause(Session& session) : session_(session) { session_.end(); }
        Pause(const Pause&) = delete;
        Pause& operator=(const Pause&) = delete;
        ~Pause() { session_.begin(); }

    private:
        Session& session_;
    };

private:
    void begin();
    void end();

    std::unique_lock<std::mutex> lock_;
    H5E_auto2_t printer_ = nullptr;
    void* printer_data_ = nullptr;
};

/// Owns an identifier that `Close` closes.
template <herr_t (*Close)(hid_t)>
class Handle {
public:
    Handle() = default;
    explicit Handle(hid_t id) noexcept : id_(id) {}
    Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
    Handle& operator=(Handle&& other) noexcept {
        std::swap(id_, other.id_);
        return *this;
    }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() {
        if (id_ >= 0) {
            Close(id_);
        }
    }
    [[nodiscard]] hid_t get() const noexcept { return id_; }
    /// Closes now; false if the library could not.
    [[nodiscard]] bool close() noexcept { return Close(std::exchange(id_, H5I_INVALID_HID)) >= 0; }

private:
    hid_t id_ = H5I_INVALID_HID;
};

using File = Handle<H5Fclose>;
using Object = Handle<H5Oclose>;
using Group = Handle<H5Gclose>;
using Space = Handle<H5Sclose>;
using Type = Handle<H5Tclose>;
using Attribute = Handle<H5Aclose>;
using PropertyList = Handle<H5Pclose>;

/// Throws Error(file): "`file`: `what` (the library's innermost reason)".
[[noreturn]] void fail(std::string_view file, std::string_view what);

/// Passes identifiers and statuses through; a negative one fails.
template <class Result>
Result check(Result result, std::string_view file, std::string_view what) {
    if (result < 0) {
        fail(file, what);
    }
    return result;
}

/// Name of the file that an object is in.
[[nodiscard]] std::string file_of(hid_t object);

/// Selects some rows of a dataset's space and returns their space in memory. The two texts are for messages.
[[nodiscard]] Space select_rows(const Space& stored, std::int64_t first, std::int64_t rows, std::string_view file,
                                std::string_view what);

/// A one- or two-dimensional dataset that is open for reading.
struct Dataset {
    Handle<H5Dclose> id;
    std::string file; ///< for messages
    std::string name;
    int rank = 1;
    std::int64_t rows = 0;
    std::int64_t columns = 1;
    H5T_class_t type = H5T_FLOAT;
    std::size_t item_bytes = 0;
    bool is_signed = false;

    /// The narrowest of float32 and float64 that holds it.
    [[nodiscard]] DType dtype() const noexcept {
        return type == H5T_FLOAT && item_bytes <= 4 ? DType::float32 : DType::float64;
    }
    /// Some rows, converted to `memory_type`, to count * columns values at `out`.
    void read(hid_t memory_type, std::int64_t begin, std::int64_t count, void* out) const;
    /// All of them.
    void read(hid_t memory_type, void* out) const { read(memory_type, 0, rows, out); }
};

/// The library's type of such numbers in memory.
[[nodiscard]] inline hid_t native_type(DType dtype) {
    return dtype == DType::float32 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
}

[[nodiscard]] File open_file(const std::filesystem::path& path);

/// Whether `name`, relative to `place` and of one component, exists there. Throws Error(file) for a link whose target
/// is missing.
[[nodiscard]] bool exists(hid_t place, const std::string& name);

/// The object, or a negative one if it is not there.
[[nodiscard]] Object open_if_there(hid_t file, const char* name);

/// What the library calls for each link or attribute of a walk: adds its name to `names`, a container of texts.
template <class Info, class Names = std::vector<std::string>>
herr_t add_name(hid_t, const char* name, const Info*, void* names) {
    Names& known = *static_cast<Names*>(names);
    known.insert(known.end(), name);
    return 0;
}

/// Names of what is in a group, in alphabetical order; and the first of them as text for messages: "Group, Header".
[[nodiscard]] std::vector<std::string> names_in(hid_t group);
[[nodiscard]] std::string list_of_names_in(hid_t group);

/// Throws Error(unsupported) for a virtual dataset: values that lie in other files read as zeros where these are
/// missing.
void require_own_values(const PropertyList& creation, std::string_view name, std::string_view file_name);

/// Shape alone, of values of any type. Throws Error(file) for what has not one or two axes or is too large to count.
[[nodiscard]] Dataset describe_shape(hid_t file, const std::string& name, std::string_view file_name);

/// Whether a type is one of whole or real numbers and not a damaged one, which the library would crash on.
[[nodiscard]] bool is_number(hid_t type);

/// Names of the fields of a dataset of records, a compound type; empty for other types.
[[nodiscard]] std::vector<std::string> fields_of(const Dataset& dataset);

/// Shape and type. Throws Error(file) for what is no numeric table, too.
[[nodiscard]] Dataset describe_dataset(hid_t file, const std::string& name, std::string_view file_name);

/// The same for reading: its values are all in this file and can be decoded (hdf5_storage.hpp), or it is refused.
[[nodiscard]] Dataset open_dataset(hid_t file, const std::string& name, std::string_view file_name);

/// Whether `object` has an attribute of that name, of any type; not if it is negative.
[[nodiscard]] bool has_attribute(hid_t object, const char* name);

/// A numeric attribute as doubles, and its first number; nothing if it is absent or not numeric, or the object
/// negative. SWIFT and other programs write numbers as text, which is read if it holds one number and nothing else.
[[nodiscard]] std::optional<std::vector<double>> numbers(hid_t object, const char* name);
[[nodiscard]] std::optional<double> number(hid_t object, const char* name);

/// A text attribute; nothing if it is absent or not text, or the object negative.
[[nodiscard]] std::optional<std::string> text(hid_t object, const char* name);

} // namespace kith::io::hdf5
