#include "cuda_emulation/device_arena.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <utility>

#include <csignal>
#include <sys/mman.h>

namespace kith::emulation {

namespace {

constexpr std::size_t fence = 256;
constexpr unsigned char fence_byte = 0xFE;

[[noreturn]] void end(const char* why) {
    std::fprintf(stderr, "emulated device: %s\n", why);
    std::abort();
}

/// Says whose memory was touched; then the fault ends the program.
void explain_fault(int number, siginfo_t* fault, void* /*context*/) {
    const DeviceArena& arena = DeviceArena::only();
    if (arena.has(fault->si_addr)) {
        std::fprintf(stderr,
                     "emulated device: memory of device %d is touched by the host or by another device, "
                     "or after it was given back\n",
                     arena.device_of(fault->si_addr));
    }
    (void)std::signal(number, SIG_DFL);
}

} // namespace

DeviceArena& DeviceArena::only() {
    static DeviceArena arena;
    return arena;
}

DeviceArena::DeviceArena()
    : memory_(static_cast<unsigned char*>(
          mmap(nullptr, devices * size_of_device, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    if (memory_ == MAP_FAILED) {
        end("no memory for the emulated devices");
    }
    struct sigaction explained {};
    explained.sa_sigaction = explain_fault;
    explained.sa_flags = SA_SIGINFO;
    (void)sigaction(SIGSEGV, &explained, nullptr);
}

int DeviceArena::device_of(const void* pointer) const {
    return has(pointer)
               ? static_cast<int>(static_cast<std::size_t>(static_cast<const unsigned char*>(pointer) - memory_) /
                                  size_of_device)
               : 0;
}

std::vector<std::span<const std::byte>> DeviceArena::pieces() const {
    std::vector<std::span<const std::byte>> all;
    for (const auto& [start, piece] : pieces_) {
        if (piece.is_held) {
            all.emplace_back(begin() + start + fence, piece.bytes);
        }
    }
    return all;
}

void* DeviceArena::take(std::size_t bytes, int device) {
    const std::size_t needed = (bytes + 255) / 256 * 256 + 2 * fence;
    const std::size_t first = static_cast<std::size_t>(device) * size_of_device;
    std::size_t place = first;
    for (auto next = pieces_.lower_bound(first); next != pieces_.end() && next->first < first + size_of_device;
         ++next) {
        if (next->first - place >= needed) {
            break;
        }
        place = next->first + next->second.needed;
    }
    if (first + size_of_device - place < needed) {
        return nullptr;
    }
    pieces_[place] = {needed, bytes, true, {}};
    held_ += bytes;
    new_pieces_[device].push_back(place);
    if (opened_[device] > 0) {
        extend(device);
    }
    return memory_ + place + fence;
}

DeviceArena::Piece& DeviceArena::piece_of(const void* memory) {
    const auto found =
        has(memory)
            ? pieces_.find(static_cast<std::size_t>(static_cast<const unsigned char*>(memory) - memory_) - fence)
            : pieces_.end();
    if (found == pieces_.end()) {
        end("memory is given back that was not taken");
    }
    return found->second;
}

void DeviceArena::let_go(void* memory) {
    Piece& piece = piece_of(memory);
    if (!piece.is_held) {
        end("memory is given back twice");
    }
    piece.is_held = false;
    held_ -= piece.bytes;
}

void DeviceArena::give_back(void* memory) {
    const Piece& piece = piece_of(memory);
    const Open opened(device_of(memory));
    unsigned char* const begin = static_cast<unsigned char*>(memory) - fence;
    const auto is_whole = [](const unsigned char* first, const unsigned char* last) {
        return std::all_of(first, last, [](unsigned char byte) { return byte == fence_byte; });
    };
    if (!is_whole(begin, begin + fence) || !is_whole(begin + fence + piece.bytes, begin + piece.needed)) {
        end("a kernel wrote beside the memory that was taken");
    }
    std::fill_n(begin, piece.needed, poison);
    pieces_.erase(static_cast<std::size_t>(begin - memory_));
}

DeviceArena::Part DeviceArena::part(const void* memory, std::size_t bytes) {
    const auto place = static_cast<std::size_t>(static_cast<const unsigned char*>(memory) - memory_);
    const auto next = pieces_.upper_bound(place);
    if (next == pieces_.begin()) {
        return {};
    }
    auto& [start, piece] = *std::prev(next);
    const std::size_t first = start + fence;
    return place >= first && place + bytes <= first + piece.bytes ? Part{&piece, place - first} : Part{};
}

std::size_t DeviceArena::end_of_pieces(int device) const {
    constexpr std::size_t unit = 1 << 16; // whole pages
    const std::size_t first = static_cast<std::size_t>(device) * size_of_device;
    const auto next = pieces_.lower_bound(first + size_of_device);
    if (next == pieces_.begin() || std::prev(next)->first < first) {
        return 0;
    }
    const auto& [start, last] = *std::prev(next);
    return (start + last.needed - first + unit - 1) / unit * unit;
}

void DeviceArena::open(int device) {
    for (int one = 0; one < devices; ++one) {
        if (device >= 0 && device != one) {
            shut(one);
        } else if (opened_[one]++ == 0) {
            extend(one);
        }
    }
}

void DeviceArena::extend(int device) {
    const std::size_t end = end_of_pieces(device);
    if (end > open_to_[device]) {
        protect(device, open_to_[device], end, PROT_READ | PROT_WRITE);
        open_to_[device] = end;
    }
    for (const std::size_t place : std::exchange(new_pieces_[device], {})) {
        const Piece& piece = pieces_.at(place);
        std::fill_n(memory_ + place, piece.needed, fence_byte);
        std::fill_n(memory_ + place + fence, piece.bytes, poison);
    }
}

void DeviceArena::close(int device) {
    for (int one = 0; one < devices; ++one) {
        if (device < 0 || device == one) {
            --opened_[one];
            if (left_open_ == 0) {
                shut(one);
            }
        }
    }
}

void DeviceArena::leave_open() {
    ++left_open_;
}

void DeviceArena::close_what_was_left() {
    if (--left_open_ == 0) {
        for (int one = 0; one < devices; ++one) {
            shut(one);
        }
    }
}

void DeviceArena::shut(int device) {
    if (opened_[device] == 0 && open_to_[device] > 0) {
        protect(device, 0, std::exchange(open_to_[device], 0), PROT_NONE);
    }
}

void DeviceArena::protect(int device, std::size_t first, std::size_t last, int how) const {
    if (mprotect(memory_ + static_cast<std::size_t>(device) * size_of_device + first, last - first, how) != 0) {
        kith::emulation::end("the devices' memory cannot be protected");
    }
}

} // namespace kith::emulation
