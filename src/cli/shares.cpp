#include "cli/shares.hpp"

#include <algorithm>
#include <array>
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
};

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
    return summary;
}

} // namespace

Shares::Shares(RankTeam& ranks, const io::Snapshot& mine, bool first_holds_all) {
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
    }
    if (first_holds_all) { // its own share are the rows that the others do not have
        all.front().rows -= rows_in_all_ - all.front().rows;
        rows_in_all_ = joined.rows;
    }
    std::int64_t first = 0;
    for (const ShareSummary& share : all) {
        first_rows_.push_back(first);
        first += share.rows;
    }
    rows_here_ = all[ranks.rank()].rows;

    overview_.header = mine.header;
    overview_.positions.columns = mine.positions.columns;
    for (std::size_t type = 0; type < joined.has_type.size(); ++type) {
        if (joined.has_type[type] != 0) {
            overview_.types.push_back(static_cast<std::uint8_t>(type));
        }
    }
    std::visit(
        [&]<class T>(const std::vector<T>&) {
            std::vector<T> corners;
            for (const auto* corner : {&joined.lower, &joined.upper}) {
                for (int axis = 0; rows_in_all_ > 0 && axis < mine.positions.columns; ++axis) {
                    corners.push_back(static_cast<T>((*corner)[axis]));
                }
            }
            overview_.positions.values = std::move(corners);
        },
        mine.positions.values);
    warnings_ = ranks.join(first_holds_all && !ranks.is_first() ? std::vector<std::string>() : mine.header.warnings);
    if (const std::string warning = first_holds_all ? "" : io::box_warning(mine.header, overview_.positions);
        !warning.empty()) {
        warnings_.push_back(warning);
    }
}

Error Shares::of_all_rows(const Error& error) const {
    static const std::regex of_rank("rank (\\d+): (.*)");
    static const std::regex of_row("(.*: point )(\\d+)( has .*)");
    const bool is_of_all = error.kind() == ErrorKind::invalid_points || error.kind() == ErrorKind::invalid_argument;
    const std::string text = error.what();
    std::smatch rank;
    if (!is_of_all || !std::regex_match(text, rank, of_rank)) {
        return error;
    }
    const std::string without_rank = rank[2];
    std::smatch row;
    if (error.kind() != ErrorKind::invalid_points || !std::regex_match(without_rank, row, of_row)) {
        return {error.kind(), without_rank};
    }
    const std::int64_t in_all = first_rows_[std::stoul(rank[1])] + std::stoll(row[2]);
    return {error.kind(), row[1].str() + std::to_string(in_all) + row[3].str()};
}

} // namespace kith::cli
