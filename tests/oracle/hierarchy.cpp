// See hierarchy.hpp.
#include "oracle/hierarchy.hpp"

#include <algorithm>
#include <numeric>

namespace kith::oracle {

template <class T>
std::vector<LinkageRow> linkage(const std::vector<TreeEdge<T>>& edges) {
    std::vector<std::int64_t> cluster(edges.size() + 1); // of each point
    std::iota(cluster.begin(), cluster.end(), 0);
    std::vector<LinkageRow> rows;
    for (const TreeEdge<T>& edge : edges) {
        const std::int64_t one = cluster[static_cast<std::size_t>(edge.smaller)];
        const std::int64_t other = cluster[static_cast<std::size_t>(edge.larger)];
        const auto joint = static_cast<std::int64_t>(cluster.size() + rows.size());
        std::replace(cluster.begin(), cluster.end(), one, joint);
        std::replace(cluster.begin(), cluster.end(), other, joint);
        rows.push_back({static_cast<double>(std::min(one, other)), static_cast<double>(std::max(one, other)),
                        static_cast<double>(edge.height),
                        static_cast<double>(std::count(cluster.begin(), cluster.end(), joint))});
    }
    return rows;
}

template std::vector<LinkageRow> linkage(const std::vector<TreeEdge<float>>&);
template std::vector<LinkageRow> linkage(const std::vector<TreeEdge<double>>&);

} // namespace kith::oracle
