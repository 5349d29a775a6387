// G, H and Omega_m of a snapshot, against the same numbers in other units, and what a header must state for them.
#include <kith/snapshot_universe.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace kith {
namespace {

constexpr double kiloparsec = 1e5 * constants::parsec; // cm
constexpr double solar_mass = 1e3 * constants::solar_mass_parameter / constants::gravitational_constant;

io::SnapshotHeader header(io::Frame frame, double length, double mass) {
    frame.length.to_cgs = length;
    frame.mass.to_cgs = mass;
    frame.velocity.to_cgs = 1e5;
    io::SnapshotHeader made;
    made.frame = frame;
    made.parameters = {{"Omega0", 0.3}, {"OmegaLambda", 0.7}, {"HubbleParam", 0.7}};
    return made;
}

void expect_near(double found, double expected) {
    EXPECT_NEAR(found, expected, 1e-12 * std::abs(expected));
}

TEST(SnapshotUniverse, GravityInGadgetsUnitsIsTheKnownOne) {
    const auto found = io::universe_of(header(io::gadget_frame(1), kiloparsec, 1e10 * solar_mass));
    expect_near(found.universe.gravity, gravity_in(1e3, 1e10, 1));
    expect_near(found.universe.hubble, 0.1);
    expect_near(found.universe.omega_matter, 0.3);
    EXPECT_EQ(found.velocity_factor, 1);
    EXPECT_EQ(found.no_gravity + found.no_hubble + found.no_omega_matter, "");
}

// A halo of one physical mass, radius and velocity: G M/(a r v^2), H a r/v and the density over the critical one are
// numbers without units.
TEST(SnapshotUniverse, TheSameUniverseInOtherUnitsHasTheSameNumbers) {
    const double a = 0.5;
    const double h = 0.7;
    const auto gadget = io::universe_of(header(io::gadget_frame(a), kiloparsec, 1e10 * solar_mass));
    const auto swift = io::universe_of(header(io::swift_frame(a), 1e3 * kiloparsec, 1e10 * solar_mass));
    expect_near(gadget.velocity_factor, std::sqrt(a));
    EXPECT_EQ(swift.velocity_factor, 1);
    const double r_swift = 0.2;
    const double r_gadget = 1e3 * r_swift * h;
    const double m_gadget = h;
    expect_near(gadget.universe.gravity * m_gadget / r_gadget, swift.universe.gravity / r_swift);
    expect_near(gadget.universe.hubble * r_gadget, swift.universe.hubble * r_swift);
    expect_near(critical_density(gadget.universe) * std::pow(r_gadget, 3) / m_gadget,
                critical_density(swift.universe) * std::pow(r_swift, 3));
    EXPECT_EQ(gadget.energy_factor, 1);
    EXPECT_EQ(swift.energy_factor, 4); // a^-2
    io::SnapshotHeader in_joules = header(io::swift_frame(a), kiloparsec, solar_mass);
    in_joules.frame->internal_energy = {0, 0, 1e4};
    expect_near(io::universe_of(in_joules).energy_factor, 1e-6);
    expect_near(swift.universe.hubble, 70 * std::sqrt(0.3 * 8 + 0.7));
    expect_near(swift.universe.omega_matter, 0.3 * 8 / (0.3 * 8 + 0.7));
}

TEST(SnapshotUniverse, CurvatureRadiationAndDarkEnergyExpandToo) {
    io::SnapshotHeader made = header(io::swift_frame(0.5), kiloparsec, solar_mass);
    made.parameters = {{"Omega0", 0.3},   {"OmegaLambda", 0.6}, {"HubbleParam", 1},
                       {"Omega_r", 0.01}, {"w_0", -0.9},        {"w_a", 0.2}};
    const double dark_energy = 0.6 * std::pow(0.5, -3 * (1 - 0.9 + 0.2)) * std::exp(-3 * 0.2 * 0.5);
    const double expected = 0.1 * std::sqrt(0.3 * 8 + 0.01 * 16 + (1 - 0.3 - 0.6 - 0.01) * 4 + dark_energy);
    expect_near(io::universe_of(made).universe.hubble, expected);
}

// Some files hold physical lengths: the scale factor of their gravity is 1, and H is that of the time.
TEST(SnapshotUniverse, PhysicalLengthsHaveNoScaleFactor) {
    io::SnapshotHeader made = header(io::swift_frame(0.5), 1e3 * kiloparsec, solar_mass);
    made.frame->length.a_power = 0;
    const auto found = io::universe_of(made);
    EXPECT_EQ(found.universe.scale_factor, 1);
    expect_near(found.universe.hubble, 70 * std::sqrt(0.3 * 8 + 0.7));
}

TEST(SnapshotUniverse, SofteningIsTheLargestOfTheTypes) {
    io::Snapshot snapshot;
    snapshot.types = {1, 4, 1};
    EXPECT_FALSE(io::softening_of(snapshot));
    snapshot.header.softening = {9, 2, 0, 8, 3};
    EXPECT_EQ(io::softening_of(snapshot), 3);
    snapshot.types.clear();
    EXPECT_FALSE(io::softening_of(snapshot));
}

TEST(SnapshotUniverse, WhatIsMissingIsNamed) {
    io::SnapshotHeader made = header(io::gadget_frame(0.5), kiloparsec, solar_mass);
    made.frame->mass.to_cgs = {};
    io::SnapshotUniverse found = io::universe_of(made);
    EXPECT_EQ(found.no_gravity, "the unit of mass (UnitMass_in_g)");
    EXPECT_EQ(found.no_hubble, "");
    EXPECT_EQ(found.universe.gravity, 1);

    made.parameters.erase("HubbleParam"); // masses and lengths are per h, so that it cancels
    EXPECT_EQ(io::universe_of(made).no_hubble, "");
    made.frame->length.h_power = 0;
    EXPECT_EQ(io::universe_of(made).no_gravity, "the unit of mass (UnitMass_in_g), HubbleParam");
    EXPECT_EQ(io::universe_of(made).no_hubble, "HubbleParam");
    made.parameters.erase("Omega0");
    EXPECT_EQ(io::universe_of(made).no_omega_matter, "Omega0");

    found = io::universe_of({});
    EXPECT_EQ(found.no_gravity, "the unit of mass (UnitMass_in_g), the unit of length (UnitLength_in_cm), "
                                "the unit of velocity (UnitVelocity_in_cm_per_s)");
    EXPECT_NE(found.no_hubble, "");
    EXPECT_EQ(found.universe.hubble, 0);
    EXPECT_EQ(found.universe.scale_factor, 1);
}

// Of 8 particles in a box of 2 with the mean density of matter, in the units of Gadget, at any time.
TEST(SnapshotUniverse, ParticlesThatAreAllMatterHaveTheSeparationOfTheirBox) {
    constexpr double box = 2;
    io::SnapshotHeader made = header(io::gadget_frame(0.25), 1e3 * kiloparsec, 1e10 * solar_mass);
    made.counts = {0, 8};
    const double density = 0.3 * critical_density({gravity_in(1e6, 1e10, 1), 1, 100, 0.3});
    const double mass = density * box * box * box / 8;
    io::MatterSeparation found = io::matter_separation(made, {1}, mass);
    expect_near(found.length, 1);
    EXPECT_FALSE(found.is_of_dark_matter);
    // With gas they are dark matter alone, if they are not gas as well.
    made.counts = {8, 8};
    EXPECT_EQ(io::matter_separation(made, {1}, mass).not_known, "OmegaBaryon");
    made.parameters["OmegaBaryon"] = 0.06;
    found = io::matter_separation(made, {1}, mass);
    expect_near(found.length, std::cbrt(0.3 / 0.24));
    EXPECT_TRUE(found.is_of_dark_matter);
    expect_near(io::matter_separation(made, {0, 1}, mass).length, 1);
    made.parameters.erase("Omega0");
    EXPECT_EQ(io::matter_separation(made, {0, 1}, mass).not_known, "Omega0");
    EXPECT_EQ(io::matter_separation(made, {0, 1}, mass).length, 0);
}

TEST(SnapshotUniverse, ARunWithoutCosmologyHasGravityAlone) {
    io::SnapshotHeader made;
    made.parameters = {
        {"UnitLength_in_cm", kiloparsec}, {"UnitMass_in_g", 1e10 * solar_mass}, {"UnitVelocity_in_cm_per_s", 1e5}};
    const io::SnapshotUniverse found = io::universe_of(made);
    expect_near(found.universe.gravity, gravity_in(1e3, 1e10, 1));
    EXPECT_EQ(found.no_hubble, "the scale factor of a cosmological run, Omega0, HubbleParam");
}

} // namespace
} // namespace kith
