#include "recorded_call.hpp"

#include "cuda_emulation/cuda_runtime.hpp"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iomanip>
#include <map>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

extern "C" const char __executable_start; // where this program was loaded: symbols count from there

namespace kith::bench {

namespace {

using kith::emulation::Requests;
using kith::emulation::Work;

/// Writes the device's memory, with holes where nothing is held.
void save_memory(const std::filesystem::path& path) {
    std::ofstream file(path, std::ios::binary);
    kith::emulation::touch([&] {
        for (const auto piece : kith::emulation::held_pieces()) {
            file.seekp(piece.data() - kith::emulation::device_begin());
            file.write(reinterpret_cast<const char*>(piece.data()), static_cast<std::streamsize>(piece.size()));
        }
    });
    if (!file) {
        throw std::runtime_error("cannot write " + path.string());
    }
}

std::string hexadecimal(std::span<const std::byte> bytes) {
    std::ostringstream text;
    for (const std::byte byte : bytes) {
        text << std::hex << std::setw(2) << std::setfill('0') << std::to_integer<int>(byte);
    }
    return text.str();
}

/// What was asked of the runtime between two moments.
std::string json_of(const Requests& first, const Requests& last) {
    std::ostringstream text;
    text << "\"waits\": " << last.waits - first.waits << ", \"takes\": " << last.takes - first.takes
         << ", \"fills\": " << last.fills - first.fills;
    return text.str();
}

std::string json_of(const Work& work, const std::string& asked_before, bool is_saved) {
    std::ostringstream text;
    text << "{\"name\": \"" << work.name << "\", " << asked_before;
    if (work.kernel == nullptr) {
        text << ", \"elements\": " << work.elements << ", \"element_bytes\": " << work.element_bytes
             << ", \"key_bits\": " << work.key_bits << "}";
        return text.str();
    }
    text << ", \"symbol\": " << static_cast<const char*>(work.kernel) - &__executable_start
         << ", \"blocks\": " << work.grid.blocks.x << ", \"threads\": " << work.grid.threads.x
         << ", \"saved\": " << (is_saved ? "true" : "false");
    if (is_saved) {
        text << ", \"job\": \"" << hexadecimal(work.job) << "\", \"pieces\": [";
        const char* separator = "";
        for (const auto piece : kith::emulation::held_pieces()) {
            text << separator << "[" << piece.data() - kith::emulation::device_begin() << ", " << piece.size() << "]";
            separator = ", ";
        }
        text << "]";
    }
    text << "}";
    return text.str();
}

} // namespace

void record(const std::filesystem::path& folder, std::int64_t points, Saved saved, const std::function<void()>& call) {
    int number = 0;
    std::map<const void*, std::pair<unsigned, int>> largest; // of each kernel: blocks, number of the launch
    std::vector<std::string> asked_before;                   // each launch
    kith::emulation::share_pieces(true);
    const Requests first = kith::emulation::requests();
    kith::emulation::observe([&](const Work& work) {
        asked_before.push_back(json_of(first, kith::emulation::requests()));
        if (work.kernel != nullptr) {
            auto& [blocks, of_launch] = largest[work.kernel];
            if (work.grid.blocks.x > blocks) {
                blocks = work.grid.blocks.x;
                of_launch = number;
            }
        }
        ++number;
    });
    call();
    const std::string asked = json_of(first, kith::emulation::requests());
    kith::emulation::share_pieces(false);

    std::string launches;
    number = 0;
    const Requests before = kith::emulation::requests();
    std::int64_t most_held = 0;
    const auto before_work = [&](const Work& work) {
        const bool is_saved = work.kernel != nullptr && saved != Saved::none &&
                              (saved != Saved::largest || largest.at(work.kernel).second == number);
        if (is_saved) {
            save_memory(folder / (std::to_string(number) + ".memory"));
        }
        launches += (number == 0 ? "\n  " : ",\n  ") +
                    json_of(work, asked_before.at(static_cast<std::size_t>(number)), is_saved);
        most_held = std::max(most_held, kith::emulation::held_on_device());
        ++number;
    };
    kith::emulation::observe(before_work, [&](const Work& work) {
        if (saved == Saved::results && work.kernel != nullptr) {
            save_memory(folder / (std::to_string(number - 1) + ".results"));
        }
    });
    call();
    kith::emulation::observe({});
    const Requests after = kith::emulation::requests();
    std::ofstream(folder / "launches.json")
        << "{\"points\": " << points << ", " << asked << ", \"host_bytes\": " << after.host_bytes - before.host_bytes
        << ", \"device_copies\": " << after.device_copies - before.device_copies << ", \"held_bytes\": " << most_held
        << ", \"device_begin\": " << reinterpret_cast<std::uintptr_t>(kith::emulation::device_begin())
        << ", \"launches\": [" << launches << "]}\n";
}

} // namespace kith::bench
