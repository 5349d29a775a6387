#include "halos/shape.hpp"

#include <cstddef>

namespace kith::detail::halos {

Shape shape_of(const std::array<std::vector<double>, 3>& offsets, std::span<const double> masses, double radius) {
    ShapeSearch search(radius);
    while (!search.is_done()) {
        std::int64_t inside = 0;
        double sums[shape_terms] = {};
        for (std::size_t k = 0; k < masses.size(); ++k) {
            double terms[shape_terms];
            if (search.find_terms(offsets[0][k], offsets[1][k], offsets[2][k], masses[k], terms)) {
                ++inside;
                for (int term = 0; term < shape_terms; ++term) {
                    sums[term] += terms[term];
                }
            }
        }
        search.step(inside, sums);
    }
    return search.shape();
}

} // namespace kith::detail::halos
