// A binary Tipsy file in group order, as a Tipsy file: its records, in the order of sorted_rows.hpp within gas, dark
// matter and stars. They are moved as they are, in their byte order, so that whatever they hold is kept; the header is
// the input's. The format has no place for the provenance.
#include "io/hdf5_sorted_snapshot.hpp"
#include "io/input_file.hpp"
#include "io/memory.hpp"
#include "io/output_file.hpp"
#include "io/sorted_rows.hpp"
#include "io/tipsy_layout.hpp"

#include <algorithm>
#include <optional>

namespace kith::io {

void write_sorted_records(hdf5::Ranks& ranks, const std::filesystem::path& path, const Catalog& catalog,
                          const Snapshot& snapshot, const Progress& progress) {
    std::optional<InputFile> input;
    TipsyLayout layout;
    std::optional<OutputFile> file;
    ranks.agreed([&] {
        input.emplace(snapshot.header.files.front());
        layout = decide_tipsy_layout(input->start(tipsy_header_bytes), input->length(), input->path().string());
        TypeCounts counts{};
        for (std::size_t kind = 0; kind < layout.counts.size(); ++kind) {
            counts[TipsyLayout::type_of_kind[kind]] = layout.counts[kind];
        }
        require_same_counts(counts, snapshot.header);
        if (ranks.is_first()) {
            file.emplace(path);
            file->write(input->start(layout.header_bytes));
        }
    });
    for (int kind = 0; kind < 3; ++kind) {
        if (layout.counts[kind] == 0) {
            continue;
        }
        const Permutation permutation = sorted_rows(ranks, catalog, snapshot, TipsyLayout::type_of_kind[kind]);
        const RowRange own = permutation.of(ranks.rank());
        const std::int64_t record_bytes = layout.record_bytes(kind);
        const std::int64_t block_records = sorting_block_bytes / record_bytes;
        std::vector<std::byte> block;
        std::vector<std::byte> sorted;
        ranks.agreed([&] {
            if (ranks.is_first()) {
                report_sorting(progress, static_cast<double>(kind) / 3);
            }
            block = allocate<std::byte>(std::min(block_records, own.count()), record_bytes, "a block of records");
            sorted = allocate<std::byte>(own.count(), record_bytes, "the sorted records");
        });
        std::int64_t begin = own.begin;
        const auto next = [&] {
            const auto bytes = std::span(block).first(std::min(block_records, own.end - begin) * record_bytes);
            input->read(layout.offset(kind) + begin * record_bytes, bytes);
            begin += std::min(block_records, own.end - begin);
            return std::span<const std::byte>(bytes);
        };
        sort_rows(ranks, permutation, record_bytes, next, sorted.data());
        write_sorted_rows(ranks, permutation, record_bytes, sorted.data(), block_records,
                          [&](std::int64_t, std::int64_t count, const std::byte* records) {
                              file->write(std::span(records, static_cast<std::size_t>(count * record_bytes)));
                          });
    }
    ranks.agreed([&] {
        if (file) {
            file->commit();
        }
    });
}

} // namespace kith::io
