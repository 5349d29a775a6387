// The rows of one file that the ranks have shared out: each knows how many there are and of which types and extent.
#pragma once

#include "cli/rank_team.hpp"

#include <kith/error.hpp>
#include <kith/io.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace kith::cli {

class Shares {
public:
    /// Collective. `mine` is this rank's share.
    Shares(RankTeam& ranks, const io::Snapshot& mine);

    [[nodiscard]] std::int64_t rows_in_all() const noexcept { return rows_in_all_; }
    /// A snapshot with the header, types, extent and range of masses of all rows.
    [[nodiscard]] const io::Snapshot& overview() const noexcept { return overview_; }

    /// What readers warn of, of all rows.
    [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }

    /// What the library says over ranks of these points, or of the options, which all ranks share, as one process says
    /// it: without the number of the rank, and with the row among all rows.
    [[nodiscard]] Error of_all_rows(const Error& error) const;

private:
    io::Snapshot overview_;
    std::int64_t rows_in_all_ = 0;
    std::vector<std::string> warnings_;
    std::vector<std::int64_t> first_rows_; ///< of each rank's share
};

} // namespace kith::cli
