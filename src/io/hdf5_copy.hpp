// Copying the objects of HDF5 files into a new one, where some datasets need a copy of another kind.
//
// The library's H5Ocopy copies a dataset, or a group with all below it, as it is. Here groups are walked instead, so
// that the caller can copy a dataset in its own way. Soft links stay links. Two hard links to one object become two
// hard links to one copy, and so does what is reached by an external link. Attributes keep their types; those that hold
// references to other objects are left out, since they would refer to the old file. No times are stored.
#pragma once

#include "io/hdf5_create.hpp"
#include "io/hdf5_handle.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace kith::io::hdf5 {

/// The names of all links of a group, in alphabetical order.
[[nodiscard]] std::vector<std::string> links_of(hid_t group, const std::string& file);

/// Whether values of the type refer to objects of the file that they are in.
[[nodiscard]] bool holds_references(hid_t type);

/// Whether values of the type may point to memory beside them: of variable length, or text of any.
[[nodiscard]] bool may_point_to_memory(hid_t type);

class Copier {
public:
    /// Copies a dataset to `path` and returns true; or returns false, and it is copied as it is.
    using OwnCopy = std::function<bool(hid_t dataset, const std::string& path)>;

    Copier(const OutputFile& target, OwnCopy own_copy) : target_(target), own_copy_(std::move(own_copy)) {}

    /// Copies the group `path`, from wherever a link of that name leads, with all below it. `file` is for messages.
    void copy_group(hid_t source, const std::string& path, const std::string& file);

    /// Copies what the link `name` of `source` stands for to `path`. Links that lead nowhere are left out, soft ones
    /// kept.
    void copy_link(hid_t source, const std::string& name, const std::string& path, const std::string& file);

    /// Copies the attributes of `from` to `to`.
    void copy_attributes(hid_t from, hid_t to, const std::string& file) const;

private:
    using Identity = std::pair<unsigned long, std::string>;
    [[nodiscard]] static Identity identity_of(hid_t object, const std::string& file);
    void copy_object(const Object& object, const std::string& path, const std::string& file);

    const OutputFile& target_;
    OwnCopy own_copy_;
    std::map<Identity, std::string> copied_; ///< where each object of the input is in the output
};

/// Values in memory in the stored form of their type. Frees what variable-length values point to.
class Values {
public:
    /// `type` and `space` must outlive it.
    Values(const Type& type, const Space& space, std::int64_t rows, std::int64_t row_bytes, const std::string& what);
    Values(const Values&) = delete;
    Values& operator=(const Values&) = delete;
    ~Values();

    [[nodiscard]] std::byte* data() noexcept { return bytes_.data(); }

private:
    const Type& type_;
    const Space& space_;
    std::vector<std::byte> bytes_;
};

} // namespace kith::io::hdf5
