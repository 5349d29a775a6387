// Writes an array and reads it back as a snapshot.
#include <kith/io.hpp>

#include <iostream>
#include <vector>

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: outside_io FILE.npy\n";
        return 2;
    }
    const std::vector<double> values = {0, 0, 1, 1, 2, 4, 3, 9};
    kith::io::write_npy(argv[1], std::span<const double>(values), 2);
    const kith::io::Snapshot read = kith::io::read_snapshot(argv[1]);
    const bool same = read.positions.columns == 2 && std::get<std::vector<double>>(read.positions.values) == values;
    std::cerr << (same ? "" : "the array came back changed\n");
    return same ? 0 : 1;
}
