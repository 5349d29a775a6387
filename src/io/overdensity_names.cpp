// Names of spherical overdensities: the short ones, and those of columns of Gadget-4 and AREPO.
#include "io/refuse.hpp"

#include <kith/halo_file.hpp>

#include <charconv>
#include <cmath>
#include <system_error>

namespace kith::io {

namespace {

/// Of a text that is a number above 0 as a whole.
std::optional<Overdensity> multiple_of(DensityReference reference, std::string_view text) {
    Overdensity found{reference, 0};
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), found.factor);
    const bool is_number = failure == std::errc() && end == text.data() + text.size();
    return is_number && std::isfinite(found.factor) && found.factor > 0 ? std::optional(found) : std::nullopt;
}

} // namespace

std::string short_name(const Overdensity& overdensity) {
    if (overdensity == overdensities::virial) {
        return "vir";
    }
    return message(overdensity.factor, overdensity.reference == DensityReference::critical ? "c"
                                       : overdensity.reference == DensityReference::matter ? "m"
                                                                                           : "vir");
}

std::string column_name(const Overdensity& overdensity) {
    if (overdensity == overdensities::virial) {
        return "TopHat200"; // as the convention calls it, whatever its factor
    }
    return message(overdensity.reference == DensityReference::critical ? "Crit"
                   : overdensity.reference == DensityReference::matter ? "Mean"
                                                                       : "TopHat",
                   overdensity.factor);
}

std::optional<Overdensity> overdensity_named(std::string_view name) {
    if (name == short_name(overdensities::virial) || name == column_name(overdensities::virial)) {
        return overdensities::virial;
    }
    if (name.starts_with("Crit") || name.ends_with('c')) {
        return multiple_of(DensityReference::critical,
                           name.ends_with('c') ? name.substr(0, name.size() - 1) : name.substr(4));
    }
    if (name.starts_with("Mean") || name.ends_with('m')) {
        return multiple_of(DensityReference::matter,
                           name.ends_with('m') ? name.substr(0, name.size() - 1) : name.substr(4));
    }
    return std::nullopt;
}

} // namespace kith::io
