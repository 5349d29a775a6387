// Halos read back from catalogs: the columns of /Subhalo that Halos has, and the spheres about the groups' centers.
//
// Halos are counted by SubhaloLen; every other column must have as many rows, in every file of a set. A sphere of a
// group belongs to the group's first halo.
#pragma once

#include "io/hdf5_catalog_header.hpp"

#include <kith/catalog_columns.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kith::io::hdf5 {

class HaloBuilder {
public:
    /// What another file of the set has; adds the datasets of /Subhalo to catalog.halo_columns.
    void read(const OpenCatalog& opened, CatalogFile& catalog);
    /// Nothing if no file has a column of halos. The groups of the catalog are complete.
    [[nodiscard]] std::optional<Halos> take(const CatalogFile& catalog);

private:
    template <class T>
    void read_field(const OpenCatalog& opened, const HaloColumn& column, std::int64_t rows, std::vector<T>& all,
                    CatalogFile& catalog);
    void read_spheres(const OpenCatalog& opened, const CatalogFile& catalog);
    void place_spheres(const CatalogFile& catalog);
    void place_spheres(const HaloColumn& column, const std::vector<std::string>& names,
                       std::vector<double>& values) const;

    Halos found_;
    bool has_columns_ = false;
    std::map<std::string, std::vector<double>> spheres_; ///< of the groups, by name of the dataset
};

} // namespace kith::io::hdf5
