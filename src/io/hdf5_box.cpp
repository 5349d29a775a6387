// Options of a run that decide how far space extends on each axis, and whether it repeats.
//
//   AREPO     /Config: LONG_X multiplies BoxSize; REFLECTIVE_X (walls, or inflow and outflow) and ONEDIMS_SPHERICAL
//             leave no images along x; GRAVITY_NOT_PERIODIC opens space for gravity, not for the gas.
//   Gadget-4  /Config: space repeats only with PERIODIC; LONG_X_BITS divides BoxSize by a power of two;
//             GRAVITY_TALLBOX is the number of an axis that does not repeat.
//   SWIFT     /Parameters: InitialConditions:periodic; its BoxSize has an entry for each axis.
//   others    /Parameters: PeriodicBoundariesOn.
//
// Sources: the lists of options in the documentation of each code. An option that only one code has is followed
// wherever it is found. PERIODIC is missed only in files that are known to be Gadget-4's, because AREPO has no such
// option: the two are told apart by the names that only one of them writes. Tools that write files as Gadget-4 does
// leave /Config empty, which says nothing.
#include "io/hdf5_box.hpp"

#include "io/joined.hpp"
#include "io/refuse.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>

namespace kith::io::hdf5 {

namespace {

bool has_any(const Object& group, std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(), [&](const char* name) { return has_attribute(group.get(), name); });
}

bool has_attributes(const Object& group) {
    const Attribute first(H5Aopen_by_idx(group.get(), ".", H5_INDEX_NAME, H5_ITER_INC, 0, H5P_DEFAULT, H5P_DEFAULT));
    H5Eclear2(H5E_DEFAULT);
    return first.get() >= 0;
}

std::string name_of_axis(std::size_t axis) {
    return {"xyz"[axis]};
}

class BoxOptions {
public:
    BoxOptions(hid_t file, std::span<const double> box_size)
        : config_(open_if_there(file, "Config")), parameters_(open_if_there(file, "Parameters")), code_(code_of(file)),
          is_cube_(box_size.size() == 1) {
        for (std::size_t axis = 0; axis < box_.periods.size(); ++axis) {
            box_.periods[axis] = is_cube_ ? box_size.front() : axis < box_size.size() ? box_size[axis] : 0;
        }
    }
    [[nodiscard]] RunBox take();

private:
    void stretch(std::size_t axis);
    void find_open_axes();
    void open(std::size_t axis, const std::string& reason);
    [[nodiscard]] bool is_open() const { return box_.periods == std::array<double, 3>{}; }
    void reject(const std::string& name, std::string_view expected);

    Object config_;
    Object parameters_;
    RunCode code_;
    bool is_cube_;
    RunBox box_;
};

void BoxOptions::reject(const std::string& name, std::string_view expected) {
    const std::optional<double> value = number(config_.get(), name.c_str());
    const std::optional<std::string> words = text(config_.get(), name.c_str());
    box_.fault = message("attribute ", name, " of /Config is ",
                         value   ? message(*value)
                         : words ? "'" + *words + "'"
                                 : "of another type",
                         ", but ", expected, " was expected");
}

void BoxOptions::stretch(std::size_t axis) {
    const std::string factor_name = "LONG_" + std::string(1, "XYZ"[axis]);
    const std::string bits_name = factor_name + "_BITS";
    double factor = 1;
    if (has_attribute(config_.get(), factor_name.c_str())) {
        factor = number(config_.get(), factor_name.c_str()).value_or(0);
        if (!(factor > 0) || !std::isfinite(factor * box_.periods[axis])) {
            reject(factor_name, "a factor of BoxSize, finite and above 0,");
            return;
        }
    }
    if (has_attribute(config_.get(), bits_name.c_str())) {
        constexpr double most = 128; // bits of Gadget-4's widest positions
        const double bits = number(config_.get(), bits_name.c_str()).value_or(-1);
        if (!(bits >= 0 && bits <= most) || bits != std::floor(bits)) {
            reject(bits_name, message("a whole number from 0 to ", most));
            return;
        }
        factor = std::ldexp(factor, -static_cast<int>(bits));
    }
    if (factor != 1 && !is_cube_) {
        box_.warnings.push_back(message("/Config stretches the axis ", name_of_axis(axis),
                                        " of the box, but BoxSize has an entry for each axis; these count"));
        return;
    }
    box_.periods[axis] *= factor;
}

void BoxOptions::open(std::size_t axis, const std::string& reason) {
    if (box_.periods[axis] > 0) {
        box_.periods[axis] = 0;
        box_.warnings.push_back(message("the axis ", name_of_axis(axis), " is taken as open: ", reason));
    }
}

void BoxOptions::find_open_axes() {
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::string name = "REFLECTIVE_" + std::string(1, "XYZ"[axis]);
        if (has_attribute(config_.get(), name.c_str())) {
            const bool is_wall = number(config_.get(), name.c_str()).value_or(1) == 1;
            open(axis,
                 message("by ", name, " in /Config it has ", is_wall ? "reflecting walls" : "inflow and outflow"));
        }
    }
    if (has_attribute(config_.get(), "ONEDIMS_SPHERICAL")) {
        open(0, "by ONEDIMS_SPHERICAL in /Config it is a radius");
    }
    if (has_attribute(config_.get(), "GRAVITY_TALLBOX")) {
        const double axis = number(config_.get(), "GRAVITY_TALLBOX").value_or(-1);
        if (axis != 0 && axis != 1 && axis != 2) {
            reject("GRAVITY_TALLBOX", "0, 1 or 2, an axis,");
            return;
        }
        open(static_cast<std::size_t>(axis), "by GRAVITY_TALLBOX in /Config it does not repeat");
    }
}

