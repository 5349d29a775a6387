// Records what a call puts on the stream of an emulated GPU.
//
// The call runs twice. The first run finds, for each kernel, the launch with the most blocks. In the second the memory
// of the device is saved to FOLDER/N.memory before some launches, N counting all of them. FOLDER/launches.json lists
// all, with what the first run asked of the runtime before each; there, small pieces of memory share a larger one, as
// on a GPU.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

namespace kith::bench {

/// Which launches of a kernel the memory is saved before.
enum class Saved {
    largest, ///< the first of those with the most blocks: the others do the same with less
    all,     ///< they do different work, round by round
    results, ///< all, and what is there after them, in FOLDER/N.results
    none
};

/// `points` goes into the list.
void record(const std::filesystem::path& folder, std::int64_t points, Saved saved, const std::function<void()>& call);

} // namespace kith::bench
