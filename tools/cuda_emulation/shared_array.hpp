// Shared memory that watches what is done to it.
//
// On a device, reading what nobody wrote gives whatever was there, and two threads that touch one element without a
// barrier between them give now one answer, now another. Here both are errors. Kernels declare shared memory as
// SharedArray and reach it through []; this one is what the name means under emulation.
#pragma once

#include "cuda_emulation/grid.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kith::emulation {

template <class T, int Size>
class SharedArray {
public:
    /// Stands for one element: reading and writing are noticed. Kept under a name it would be read when the name is
    /// used, not when the element is named; so it can only be used at once.
    class Element {
    public:
        Element(SharedArray& array, int index) : array_(array), index_(index) {}
        Element(const Element&) = delete;
        operator T() && { return array_.read(index_); } // NOLINT(google-explicit-constructor): stands for a T
        void operator=(const T& value) && {
            array_.write(index_, value);
        } // NOLINT(misc-unconventional-assign-operator)
        void operator=(Element&& other) && { array_.write(index_, static_cast<T>(std::move(other))); }
        void operator+=(const T& value) && { array_.write(index_, static_cast<T>(array_.read(index_) + value)); }

    private:
        SharedArray& array_;
        int index_;
    };

    [[nodiscard]] Element operator[](int index) {
        check(index);
        return {*this, index};
    }

    /// Several threads may do these to one element without a barrier; each returns what was there.
    T atomic_add(int index, T value) {
        return change(index, [&](T old) { return static_cast<T>(old + value); });
    }
    T atomic_min(int index, T value) {
        return change(index, [&](T old) { return value < old ? value : old; });
    }
    T atomic_max(int index, T value) {
        return change(index, [&](T old) { return old < value ? value : old; });
    }
    T atomic_or(int index, T value) {
        return change(index, [&](T old) { return static_cast<T>(old | value); });
    }
    T atomic_exchange(int index, T value) {
        return change(index, [&](T) { return value; });
    }
    T atomic_compare_exchange(int index, T expected, T value) {
        return change(index, [&](T old) { return old == expected ? value : old; });
    }

private:
    /// The threads of one warp that read an element since they last had to be heeded.
    struct Readers {
        Moment last; ///< of the last of them
        std::uint32_t lanes = 0;
    };
    struct Cell {
        T value{};
        Moment written;
        bool by_atomic = false;       ///< the last write was
        std::vector<Readers> readers; ///< one a warp
    };

    void check(int index) const {
        if (index < 0 || index >= Size) {
            fail("shared memory of " + std::to_string(Size) + " elements is used at " + std::to_string(index));
        }
    }
    [[nodiscard]] static bool is_of_this_block(const Moment& moment) { return moment.block == now().block; }

    T read(int index) {
        const HardwareAtWork works;
        Cell& cell = cell_at(index);
        if (!is_of_this_block(cell.written)) {
            fail("element " + std::to_string(index) +
                 " of shared memory is read, but no thread of this block wrote it");
        }
        if (!is_ordered(cell.written)) {
            fail("element " + std::to_string(index) + " of shared memory is read while thread " +
                 std::to_string(cell.written.thread) + " writes it: no barrier orders the two");
        }
        note_read(cell);
        return cell.value;
    }

    static void note_read(Cell& cell) {
        const Moment moment = now();
        const auto warp = static_cast<std::size_t>(moment.thread / warp_size);
        if (cell.readers.size() <= warp) {
            cell.readers.resize(warp + 1);
        }
        Readers& readers = cell.readers[warp];
        if (unordered_reader(readers) < 0) {
            readers.lanes = 0;
        }
        readers.last = moment;
        readers.lanes |= 1U << moment.thread % warp_size;
    }

    /// One of the readers whose reading nothing orders before what the running thread does now; -1 if there is none.
    [[nodiscard]] static int unordered_reader(const Readers& readers) {
        if (!is_of_this_block(readers.last)) {
            return -1;
        }
        Moment reading = readers.last;
        const int first = reading.thread / warp_size * warp_size;
        for (int lane = 0; lane < warp_size; ++lane) {
            reading.thread = first + lane;
            if (((readers.lanes >> lane) & 1U) != 0 && !is_ordered(reading)) {
                return reading.thread;
            }
        }
        return -1;
    }

    void write(int index, T value) {
        const HardwareAtWork works;
        Cell& cell = cell_at(index);
        check_write(index, cell, false);
        cell.value = value;
        cell.written = now();
        cell.by_atomic = false;
    }

    template <class Function>
    T change(int index, const Function& function) {
        const HardwareAtWork works;
        check(index);
        Cell& cell = cell_at(index);
        if (!is_of_this_block(cell.written)) {
            fail("element " + std::to_string(index) +
                 " of shared memory is changed, but no thread of this block wrote it before");
        }
        check_write(index, cell, true);
        const T old = cell.value;
        cell.value = function(old);
        cell.written = now();
        cell.by_atomic = true;
        return old;
    }

    void check_write(int index, const Cell& cell, bool atomic) const {
        if (is_of_this_block(cell.written) && !is_ordered(cell.written) && !(atomic && cell.by_atomic)) {
            fail("element " + std::to_string(index) + " of shared memory is written while thread " +
                 std::to_string(cell.written.thread) + " writes it: no barrier orders the two");
        }
        for (const Readers& readers : cell.readers) {
            if (const int reader = unordered_reader(readers); reader >= 0) {
                fail("element " + std::to_string(index) + " of shared memory is written while thread " +
                     std::to_string(reader) + " reads it: no barrier orders the two");
            }
        }
    }

    [[nodiscard]] Cell& cell_at(int index) {
        std::vector<Cell>& cells = cells_[static_cast<std::size_t>(running_slot)];
        if (cells.empty()) {
            cells.resize(Size);
        }
        return cells[static_cast<std::size_t>(index)];
    }

    std::array<std::vector<Cell>, most_blocks_in_flight> cells_; ///< of each block in flight
};

/// Where an element is.
template <class T, int Size>
class SharedPlace {
public:
    SharedPlace(SharedArray<T, Size>& array, int index) : array_(&array), index_(index) {}
    void write(const T& value) const { (*array_)[index_] = value; }
    [[nodiscard]] SharedPlace operator+(int elements) const { return {*array_, index_ + elements}; }
    [[nodiscard]] int operator-(const SharedPlace& other) const { return index_ - other.index_; }
    [[nodiscard]] bool operator<(const SharedPlace& other) const { return index_ < other.index_; }

private:
    SharedArray<T, Size>* array_;
    int index_;
};

} // namespace kith::emulation
