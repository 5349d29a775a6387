// The columns of sums over neighbors that a call asks for.
#pragma once

#include <kith/sum_neighbors.hpp>

#include <variant>

namespace kith::detail {

/// Calls visit(values per query, what they are, column of each of `sums`...) for each column that is asked for, whether
/// it has memory yet or not.
template <class Visit, class... Sums>
void for_each_sum(const Neighborhood& neighborhood, const SumOptions& options, int dimension, const Visit& visit,
                  Sums&... sums) {
    visit(1, "the densities", sums.density...);
    if (std::holds_alternative<Nearest>(neighborhood)) {
        visit(1, "the reaches of the kernels", sums.reach...);
    } else {
        visit(1, "the numbers of neighbors", sums.counts...);
    }
    if (options.density_gradient) {
        visit(dimension, "the gradients of the density", sums.density_gradient...);
    }
    (sums.fields.resize(options.fields.size()), ...);
    const FieldStatistics& wanted = options.statistics;
    const auto visit_if = [&](bool is_wanted, int width, auto&... columns) {
        if (is_wanted) {
            visit(width, "the sums of a field", columns...);
        }
    };
    for (std::size_t f = 0; f < options.fields.size(); ++f) {
        visit_if(wanted.sum, 1, sums.fields[f].sum...);
        visit_if(wanted.mean, 1, sums.fields[f].mean...);
        visit_if(wanted.variance, 1, sums.fields[f].variance...);
        visit_if(wanted.least, 1, sums.fields[f].least...);
        visit_if(wanted.greatest, 1, sums.fields[f].greatest...);
        visit_if(wanted.gradient, dimension, sums.fields[f].gradient...);
    }
}

} // namespace kith::detail
