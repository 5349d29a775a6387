#include "report_file.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace bench {

namespace {

const std::string rows_begin = "\"workloads\": [";
const std::string rows_end = "]}";
const std::string row_begin = "{\"name\": \"";

} // namespace

ReportFile::ReportFile(std::filesystem::path path, const JsonObject& head) : path_(std::move(path)) {
    const std::string opened = head.text();
    head_ = opened.substr(0, opened.size() - 1) + ",";
    std::ifstream before(path_);
    if (before) {
        std::string line;
        if (!std::getline(before, head_) || !std::getline(before, line) || line != rows_begin) {
            throw std::runtime_error(path_.string() + " is there and is no file of this program; name another");
        }
        while (std::getline(before, line) && line != rows_end) {
            const std::size_t quote = line.find('"', row_begin.size());
            if (!line.starts_with(row_begin) || quote == std::string::npos) {
                throw std::runtime_error(path_.string() + " has a line that this program did not write; name another");
            }
            line.erase(line.find_last_of('}') + 1);
            rows_.emplace_back(line.substr(row_begin.size(), quote - row_begin.size()), line);
        }
    }
    write();
}

void ReportFile::add(const std::string& name, const JsonObject& row) {
    std::erase_if(rows_, [&](const auto& other) { return other.first == name; });
    rows_.emplace_back(name, row.text());
    write();
}

void ReportFile::write() const {
    std::filesystem::path unfinished = path_;
    unfinished += ".part";
    std::ofstream file(unfinished);
    file << head_ << '\n' << rows_begin << '\n';
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        file << rows_[i].second << (i + 1 < rows_.size() ? ",\n" : "\n");
    }
    file << rows_end << '\n';
    file.close();
    if (!file) {
        throw std::runtime_error(path_.string() + " cannot be written");
    }
    std::filesystem::rename(unfinished, path_);
}

} // namespace bench
