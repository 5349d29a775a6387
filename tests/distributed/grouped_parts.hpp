// Groups and particles of one process, as the ranks of a catalog or of halos have them, and parts of a catalog joined.
#pragma once

#include "distributed/distributions.hpp"

#include <kith/catalog_columns.hpp>
#include <kith/fof.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

namespace kith::test {

/// The groups as fof() over ranks gives them to a rank.
inline FofResult part_of(const FofResult& groups, const RankFirsts& firsts, int rank) {
    FofResult part;
    const auto i = static_cast<std::size_t>(rank);
    part.label_array.vector<std::int64_t>().assign(groups.labels().begin() + firsts[i],
                                                   groups.labels().begin() + firsts[i + 1]);
    part.groups = groups.groups;
    part.box = groups.box;
    part.coordinates_below = groups.coordinates_below;
    part.sizes = groups.sizes;
    part.distribution = {
        .ranks = static_cast<int>(firsts.size()) - 1, .first = firsts[i], .total = firsts.back(), .traffic = {}};
    return part;
}

inline Particles part_of(const Particles& particles, const RankFirsts& firsts, int rank) {
    Particles part{part_of(particles.positions, firsts, rank)};
    const auto first = firsts[static_cast<std::size_t>(rank)];
    const auto count = static_cast<std::size_t>(part.positions.count());
    if (particles.velocities) {
        part.velocities = part_of(*particles.velocities, firsts, rank);
    }
    const auto scalars = [&](const ScalarsView& all) {
        const auto some = [&]<class T>(T) {
            return ScalarsView(std::span(static_cast<const T*>(all.data()) + first, count));
        };
        return all.dtype() == DType::float32 ? some(0.0F) : some(0.0);
    };
    if (particles.masses) {
        part.masses = scalars(*particles.masses);
    }
    if (particles.internal_energies) {
        part.internal_energies = scalars(*particles.internal_energies);
    }
    part.uniform_mass = particles.uniform_mass;
    part.types = particles.types.empty() ? particles.types : particles.types.subview(first, part.positions.count());
    return part;
}

/// Appends the part of the next rank to a catalog that starts empty.
inline void append(const Catalog& part, Catalog& all) {
    EXPECT_EQ(part.distribution->first, all.groups);
    EXPECT_EQ(part.first_member, all.member_array.size());
    all.groups += part.groups;
    all.dimension = part.dimension;
    all.min_members = part.min_members;
    std::vector<std::int32_t>& members = all.member_array.vector<std::int32_t>();
    for (const std::int64_t member : part.members64()) {
        members.push_back(static_cast<std::int32_t>(member));
    }
    for_each_field(all, [&]<class T>(const CatalogColumn& column, std::vector<T>& values) {
        const auto& added = part.*std::get<std::vector<T> Catalog::*>(column.values);
        for (const T value : added) {
            values.push_back(column.field == "offset" ? value + static_cast<T>(part.first_member) : value);
        }
    });
}

} // namespace kith::test
