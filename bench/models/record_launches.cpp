// Records what a call puts on the stream of an emulated GPU, for gpu_cost.py and tests/gpu_kernels/compiled_results.py:
//     record_launches FOLDER POINTS CALL K MULTIPROCESSORS [results]
//
// POINTS, a file NAME.D.f32 or NAME.D.f64, holds rows of D coordinates of that type in the unit box. CALL is tree,
// brute, kdtree or clover (engines, which search K neighbors), fof (labels; K is the relative linking length, in a
// periodic box), catalog (fof's groups and their catalog, with velocities), radius (counts; K points would lie within
// the radius if all were uniform), dbscan (labels, min_samples 5; K as for radius), spanning_tree (no box; K means
// nothing), or, without a wait, knn_async and fof_async.
//
// The call runs twice. The first run finds, for each kernel, the launch with the most blocks; before that launch of the
// second run, and for spanning_tree before every launch, FOLDER/N.memory gets the device's memory as it is, N counting
// all launches. FOLDER/launches.json lists them all, and what else the call asked of the runtime. With the word results
// the memory is kept before every launch, and in FOLDER/N.results after it.
#include "calls/device_async_calls.hpp"
#include "calls/device_calls.hpp"
#include "cuda_emulation/cuda_runtime.hpp"
#include "halos/device_entry.hpp"

#include <kith/kith.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iterator>
#include <map>
#include <memory>
#include <numbers>
#include <optional>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

extern "C" const char __executable_start; // where this program was loaded: symbols count from there

