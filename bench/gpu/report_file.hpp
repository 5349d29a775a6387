// The file of results: valid JSON after every row, whatever happens next.
//
// A line with the date, the commit and the machine, then a line for each row; bench/plot.py reads it as it reads the
// files of bench/compare.py. A file that is there is continued, so that rows may come from several runs: of a row that
// is measured again the later one counts. Each change writes a new file and renames it.
#pragma once

#include "json.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace bench {

class ReportFile {
public:
    /// Throws if there is another kind of file, or none can be written.
    ReportFile(std::filesystem::path path, const JsonObject& head);

    void add(const std::string& name, const JsonObject& row);

private:
    void write() const;

    std::filesystem::path path_;
    std::string head_;
    std::vector<std::pair<std::string, std::string>> rows_; ///< by name
};

} // namespace bench
