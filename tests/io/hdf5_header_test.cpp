// Seeded headers in the styles of AREPO, Gadget-4, GIZMO, SWIFT and plain Gadget: where each puts the box, its options,
// cosmology, units and counts, as numbers of several types, as scalars, as arrays of one, or as text. The generator
// decides box and frame of the run first, then writes them; they must be read back, or refused in words.
#include "io/files.hpp"
#include "io/hdf5_files.hpp"

#include <cmath>
#include <random>

using namespace kith;
using namespace kith::test;

namespace {

using Periods = std::array<double, 3>;

/// The run that a header is of.
struct HeaderOfRun {
    std::string format = "HDF5 (Gadget-like)";
    Periods periods{};    ///< as they are read; not those of an invalid box
    bool invalid = false; ///< the box has no meaning
    bool warned = false;  ///< something is said of the box, the frame or the number of files
    std::optional<double> scale_factor;
    double velocity_power = 0.5; ///< of a
    double h_power = -1;         ///< of lengths
    std::optional<double> length_unit;
    std::optional<double> omega;
};

class HeaderMaker {
public:
    HeaderMaker(const std::filesystem::path& path, unsigned seed) : file_(path), random_(seed) {
        for (const char* group : {"Header", "PartType1"}) {
            file_.group(group);
        }
        file_.dataset<double>("PartType1/Coordinates", {0.1, 0.2, 0.3, 0.3, 0.2, 0.1}, 3);
        cosmological_ = chance(2);
        a_ = pick<double>({0.25, 0.5, 1});
        length_ = pick<double>({1, 10, 75000, 0.3});
    }
    HeaderOfRun make() {
        count();
        switch (std::uniform_int_distribution(0, 4)(random_)) {
        case 0:
            arepo();
            break;
        case 1:
            gadget4();
            break;
        case 2:
            gizmo();
            break;
        case 3:
            swift();
            break;
        default:
            gadget();
        }
        return run_;
    }

private:
    bool chance(int in) { return std::uniform_int_distribution(1, in)(random_) == 1; }
    template <class T>
    T pick(std::initializer_list<T> values) {
        return *(values.begin() + std::uniform_int_distribution<std::size_t>(0, values.size() - 1)(random_));
    }
    /// A number of any type that holds it, as a scalar or as an array of one.
    void set(const char* group, const std::string& name, double value) {
        if (value == std::floor(value) && std::abs(value) < 1e6 && chance(3)) {
            store<std::int32_t>(group, name, static_cast<std::int32_t>(value));
        } else if (static_cast<double>(static_cast<float>(value)) == value && chance(3)) {
            store<float>(group, name, static_cast<float>(value));
        } else {
            store<double>(group, name, value);
        }
    }
    template <class T>
    void store(const char* group, const std::string& name, T value) {
        if (chance(2)) {
            file_.attribute<T>(group, name, {value});
            return;
        }
        const hsize_t one = 1;
        const hid_t space = H5Screate_simple(1, &one, nullptr);
        const hid_t attribute = H5Acreate_by_name(file_.id(), group, name.c_str(), native_type<T>(), space, H5P_DEFAULT,
                                                  H5P_DEFAULT, H5P_DEFAULT);
        EXPECT_GE(H5Awrite(attribute, native_type<T>(), &value), 0) << name;
        H5Aclose(attribute);
        H5Sclose(space);
    }
    void flag(const char* group, const char* name) { file_.text(group, name, ""); }
    void option(const std::string& name, double value) { // codes write these as numbers, scripts also as text
        chance(4) ? static_cast<void>(file_.text("Config", name, value == 0.5 ? "0.5" : std::to_string(int(value))))
                  : set("Config", name, value);
    }
    void groups(std::initializer_list<const char*> names) {
        for (const char* name : names) {
            file_.group(name);
        }
    }
    /// Counts, and a number of files that is right or was copied from a set.
    void count() {
        file_.attribute<std::int64_t>("Header", "NumPart_ThisFile", {0, 2, 0, 0, 0, 0});
        if (chance(3)) {
            return;
        }
        file_.attribute<std::uint64_t>("Header", "NumPart_Total", {0, 2, 0, 0, 0, 0});
        const int files = pick({0, 1, 8});
        set("Header", "NumFilesPerSnapshot", files);
        run_.warned = files == 8;
    }
    void box_size() {
        set("Header", "BoxSize", length_);
        run_.periods.fill(length_);
    }
    void time_and_redshift() {
        set("Header", "Time", cosmological_ ? a_ : 3.5);
        set("Header", "Redshift", cosmological_ ? 1 / a_ - 1 : 0);
        if (cosmological_) {
            run_.scale_factor = a_;
        }
    }
    void cosmology(const char* group, const char* omega) {
        set(group, omega, cosmological_ ? 0.3 : 0);
        set(group, "HubbleParam", cosmological_ ? 0.7 : 1);
        run_.omega = cosmological_ ? 0.3 : 0;
    }
    void unit(const char* group, const char* name) {
        set(group, name, 3.0e21);
        run_.length_unit = 3.0e21;
    }

