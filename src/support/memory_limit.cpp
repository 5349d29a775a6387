// Finding the files of control groups and reading them (see memory_limit.hpp).
#include "support/memory_limit.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <limits>
#include <system_error>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

namespace kith::detail {

using std::string_view;

namespace {

std::vector<string_view> split(string_view text, char separator) {
    std::vector<string_view> parts;
    while (true) {
        const std::size_t end = std::min(text.find(separator), text.size());
        parts.push_back(text.substr(0, end));
        if (end == text.size()) {
            return parts;
        }
        text.remove_prefix(end + 1);
    }
}

bool has(const std::vector<string_view>& parts, string_view wanted) {
    return std::find(parts.begin(), parts.end(), wanted) != parts.end();
}

/// A mounted hierarchy of control groups: the group `root` of it is the folder `folder`.
struct Mount {
    string_view root;
    string_view folder;
};

// A line of mountinfo: id, parent, device, root, folder, options, optional fields, "-", type, source, options.
std::optional<Mount> find_mount(string_view mounts, bool is_v2) {
    for (const string_view line : split(mounts, '\n')) {
        const std::vector<string_view> fields = split(line, ' ');
        const auto dash = std::find(fields.begin(), fields.end(), "-");
        if (fields.size() < 6 || fields.end() - dash < 4) {
            continue;
        }
        if (is_v2 ? dash[1] == "cgroup2" : dash[1] == "cgroup" && has(split(dash[3], ','), "memory")) {
            return Mount{fields[3], fields[4]};
        }
    }
    return std::nullopt;
}

/// "max" and anything else that is no number: no limit.
std::optional<std::int64_t> limit_in(const std::optional<std::string>& content) {
    std::int64_t bytes = 0;
    if (!content || std::from_chars(content->data(), content->data() + content->size(), bytes).ec != std::errc()) {
        return std::nullopt;
    }
    return bytes;
}

std::optional<std::int64_t> smaller(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
    return a && b ? std::min(*a, *b) : a ? a : b;
}

// The group's own limit and those of the groups above it, up to the mounted one. A path that is not below the mounted
// root is seen from outside of this process's namespace: the mounted folder is then its group.
std::optional<std::int64_t> limit_of_group(string_view path, const Mount& mount, string_view file,
                                           const ReadFile& read) {
    if (mount.root != "/") {
        const bool is_below = path == mount.root || (path.starts_with(mount.root) && path[mount.root.size()] == '/');
        path = is_below ? path.substr(mount.root.size()) : string_view();
    }
    std::optional<std::int64_t> limit;
    while (true) {
        while (path.ends_with('/')) {
            path.remove_suffix(1);
        }
        limit = smaller(limit, limit_in(read(std::string(mount.folder) + std::string(path) + "/" + std::string(file))));
        if (path.empty()) {
            return limit;
        }
        path = path.substr(0, path.rfind('/') == string_view::npos ? 0 : path.rfind('/'));
    }
}

std::optional<std::string> read_file(const std::string& path) {
    std::ifstream file(path);
    if (!file) {
        return std::nullopt;
    }
    return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

MemoryLimit limit_of_machine_and_groups() {
    const auto machine = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
    const std::optional<std::int64_t> groups = control_group_limit(
        read_file("/proc/self/cgroup").value_or(""), read_file("/proc/self/mountinfo").value_or(""), read_file);
    if (groups && *groups < machine) {
        return {*groups, "the control group of this process (its container or batch job) has"};
    }
    return {machine, "this machine has"};
}

} // namespace

std::optional<std::int64_t> control_group_limit(string_view groups, string_view mounts, const ReadFile& read) {
    std::optional<std::int64_t> limit;
    for (const string_view line : split(groups, '\n')) {
        // number:controllers:path; version 2 has the number 0 and no controllers.
        const std::size_t first = line.find(':');
        const std::size_t second = first == string_view::npos ? first : line.find(':', first + 1);
        if (second == string_view::npos) {
            continue;
        }
        const string_view controllers = line.substr(first + 1, second - first - 1);
        const bool is_v2 = line.starts_with("0::");
        if (!is_v2 && !has(split(controllers, ','), "memory")) {
            continue;
        }
        if (const std::optional<Mount> mount = find_mount(mounts, is_v2)) {
            limit = smaller(limit, limit_of_group(line.substr(second + 1), *mount,
                                                  is_v2 ? "memory.max" : "memory.limit_in_bytes", read));
        }
    }
    return limit;
}

MemoryLimit memory_limit() {
    static const MemoryLimit fixed = limit_of_machine_and_groups();
    rlimit address_space{};
    if (getrlimit(RLIMIT_AS, &address_space) == 0 && address_space.rlim_cur != RLIM_INFINITY &&
        address_space.rlim_cur < static_cast<rlim_t>(fixed.bytes)) {
        return {static_cast<std::int64_t>(address_space.rlim_cur), "the address space of this process (ulimit -v) has"};
    }
    return fixed;
}

} // namespace kith::detail
