#include "cli/program.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sys/wait.h>

namespace kith::test {

namespace {

std::string read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

template <class Number>
void write_array(const std::filesystem::path& path, const std::vector<Number>& values, std::int64_t columns,
                 std::string_view descriptor) {
    const auto rows = static_cast<std::int64_t>(values.size()) / columns;
    std::string header = "{'descr': '" + std::string(descriptor) + "', 'fortran_order': False, 'shape': (" +
                         std::to_string(rows) + ", " + std::to_string(columns) + "), }";
    header.resize((header.size() + 11 + 63) / 64 * 64 - 11, ' ');
    header += '\n';
    std::ofstream file(path, std::ios::binary);
    file.write("\x93NUMPY\x01\x00", 8);
    const auto length = static_cast<std::uint16_t>(header.size());
    file.put(static_cast<char>(length & 0xff)).put(static_cast<char>(length >> 8));
    file << header;
    file.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(Number)));
}

} // namespace

ProgramTest::~ProgramTest() {
    for (const char* stream : {".out", ".err"}) {
        std::filesystem::remove(directory_.string() + stream);
    }
}

Outcome ProgramTest::kith(const std::string& arguments, const std::string& before) const {
    const std::string out = directory_.string() + ".out";
    const std::string err = directory_.string() + ".err";
    const std::string command = "cd '" + directory_.string() + "' && " + before + " '" KITH_PROGRAM "' " + arguments +
                                " >'" + out + "' 2>'" + err + "'";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(out), read_file(err)};
}

void ProgramTest::write_npy(std::string_view name, const std::vector<double>& values, std::int64_t columns) const {
    write_array(directory_ / name, values, columns, "<f8");
}

void ProgramTest::write_npy(std::string_view name, const std::vector<float>& values, std::int64_t columns) const {
    write_array(directory_ / name, values, columns, "<f4");
}

void ProgramTest::write_npy(std::string_view name, const std::vector<std::int64_t>& values,
                            std::int64_t columns) const {
    write_array(directory_ / name, values, columns, "<i8");
}

void ProgramTest::write_text(std::string_view name, std::string_view content) const {
    std::ofstream(directory_ / name, std::ios::binary) << content;
}

std::string ProgramTest::read(std::string_view name) const {
    return read_file(directory_ / name);
}

std::vector<std::string> ProgramTest::files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
        names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

template <class Number>
std::vector<Number> npy_values(const std::string& bytes, std::string_view descriptor, int member) {
    const std::string magic("\x93NUMPY", 6);
    std::size_t start = bytes.find(magic);
    for (int i = 0; i < member && start != std::string::npos; ++i) {
        start = bytes.find(magic, start + 1);
    }
    if (start == std::string::npos) {
        ADD_FAILURE() << "no such array";
        return {};
    }
    const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i])); };
    const std::size_t length = byte(start + 8) + 256 * byte(start + 9);
    const std::string header = bytes.substr(start + 10, length);
    EXPECT_NE(header.find(descriptor), std::string::npos) << header;
    std::size_t count = 1;
    for (std::size_t at = header.find('(') + 1; header[at] != ')';) {
        std::size_t used = 0;
        if (header[at] >= '0' && header[at] <= '9') {
            count *= std::stoul(header.substr(at), &used);
        }
        at += std::max<std::size_t>(used, 1);
    }
    std::vector<Number> values(count);
    if (count > 0) {
        std::memcpy(values.data(), bytes.data() + start + 10 + length, count * sizeof(Number));
    }
    return values;
}

template std::vector<std::int32_t> npy_values(const std::string&, std::string_view, int);
template std::vector<std::int64_t> npy_values(const std::string&, std::string_view, int);
template std::vector<float> npy_values(const std::string&, std::string_view, int);
template std::vector<double> npy_values(const std::string&, std::string_view, int);

} // namespace kith::test