namespace {

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

std::string json_of(const Work& work, bool is_saved) {
    std::ostringstream text;
    text << "{\"name\": \"" << work.name << "\"";
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

/// Which launches of a kernel the memory is saved before.
enum class Saved {
    largest, ///< the first of those with the most blocks: the others do the same with less
    all,     ///< they do different work, round by round
    results  ///< all, and what is there after them
};

template <class Call>
void record(const std::filesystem::path& folder, std::int64_t points, Saved saved, const Call& call) {
    int number = 0;
    std::map<const void*, std::pair<unsigned, int>> largest; // of each kernel: blocks, number of the launch
    kith::emulation::observe([&](const Work& work) {
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

    std::string launches;
    number = 0;
    const kith::emulation::Requests before = kith::emulation::requests();
    std::int64_t most_held = 0;
    const auto before_work = [&](const Work& work) {
        const bool is_saved =
            work.kernel != nullptr && (saved != Saved::largest || largest.at(work.kernel).second == number);
        if (is_saved) {
            save_memory(folder / (std::to_string(number) + ".memory"));
        }
        launches += (number == 0 ? "\n  " : ",\n  ") + json_of(work, is_saved);
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
    const kith::emulation::Requests after = kith::emulation::requests();
    std::ofstream(folder / "launches.json")
        << "{\"points\": " << points << ", \"waits\": " << after.waits - before.waits
        << ", \"takes\": " << after.takes - before.takes << ", \"host_bytes\": " << after.host_bytes - before.host_bytes
        << ", \"held_bytes\": " << most_held
        << ", \"device_begin\": " << reinterpret_cast<std::uintptr_t>(kith::emulation::device_begin())
        << ", \"launches\": [" << launches << "]}\n";
}

std::vector<char> contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (bytes.empty()) {
        throw std::runtime_error("cannot read " + path);
    }
    return bytes;
}

/// Memory of the emulated device with these bytes.
std::shared_ptr<void> on_device(const void* from, std::size_t bytes, const kith::Execution& execution) {
    std::shared_ptr<void> memory = kith::detail::result_memory_on_device(static_cast<std::int64_t>(bytes), execution);
    if (from != nullptr) {
        (void)cudaMemcpyAsync(memory.get(), from, bytes, cudaMemcpyDefault, nullptr);
    }
    return memory;
}

/// The radius of a ball that so many of all points in the unit box would be in.
double length_around(double points, std::int64_t count, int dimension) {
    const double unit_ball = std::pow(std::numbers::pi, dimension / 2.0) / std::tgamma(dimension / 2.0 + 1);
    return std::pow(points / (static_cast<double>(count) * unit_ball), 1.0 / dimension);
}

template <class T>
void record_call(const std::filesystem::path& folder, const std::string& path, int dimension, const std::string& call,
                 double parameter, bool keeps_results) {
    const Saved saved = keeps_results ? Saved::results : Saved::largest;
    kith::Execution execution = kith::cuda();
    execution.threads = 1; // of the host: kernels run on the thread that calls
    const std::vector<char> bytes = contents(path);
    const auto count = static_cast<std::int64_t>(bytes.size() / sizeof(T)) / dimension;
    const std::shared_ptr<void> there = on_device(bytes.data(), bytes.size(), execution);
    const kith::PointsView view(static_cast<const T*>(there.get()), kith::dtype_of<T>, count, dimension, dimension, 1,
                                execution.device);
    const auto without_a_wait = [&](std::int64_t scratch_bytes, const auto& put_on_stream) {
        const auto size = static_cast<std::size_t>(scratch_bytes);
        const std::shared_ptr<void> scratch = on_device(nullptr, size, execution);
        const std::shared_ptr<void> status = on_device(nullptr, sizeof(kith::DeviceStatus), execution);
        record(folder, count, saved, [&] {
            put_on_stream(static_cast<kith::DeviceStatus*>(status.get()),
                          std::span(static_cast<std::byte*>(scratch.get()), size));
        });
    };
    if (const std::optional<kith::Engine> engine = kith::engine_named(call)) {
        const auto k = static_cast<std::int64_t>(parameter);
        const auto size = static_cast<std::size_t>(count * k);
        const std::shared_ptr<void> indices = on_device(nullptr, size * sizeof(std::int32_t), execution);
        const std::shared_ptr<void> distances = on_device(nullptr, size * sizeof(T), execution);
        const kith::NeighborRows rows(std::span(static_cast<std::int32_t*>(indices.get()), size),
                                      std::span(static_cast<T*>(distances.get()), size));
        record(folder, count, saved, [&] {
            (void)kith::detail::knn_on_device(view, nullptr, {k, {.execution = execution}, &rows, nullptr}, *engine);
        });
    } else if (call == "fof" || call == "catalog") {
        const auto size = static_cast<std::size_t>(count);
        const std::shared_ptr<void> memory = on_device(nullptr, size * sizeof(std::int32_t), execution);
        const std::span labels(static_cast<std::int32_t*>(memory.get()), size);
        kith::Particles particles{view};
        particles.velocities = view; // any numbers do
        record(folder, count, saved, [&] {
            kith::FofSummary found;
            found.engine = kith::Engine::tree;
            const kith::Box box = kith::Box::periodic(1);
            kith::detail::fof_on_device(view, kith::LinkingLength::relative(parameter),
                                        {.box = box, .execution = execution}, labels, found);
            if (call == "catalog") {
                (void)kith::detail::catalog_on_device({labels, found.sizes}, particles, box, {.execution = execution});
            }
        });
    } else if (call == "knn_async") {
        const auto k = static_cast<std::int64_t>(parameter);
        const auto size = static_cast<std::size_t>(count * k);
        const std::shared_ptr<void> indices = on_device(nullptr, size * sizeof(std::int32_t), execution);
        const std::shared_ptr<void> distances = on_device(nullptr, size * sizeof(T), execution);
        const kith::NeighborRows rows(std::span(static_cast<std::int32_t*>(indices.get()), size),
                                      std::span(static_cast<T*>(distances.get()), size));
        const kith::KnnOptions options{.engine = kith::Engine::tree, .execution = execution};
        without_a_wait(
            kith::detail::knn_async_bytes_on_device({view.dtype(), dimension, count, {}, k, options.engine}, execution),
            [&](kith::DeviceStatus* status, std::span<std::byte> scratch) {
                kith::detail::knn_async_on_device({view, {}, {k, options, &rows}, false, status}, scratch);
            });
    } else if (call == "fof_async") {
        const std::shared_ptr<void> labels =
            on_device(nullptr, static_cast<std::size_t>(count) * sizeof(std::int32_t), execution);
        const std::shared_ptr<void> summary = on_device(nullptr, sizeof(kith::DeviceFofSummary), execution);
        const kith::FofOptions options{
            .box = kith::Box::periodic(1), .engine = kith::Engine::tree, .execution = execution};
        without_a_wait(
            kith::detail::fof_async_bytes_on_device({view.dtype(), dimension, count, options.engine}, execution),
            [&](kith::DeviceStatus* status, std::span<std::byte> scratch) {
                kith::detail::fof_async_on_device({view, kith::LinkingLength::relative(parameter), options,
                                                   static_cast<std::int32_t*>(labels.get()), false,
                                                   static_cast<kith::DeviceFofSummary*>(summary.get()), status},
                                                  scratch);
            });
    } else if (call == "radius") {
        const kith::Radii radii(length_around(parameter, count, dimension));
        record(folder, count, saved, [&] {
            std::vector<std::int64_t> counts;
            (void)kith::detail::radius_on_device(view, nullptr, {radii, -1, {.execution = execution}, &counts});
        });
    } else if (call == "dbscan") {
        const std::shared_ptr<void> labels =
            on_device(nullptr, static_cast<std::size_t>(count) * sizeof(std::int32_t), execution);
        record(folder, count, saved, [&] {
            kith::DbscanSummary found;
            kith::detail::dbscan_on_device(view, {.execution = execution},
                                           {length_around(parameter, count, dimension),
                                            5,
                                            false,
                                            {static_cast<std::int32_t*>(labels.get()), static_cast<std::size_t>(count)},
                                            {}},
                                           found);
        });
    } else if (call == "spanning_tree") {
        record(folder, count, keeps_results ? saved : Saved::all, [&] {
            (void)kith::detail::spanning_tree_on_device(view, {.execution = execution}, kith::Engine::tree);
        });
    } else {
        throw std::runtime_error("CALL is '" + call +
                                 "'; it must be an engine, fof, catalog, radius, dbscan, spanning_tree, "
                                 "knn_async or fof_async");
    }
}

} // namespace

int main(int argc, char** argv) {
    const bool keeps_results = argc == 7 && std::string(argv[6]) == "results";
    if (argc != 6 && !keeps_results) {
        std::fprintf(stderr, "usage: record_launches FOLDER NAME.D.f32 CALL K MULTIPROCESSORS [results]\n");
        return 2;
    }
    try {
        const std::filesystem::path path(argv[2]);
        const int dimension = std::atoi(path.stem().extension().string().substr(1).c_str());
        const auto run = path.extension() == ".f64" ? record_call<double> : record_call<float>;
        kith::emulation::set_multiprocessors(std::atoi(argv[5]));
        run(argv[1], path.string(), dimension, argv[3], std::atof(argv[4]), keeps_results);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "record_launches: %s\n", error.what());
        return 1;
    }
    return 0;
}
