// The header of a sorted snapshot: one file, its counts, and what made it (see hdf5_sorted_snapshot.hpp).
//
// Codes differ in names, types and lengths of these attributes, and readers in which they take. Names that the input
// has are kept up; NumPart_ThisFile, NumPart_Total and NumFilesPerSnapshot are always there.
#include "io/hdf5_sorted_snapshot.hpp"

#include "io/hdf5_catalog_header.hpp"
#include "io/refuse.hpp"

#include <algorithm>

namespace kith::io::hdf5 {

namespace {

constexpr std::size_t usual_types = 6;

// Whether a stored number type has room for a count.
bool holds(hid_t type, std::int64_t count) {
    const std::size_t bits = H5Tget_precision(type);
    if (H5Tget_class(type) == H5T_FLOAT) {
        return count <= (bits >= 64 ? std::int64_t{1} << 53 : std::int64_t{1} << 24);
    }
    const std::size_t usable = bits - (H5Tget_sign(type) == H5T_SGN_2 ? 1 : 0);
    return usable >= 63 || count < std::int64_t{1} << usable;
}

Group open_header(const OutputFile& file) {
    if (!exists(file.root(), "Header")) {
        return file.make_group("Header");
    }
    return Group(check(H5Gopen2(file.root(), "Header", H5P_DEFAULT), file.name(), "/Header could not be opened"));
}

// Replaces an attribute, or makes it. `space` and `stored` may be those of the old one.
void replace(const OutputFile& file, hid_t object, const std::string& attribute, const Type& stored, const Space& space,
             hid_t memory, const void* values) {
    const std::string what = message("attribute ", attribute, " could not be written");
    if (has_attribute(object, attribute.c_str())) {
        check(H5Adelete(object, attribute.c_str()), file.name(), what);
    }
    const Attribute made(check(
        H5Acreate2(object, attribute.c_str(), stored.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), file.name(), what));
    check(H5Awrite(made.get(), memory, values), file.name(), what);
}

// The old attribute's type, if it is one of numbers that `fits`; else `otherwise`.
template <class Fits>
Type type_for(hid_t object, const std::string& attribute, hid_t otherwise, const Fits& fits) {
    if (numbers(object, attribute.c_str())) {
        const Attribute old(H5Aopen(object, attribute.c_str(), H5P_DEFAULT));
        Type stored(H5Aget_type(old.get()));
        if (is_number(stored.get()) && fits(stored.get())) { // it may be text
            return Type(H5Tcopy(stored.get()));
        }
    }
    return Type(H5Tcopy(otherwise));
}

// The old attribute's shape if it has that many values, else a list.
Space space_for(hid_t object, const std::string& attribute, std::size_t values) {
    if (const auto old = numbers(object, attribute.c_str()); old && old->size() == values) {
        const Attribute opened(H5Aopen(object, attribute.c_str(), H5P_DEFAULT));
        return Space(H5Aget_space(opened.get()));
    }
    const hsize_t length = values;
    return Space(H5Screate_simple(1, &length, nullptr));
}

// One entry per type: as many as the input has, and as many as are needed.
template <class Number>
std::size_t length_for(hid_t object, const std::string& attribute, const std::vector<Number>& values) {
    const auto old = numbers(object, attribute.c_str());
    const auto last = std::find_if(values.rbegin(), values.rend(), [](Number value) { return value != 0; });
    const auto needed = static_cast<std::size_t>(values.rend() - last);
    return std::max(needed, old ? old->size() : std::min(usual_types, values.size()));
}

// Makes the attribute a list of the values, in the old one's type if that `fits`.
template <class Number, class Fits>
void replace_list(const OutputFile& file, hid_t object, const std::string& attribute, std::vector<Number> values,
                  hid_t otherwise, const Fits& fits) {
    values.resize(length_for(object, attribute, values), 0);
    const Type stored = type_for(object, attribute, otherwise, fits);
    const Space space = space_for(object, attribute, values.size());
    replace(file, object, attribute, stored, space, number_type<Number>().memory, values.data());
}

void set_one(const OutputFile& file, hid_t header, const std::string& attribute, std::int32_t value, bool always) {
    if (!always && !has_attribute(header, attribute.c_str())) {
        return;
    }
    const Type stored = type_for(header, attribute, H5T_STD_I32LE, [](hid_t) { return true; });
    const bool is_one = numbers(header, attribute.c_str()).value_or(std::vector<double>{}).size() == 1;
    const Space space = is_one ? space_for(header, attribute, 1) : Space(H5Screate(H5S_SCALAR));
    replace(file, header, attribute, stored, space, H5T_NATIVE_INT32, &value);
}

} // namespace

void replace_counts(const OutputFile& file, hid_t object, const std::string& attribute,
                    const std::vector<std::int64_t>& counts) {
    const std::int64_t largest = *std::max_element(counts.begin(), counts.end());
    replace_list(file, object, attribute, counts, H5T_STD_U64LE, [&](hid_t type) { return holds(type, largest); });
}

void write_counts(const OutputFile& file, const TypeCounts& counts) {
    const Group header = open_header(file);
    const hid_t id = header.get();
    const std::vector<std::int64_t> whole(counts.begin(), counts.end());
    std::vector<std::int64_t> low = whole;
    if (has_attribute(id, "NumPart_Total_HighWord")) {
        std::vector<std::int64_t> high(whole.size());
        std::transform(whole.begin(), whole.end(), high.begin(), [](std::int64_t count) { return count >> 32; });
        std::transform(whole.begin(), whole.end(), low.begin(), [](std::int64_t count) { return count & 0xffffffff; });
        replace_counts(file, id, "NumPart_Total_HighWord", high);
    }
    replace_counts(file, id, "NumPart_ThisFile", whole);
    replace_counts(file, id, "NumPart_Total", low);
    for (const char* name : {"TotalNumberOfParticles", "NumPart_This"}) {
        if (has_attribute(id, name)) {
            replace_counts(file, id, name, whole);
        }
    }
    set_one(file, id, "NumFilesPerSnapshot", 1, true);
    set_one(file, id, "ThisFile", 0, false);
    set_one(file, id, "Virtual", 0, false);
}

void write_mass_table(const OutputFile& file, const MassTable& masses) {
    const Group header = open_header(file);
    replace_list(file, header.get(), "MassTable", std::vector(masses.begin(), masses.end()), H5T_IEEE_F64LE,
                 [](hid_t type) { return H5Tget_class(type) == H5T_FLOAT; });
}

void write_provenance_of_copy(const OutputFile& file, const Provenance& provenance) {
    const Group header = open_header(file);
    const bool ours = text(header.get(), "Program").value_or("").starts_with("kith ");
    if (ours) { // what an earlier sort was asked for does not hold for this one
        for (const char* name : provenance_names) {
            if (text(header.get(), name)) {
                check(H5Adelete(header.get(), name), file.name(), message("attribute ", name, " could not be removed"));
            }
        }
    }
    const auto set = [&](const std::string& name, const std::string& value) {
        if (!has_attribute(header.get(), name.c_str())) {
            file.set_text(header.get(), name, value);
        }
    };
    for (const auto& [name, value] : provenance.parameters) {
        set(name, value);
    }
    set("Command", provenance.command);
    set("Input", provenance.input);
    set("Program", provenance.program);
}

} // namespace kith::io::hdf5
