// Groups that one rank has described, on their way to the ranks that have them in their parts.
#pragma once

#include <kith/catalog_columns.hpp>

#include "distributed/group_division.hpp"
#include "distributed/ranks.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace kith::detail {

/// By ascending label, with their members' global indices.
struct DescribedGroups {
    std::vector<std::int64_t> labels;
    Catalog catalog;
    std::vector<std::int64_t> members;
};

/// Messages to the ranks of the groups' parts: labels, one column after another, members. width_of(column) is the
/// number of values of a group.
template <class WidthOf>
std::vector<RankMessage> pack_described(const DescribedGroups& described, const GroupDivision& division,
                                        const WidthOf& width_of) {
    std::vector<RankMessage> messages;
    const auto groups = std::ssize(described.labels);
    for (std::int64_t begin = 0; begin < groups;) {
        const int rank = division.rank_of(described.labels[begin]);
        const std::int64_t next = division.first_of(rank + 1);
        const std::int64_t end = std::ranges::lower_bound(described.labels, next) - described.labels.begin();
        const auto rows = [&](const auto& values, std::int64_t width) {
            return std::span(values).subspan(begin * width, (end - begin) * width);
        };
        MessageWriter writer(messages.emplace_back(RankMessage{rank, {}}).bytes);
        writer.put_value(end - begin);
        writer.put(rows(described.labels, 1));
        for_each_field(described.catalog, [&](const CatalogColumn& column, const auto& values) {
            writer.put(rows(values, width_of(column)));
        });
        const std::int64_t first = described.catalog.offset[begin];
        const std::int64_t last = described.catalog.offset[end - 1] + described.catalog.count[end - 1];
        writer.put(std::span(described.members).subspan(first, last - first));
        begin = end;
    }
    return messages;
}

template <class WidthOf>
DescribedGroups unpack_described(const std::vector<std::byte>& bytes, const WidthOf& width_of) {
    MessageReader reader(bytes);
    const auto count = reader.take<std::int64_t>();
    DescribedGroups described;
    described.catalog.groups = count;
    reader.take(count, described.labels);
    for_each_field(described.catalog,
                   [&](const CatalogColumn& column, auto& values) { reader.take(count * width_of(column), values); });
    reader.take(std::accumulate(described.catalog.count.begin(), described.catalog.count.end(), std::int64_t{0}),
                described.members);
    return described;
}

} // namespace kith::detail