RunBox BoxOptions::take() {
    if (is_open()) {
        return std::move(box_);
    }
    const bool gadget4_open =
        code_ == RunCode::gadget4 && has_attributes(config_) && !has_attribute(config_.get(), "PERIODIC");
    constexpr const char* swift_periodic = "InitialConditions:periodic";
    if (code_ == RunCode::swift && has_attribute(parameters_.get(), swift_periodic) &&
        !number(parameters_.get(), swift_periodic)) {
        box_.fault =
            message("attribute ", swift_periodic, " of /Parameters is '",
                    text(parameters_.get(), swift_periodic).value_or("of another type"), "', but 0 or 1 was expected");
        return std::move(box_);
    }
    const bool swift_open = code_ == RunCode::swift && number(parameters_.get(), swift_periodic) == 0.0;
    const bool other_open = code_ == RunCode::other && number(parameters_.get(), "PeriodicBoundariesOn") == 0.0;
    if (gadget4_open || swift_open || other_open) {
        box_.warnings.push_back(message("space is taken as open: ",
                                        gadget4_open ? "/Config of this Gadget-4 run has no PERIODIC"
                                        : swift_open ? "InitialConditions:periodic in /Parameters is 0"
                                                     : "PeriodicBoundariesOn in /Parameters is 0",
                                        "; BoxSize, ", box_.periods[0], ", is no period of it"));
        box_.periods = {};
        return std::move(box_);
    }
    for (std::size_t axis = 0; axis < 3 && box_.fault.empty(); ++axis) {
        stretch(axis);
    }
    if (box_.fault.empty()) {
        find_open_axes();
    }
    if (has_attribute(config_.get(), "GRAVITY_NOT_PERIODIC") && !is_open()) {
        box_.warnings.emplace_back(
            "by GRAVITY_NOT_PERIODIC in /Config the box repeats for gas, but not for gravity; it "
            "is taken as periodic. For particles other than gas, give an open box");
    }
    return std::move(box_);
}

} // namespace

RunCode code_of(hid_t file) {
    const Object header = open_if_there(file, "Header");
    const Object config = open_if_there(file, "Config");
    const Object parameters = open_if_there(file, "Parameters");
    if (text(header.get(), "Code").value_or("").starts_with("SWIFT")) {
        return RunCode::swift;
    }
    if (config.get() < 0 || (parameters.get() < 0 && !has_attributes(config))) {
        return RunCode::other;
    }
    const bool only_arepo =
        has_any(parameters, {"SofteningTypeOfPartType0", "PeriodicBoundariesOn"}) ||
        has_any(config, {"LONG_X", "LONG_Y", "LONG_Z", "REFLECTIVE_X", "REFLECTIVE_Y", "REFLECTIVE_Z",
                         "GRAVITY_NOT_PERIODIC", "ONEDIMS_SPHERICAL", "NSOFTTYPES", "VORONOI", "REFINEMENT_SPLIT_CELLS",
                         "REGULARIZE_MESH_CM_DRIFT", "TREE_BASED_TIMESTEPS"});
    const bool only_gadget4 =
        has_any(parameters, {"SofteningClassOfPartType0"}) ||
        has_any(config, {"LONG_X_BITS", "LONG_Y_BITS", "LONG_Z_BITS", "GRAVITY_TALLBOX", "NSOFTCLASSES"});
    if (only_arepo && only_gadget4) {
        return RunCode::other;
    }
    // AREPO's headers have what Gadget-2's have; Gadget-4's are short.
    const bool long_header = has_any(header, {"NumPart_Total_HighWord", "Omega0", "HubbleParam", "Flag_Sfr"});
    return only_arepo || (long_header && !only_gadget4) ? RunCode::arepo : RunCode::gadget4;
}

RunBox box_of_run(hid_t file, std::span<const double> box_size) {
    return BoxOptions(file, box_size).take();
}

} // namespace kith::io::hdf5
