// Walking groups and copying what is in them (see hdf5_copy.hpp).
#include "io/hdf5_copy.hpp"

#include "io/memory.hpp"
#include "io/refuse.hpp"

namespace kith::io::hdf5 {

namespace {

std::string target_of_soft_link(hid_t group, const std::string& name, std::size_t length, const std::string& file) {
    std::string target(length, '\0');
    check(H5Lget_val(group, name.c_str(), target.data(), target.size(), H5P_DEFAULT), file,
          message("link ", name, " could not be read"));
    return target.substr(0, target.find('\0'));
}

void copy_attribute(const Attribute& from, const std::string& name, hid_t to, const std::string& file) {
    const std::string what = message("attribute ", name, " could not be copied");
    const Type stored(check(H5Aget_type(from.get()), file, what));
    if (holds_references(stored.get())) {
        return;
    }
    const Type type(check(H5Tcopy(stored.get()), file, what)); // of no file, where the stored one has a name in its own
    const Space space(check(H5Aget_space(from.get()), file, what));
    const hssize_t count = H5Sget_simple_extent_npoints(space.get());
    const Attribute made(
        check(H5Acreate2(to, name.c_str(), type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), file, what));
    if (count > 0) {
        Values values(type, space, count, static_cast<std::int64_t>(H5Tget_size(type.get())), name);
        check(H5Aread(from.get(), type.get(), values.data()), file, what);
        check(H5Awrite(made.get(), type.get(), values.data()), file, what);
    }
}

} // namespace

bool holds_references(hid_t type) {
    return H5Tdetect_class(type, H5T_REFERENCE) > 0;
}

// Strings of fixed length among them; reclaiming these does nothing.
bool may_point_to_memory(hid_t type) {
    return H5Tdetect_class(type, H5T_VLEN) > 0 || H5Tdetect_class(type, H5T_STRING) > 0;
}

Values::Values(const Type& type, const Space& space, std::int64_t rows, std::int64_t row_bytes, const std::string& what)
    : type_(type), space_(space), bytes_(allocate<std::byte>(rows, row_bytes, what)) {}

Values::~Values() {
    if (may_point_to_memory(type_.get()) && !bytes_.empty()) {
#if H5_VERSION_GE(1, 12, 0)
        H5Treclaim(type_.get(), space_.get(), H5P_DEFAULT, bytes_.data());
#else
        H5Dvlen_reclaim(type_.get(), space_.get(), H5P_DEFAULT, bytes_.data());
#endif
    }
}

std::vector<std::string> links_of(hid_t group, const std::string& file) {
    std::vector<std::string> names;
    check(H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, add_name<H5L_info_t>, &names), file,
          "a group could not be listed");
    return names;
}

Copier::Identity Copier::identity_of(hid_t object, const std::string& file) {
#if H5_VERSION_GE(1, 12, 0)
    H5O_info2_t info{};
    check(H5Oget_info3(object, &info, H5O_INFO_BASIC), file, "an object could not be identified");
    return {info.fileno, std::string(reinterpret_cast<const char*>(&info.token), sizeof info.token)};
#else
    H5O_info_t info{};
    check(H5Oget_info(object, &info), file, "an object could not be identified");
    return {info.fileno, std::string(reinterpret_cast<const char*>(&info.addr), sizeof info.addr)};
#endif
}

void Copier::copy_attributes(hid_t from, hid_t to, const std::string& file) const {
    std::vector<std::string> names;
    check(H5Aiterate2(from, H5_INDEX_NAME, H5_ITER_INC, nullptr, add_name<H5A_info_t>, &names), file,
          "attributes could not be listed");
    for (const std::string& name : names) {
        const Attribute attribute(
            check(H5Aopen(from, name.c_str(), H5P_DEFAULT), file, message("attribute ", name, " could not be opened")));
        copy_attribute(attribute, name, to, file);
    }
}

void Copier::copy_group(hid_t source, const std::string& path, const std::string& file) {
    const Object group(
        check(H5Oopen(source, path.c_str(), H5P_DEFAULT), file, message("group ", path, " could not be opened")));
    copy_object(group, path, file);
}

void Copier::copy_link(hid_t source, const std::string& name, const std::string& path, const std::string& file) {
    H5L_info_t link{};
    check(H5Lget_info(source, name.c_str(), &link, H5P_DEFAULT), file, message("link ", name, " could not be read"));
    if (link.type == H5L_TYPE_SOFT) {
        const std::string target = target_of_soft_link(source, name, link.u.val_size, file);
        check(H5Lcreate_soft(target.c_str(), target_.root(), path.c_str(), H5P_DEFAULT, H5P_DEFAULT), target_.name(),
              message("link ", path, " could not be made"));
        return;
    }
    if (link.type != H5L_TYPE_HARD && H5Oexists_by_name(source, name.c_str(), H5P_DEFAULT) <= 0) {
        H5Eclear2(H5E_DEFAULT);
        return;
    }
    const Object object(check(H5Oopen(source, name.c_str(), H5P_DEFAULT), file, message(path, " could not be opened")));
    copy_object(object, path, file);
}

void Copier::copy_object(const Object& object, const std::string& path, const std::string& file) {
    const auto [known, is_new] = copied_.emplace(identity_of(object.get(), file), path);
    if (!is_new) {
        check(H5Lcreate_hard(target_.root(), known->second.c_str(), target_.root(), path.c_str(), H5P_DEFAULT,
                             H5P_DEFAULT),
              target_.name(), message("link ", path, " could not be made"));
        return;
    }
    const H5I_type_t kind = H5Iget_type(object.get());
    if (kind == H5I_GROUP) {
        const Group made = target_.make_group(path.c_str());
        copy_attributes(object.get(), made.get(), file);
        for (const std::string& name : links_of(object.get(), file)) {
            copy_link(object.get(), name, message(path, "/", name), file);
        }
    } else if (kind != H5I_DATASET || !own_copy_(object.get(), path)) {
        const herr_t status = H5Ocopy(object.get(), ".", target_.root(), path.c_str(), H5P_DEFAULT, H5P_DEFAULT);
        target_.require_written();
        check(status, file, message(path, " could not be copied"));
    }
}

} // namespace kith::io::hdf5
