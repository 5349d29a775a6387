// What the numbers of an HDF5 snapshot mean: its time, its frame, and cosmology and units under Gadget's names.
#pragma once

#include "io/hdf5_snapshot.hpp"

namespace kith::io::hdf5 {

/// Groups of the file that hold attributes; those that are absent hold an invalid identifier.
struct AttributeGroups {
    const Object& header;
    const Object& parameters;
    const Object& cosmology;
};

/// Sets header.time, header.frame and header.softening. Needs its parameters and its redshift.
void read_time_and_frame(const SnapshotFile& snapshot, SnapshotHeader& header, const AttributeGroups& groups);

} // namespace kith::io::hdf5