    void arepo() {
        run_.format = "HDF5 (AREPO)";
        groups({"Config", "Parameters"});
        box_size();
        set("Parameters", "BoxSize", length_);
        file_.attribute<std::uint32_t>("Header", "NumPart_Total_HighWord", {0, 0, 0, 0, 0, 0});
        time_and_redshift();
        cosmology("Header", "Omega0");
        unit("Header", "UnitLength_in_cm");
        flag("Config", "VORONOI");
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const std::string letter(1, "XYZ"[axis]);
            if (chance(3)) {
                const double factor = pick<double>({2, 3, 0.5, 4});
                option("LONG_" + letter, factor);
                run_.periods[axis] *= factor;
            } else if (chance(40)) {
                set("Config", "LONG_" + letter, pick<double>({0, -1}));
                run_.invalid = run_.warned = true;
            }
            if (chance(5)) {
                option("REFLECTIVE_" + letter, pick<double>({1, 2}));
                run_.periods[axis] = 0;
                run_.warned = true;
            }
        }
    }
    void gadget4() {
        run_.format = "HDF5 (Gadget-4)";
        groups({"Config", "Parameters"});
        box_size();
        set("Parameters", "BoxSize", length_);
        time_and_redshift();
        cosmology("Parameters", "Omega0");
        unit("Parameters", "UnitLength_in_cm");
        set("Parameters", "ComovingIntegrationOn", cosmological_ ? 1 : 0);
        flag("Config", "SELFGRAVITY");
        if (chance(3)) {
            run_.periods = {};
            run_.warned = true;
            return;
        }
        flag("Config", "PERIODIC");
        for (std::size_t axis = 0; axis < 3; ++axis) {
            if (chance(3)) {
                const double bits = pick<double>({0, 1, 2, 5});
                option("LONG_" + std::string(1, "XYZ"[axis]) + "_BITS", bits);
                run_.periods[axis] = std::ldexp(run_.periods[axis], -static_cast<int>(bits));
            }
        }
        if (chance(5)) {
            const int axis = pick({0, 1, 2});
            option("GRAVITY_TALLBOX", axis);
            run_.periods[static_cast<std::size_t>(axis)] = 0;
            run_.warned = true;
        }
    }
    void gizmo() {
        box_size();
        time_and_redshift();
        const bool is_recent = chance(2);
        if (is_recent) {
            set("Header", "ComovingIntegrationOn", cosmological_ ? 1 : 0);
        }
        cosmology("Header", is_recent ? "Omega_Matter" : "Omega0");
        if (is_recent) {
            unit("Header", "UnitLength_In_CGS");
        }
    }
    void swift() {
        run_.format = "HDF5 (SWIFT)";
        groups({"Parameters", "Cosmology", "Units"});
        file_.text("Header", "Code", "SWIFT");
        run_.periods = {length_, 2 * length_, length_ / 2};
        file_.attribute<double>("Header", "BoxSize", {run_.periods[0], run_.periods[1], run_.periods[2]});
        set("Header", "Time", 0.0137);
        set("Header", "Scale-factor", cosmological_ ? a_ : 1);
        set("Header", "Redshift", cosmological_ ? 1 / a_ - 1 : 0);
        set("Cosmology", "Cosmological run", cosmological_ ? 1 : 0);
        set("Cosmology", "Omega_m", 0.3);
        set("Cosmology", "h", 0.7);
        run_.omega = 0.3;
        unit("Units", "Unit length in cgs (U_L)");
        if (cosmological_) {
            run_.scale_factor = a_;
        }
        run_.velocity_power = run_.h_power = 0;
        const std::string periodic = pick<std::string>({"", "0", "1"});
        if (!periodic.empty()) {
            file_.text("Parameters", "InitialConditions:periodic", periodic);
        }
        if (periodic == "0") {
            run_.periods = {};
            run_.warned = true;
        }
    }
    // Says nothing of comoving integration: time, redshift and cosmology must.
    void gadget() {
        switch (pick({0, 1, 2, 3})) {
        case 0:
            box_size();
            break;
        case 1:
            file_.attribute<double>("Header", "BoxSize", {length_, length_, 3 * length_});
            run_.periods = {length_, length_, 3 * length_};
            break;
        case 2:
            set("Header", "BoxSize", 0);
            break;
        default:
            file_.attribute<double>("Header", "BoxSize", {-length_});
            run_.invalid = run_.warned = true;
        }
        time_and_redshift();
        if (chance(2)) {
            cosmology("Header", "Omega0");
        } else if (cosmological_) {
            run_.scale_factor.reset();
            run_.warned = run_.warned || a_ != 1;
        }
    }

    Hdf5Maker file_;
    std::mt19937 random_;
    bool cosmological_;
    double a_;
    double length_;
    HeaderOfRun run_;
};

void check(const io::SnapshotHeader& header, const HeaderOfRun& run) {
    EXPECT_EQ(header.format, run.format);
    EXPECT_EQ(header.counts[1], 2);
    EXPECT_EQ(header.incomplete, "");
    EXPECT_EQ(!header.invalid_box.empty(), run.invalid);
    EXPECT_EQ(header.box_size, run.invalid ? std::nullopt : std::optional(run.periods));
    EXPECT_EQ(!header.warnings.empty(), run.warned) << (header.warnings.empty() ? "" : header.warnings.front());
    ASSERT_EQ(header.frame.has_value(), run.scale_factor.has_value());
    if (run.omega) {
        EXPECT_EQ(header.parameters.at("Omega0"), *run.omega);
    }
    if (header.frame) {
        EXPECT_EQ(header.frame->scale_factor, *run.scale_factor);
        EXPECT_EQ(header.frame->velocity.a_power, run.velocity_power);
        EXPECT_EQ(header.frame->length.h_power, run.h_power);
        EXPECT_EQ(header.frame->length.to_cgs, run.length_unit);
    }
}

TEST(Hdf5Header, BoxAndFrameAreThoseOfTheRun) {
    const TemporaryFolder folder;
    for (unsigned seed = 0; seed < 500; ++seed) {
        const std::filesystem::path path = folder / "snapshot.hdf5";
        const HeaderOfRun run = HeaderMaker(path, seed).make();
        SCOPED_TRACE("seed " + std::to_string(seed) + ", " + run.format);
        check(io::read_header(path), run);
    }
}

} // namespace
