#include "cli/shares.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <regex>
#include <string>
#include <variant>

namespace kith::cli {

namespace {

/// What all ranks know of a rank's rows.
struct ShareSummary {
    std::int64_t rows = 0;
    std::array<std::uint8_t, max_types> has_type{};
    std::array<double, max_dimension> lower{};
    std::array<double, max_dimension> upper{};
    double least_mass = std::numeric_limits<double>::infinity();
    double most_mass = -std::numeric_limits<double>::infinity();
};

/// The same type of numbers.
io::RealArray alike(const io::RealArray& array, const std::vector<double>& values) {
    return {std::visit(
                [&]<class T>(const std::vector<T>&) -> decltype(io::RealArray::values) {
                    std::vector<T> numbers;
                    std::ranges::transform(values, std::back_inserter(numbers),
                                           [](double value) { return static_cast<T>(value); });
                    return numbers;
                },
                array.values),
            array.columns};
}

ShareSummary summary_of(const io::Snapshot& snapshot) {
    ShareSummary summary;
    summary.rows = snapshot.positions.rows();
    summary.lower.fill(std::numeric_limits<double>::infinity());
    summary.upper.fill(-std::numeric_limits<double>::infinity());
    for (const std::uint8_t type : snapshot.types) {
        summary.has_type[type] = 1;
    }
    std::visit(
        [&](const auto& values) {
            const auto columns = static_cast<std::size_t>(snapshot.positions.columns);
            for (std::size_t i = 0; i < values.size(); ++i) {
                const auto x = static_cast<double>(values[i]);
                summary.lower[i % columns] = std::min(summary.lower[i % columns], x);
                summary.upper[i % columns] = std::max(summary.upper[i % columns], x);
            }
        },
        snapshot.positions.values);
    if (snapshot.masses) {
        std::visit(
            [&](const auto& masses) {
                for (const auto mass : masses) {
                    summary.least_mass = std::min(summary.least_mass, static_cast<double>(mass));
                    summary.most_mass = std::max(summary.most_mass, static_cast<double>(mass));
                }
            },
            snapshot.masses->values);
    }
    return summary;
}

} // namespace

Shares::Shares(RankTeam& ranks, const io::Snapshot& mine) {
    std::vector<ShareSummary> all = ranks.gather_values(summary_of(mine));
    ShareSummary joined = all.front();
    for (const ShareSummary& share : all) {
        rows_in_all_ += share.rows;
        for (std::size_t type = 0; type < share.has_type.size(); ++type) {
            joined.has_type[type] |= share.has_type[type];
        }
        for (std::size_t axis = 0; axis < share.lower.size(); ++axis) {
            joined.lower[axis] = std::min(joined.lower[axis], share.lower[axis]);
            joined.upper[axis] = std::max(joined.upper[axis], share.upper[axis]);
        }
        joined.least_mass = std::min(joined.least_mass, share.least_mass);
        joined.most_mass = std::max(joined.most_mass, share.most_mass);
    }
    std::int64_t first = 0;
    for (const ShareSummary& share : all) {
        first_rows_.push_back(first);
        first += share.rows;
    }

    overview_.header = mine.header;
    for (std::size_t type = 0; type < joined.has_type.size(); ++type) {
        if (joined.has_type[type] != 0) {
            overview_.types.push_back(static_cast<std::uint8_t>(type));
        }
    }
    std::vector<double> corners;
    for (const auto* corner : {&joined.lower, &joined.upper}) {
        corners.insert(corners.end(), corner->begin(),
                       corner->begin() + (rows_in_all_ > 0 ? mine.positions.columns : 0));
    }
    overview_.positions = alike(mine.positions, corners);
    if (mine.masses) {
        overview_.masses = alike(*mine.masses, rows_in_all_ > 0 ? std::vector{joined.least_mass, joined.most_mass}
                                                                : std::vector<double>());
    }
    warnings_ = ranks.join(mine.header.warnings);
    if (const std::string warning = io::box_warning(mine.header, overview_.positions); !warning.empty()) {
        warnings_.push_back(warning);
    }
}

Error Shares::of_all_rows(const Error& error) const {
    static const std::regex of_rank("rank (\\d+): (.*)");
    static const std::regex of_row("((?:.*: |the weight of )(?:point|row) )(\\d+)( (?:has|is|in) .*)");
    const bool is_of_all = error.kind() == ErrorKind::invalid_points || error.kind() == ErrorKind::invalid_argument;
    const std::string text = error.what();
    std::smatch rank;
    if (!is_of_all || !std::regex_match(text, rank, of_rank)) {
        return error;
    }
    const std::string without_rank = rank[2];
    std::smatch row;
    if (!std::regex_match(without_rank, row, of_row)) {
        return {error.kind(), without_rank};
    }
    const std::int64_t in_all = first_rows_[std::stoul(rank[1])] + std::stoll(row[2]);
    return {error.kind(), row[1].str() + std::to_string(in_all) + row[3].str()};
}

} // namespace kith::cli
