// The memory of the emulated devices: each has a range of addresses, from which pieces are taken and given back.
//
// It can be touched only while it is open: host code that follows a pointer into it, or work of one device that follows
// a pointer of another one, ends the program. What was taken is poisoned, and so is what was given back; fences around
// every piece show what was written beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace kith::emulation {

constexpr int devices = 4;
constexpr unsigned char poison = 0xAB;

class DeviceArena {
public:
    static constexpr std::size_t size_of_device = std::size_t{1} << 28;

    static DeviceArena& only();

    [[nodiscard]] bool has(const void* pointer) const {
        const auto* const address = static_cast<const unsigned char*>(pointer);
        return address >= memory_ && address < memory_ + devices * size_of_device;
    }
    /// Of a pointer into its memory; 0 for others.
    [[nodiscard]] int device_of(const void* pointer) const;
    /// Bytes of pieces that were not let go.
    [[nodiscard]] std::size_t held() const { return held_; }
    [[nodiscard]] const std::byte* begin() const { return reinterpret_cast<const std::byte*>(memory_); }
    [[nodiscard]] std::vector<std::span<const std::byte>> pieces() const;

    /// The first gap that is large enough; null if there is none.
    void* take(std::size_t bytes, int device);
    /// Its owner has freed it, but a stream has not come so far.
    void let_go(void* memory);
    void give_back(void* memory);

    struct Piece {
        std::size_t needed;
        std::size_t bytes;
        bool is_held;
        std::vector<std::uint8_t> is_written; ///< each of the bytes, by a kernel; a watch keeps that (watch.cpp)
    };
    /// Where memory is: in a piece, beginning at some byte.
    struct Part {
        Piece* piece = nullptr; ///< null: not in any, or not as a whole
        std::size_t first = 0;
    };
    [[nodiscard]] Part part(const void* memory, std::size_t bytes);

    /// Lets the memory of a device, or that of all (-1), be touched; the memory of other devices that is not held open is closed.
    void open(int device);
    void close(int device);
    /// Until the last of these is ended, what is closed may be touched until another device's is opened.
    void leave_open();
    void close_what_was_left();

private:
    DeviceArena();
    Piece& piece_of(const void* memory);
    /// Behind the last piece of a device; counted from where its memory begins.
    [[nodiscard]] std::size_t end_of_pieces(int device) const;
    /// Lets all pieces of a device that is open be touched, and poisons new ones.
    void extend(int device);
    /// Lets memory of a device not be touched, unless it is open.
    void shut(int device);
    void protect(int device, std::size_t first, std::size_t last, int how) const;

    unsigned char* memory_;
    std::map<std::size_t, Piece> pieces_;          ///< by where they start
    std::vector<std::size_t> new_pieces_[devices]; ///< since the device was opened
    std::size_t held_ = 0;
    int left_open_ = 0;
    int opened_[devices] = {};
    /// As far as memory can be touched. Not all of a device: to protect pages takes time for each that was ever touched.
    std::size_t open_to_[devices] = {};
};

/// While it lives, the memory of a device, or that of all, can be touched.
class Open {
public:
    explicit Open(int device = -1) : device_(device) { DeviceArena::only().open(device_); }
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;
    ~Open() { DeviceArena::only().close(device_); }

private:
    int device_;
};

/// While it lives, work follows upon work: memory is protected only between works of different devices, since that takes
/// longer than many kernels do. The host gets no turn.
class LeaveOpen {
public:
    LeaveOpen() { DeviceArena::only().leave_open(); }
    LeaveOpen(const LeaveOpen&) = delete;
    LeaveOpen& operator=(const LeaveOpen&) = delete;
    ~LeaveOpen() { DeviceArena::only().close_what_was_left(); }
};

} // namespace kith::emulation
