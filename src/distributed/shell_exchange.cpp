#include "distributed/shell_exchange.hpp"

#include "halos/shell_search.hpp"
#include "support/parallel.hpp"
#include "support/parallel_in_turn.hpp"
#include "support/per_thread.hpp"

#include <algorithm>
#include <cstring>

namespace kith::detail {

namespace {

template <class Value>
void append(const std::byte*& from, std::int64_t count, std::vector<Value>& to) {
    const std::size_t before = to.size();
    to.resize(before + static_cast<std::size_t>(count));
    if (count > 0) {
        std::memcpy(to.data() + before, from, static_cast<std::size_t>(count) * sizeof(Value));
    }
    from += count * static_cast<std::int64_t>(sizeof(Value));
}

template <Coordinate T>
Corners<double> widened(const Corners<T>& box) {
    Corners<double> wide;
    std::ranges::copy(box, wide.begin());
    return wide;
}

} // namespace

template <Coordinate T>
ShellExchange<T>::ShellExchange(Ranks& ranks, Context& context, const TreeView<T>& tree,
                                const halos::MassPoints<T>& particles, const PointNumbers& numbers)
    : ranks_(ranks), context_(context), tree_(tree), particles_(particles), numbers_(numbers), tops_(ranks, tree, 3) {
    frame_.dimension = 3;
    std::ranges::copy(particles.frame->working_period, frame_.working_period.begin());
}

template <Coordinate T>
void ShellExchange<T>::find(std::span<const ShellRequest> shells,
                            const std::function<void(std::int64_t i, const ShellParticles& particles)>& take) {
    std::vector<RankMessage> messages = send(shells);
    ranks_.agreed([&] { context_.stage("spheres", [&] { messages = answer(messages); }); });
    messages = ranks_.exchange(std::move(messages));
    ranks_.agreed([&] {
        std::vector<std::vector<Piece>> pieces(shells.size());
        for (const RankMessage& message : messages) {
            const std::vector<std::int64_t>& sent = sent_[message.rank];
            const auto* counts = message.bytes.data();
            const std::byte* bytes = counts + sent.size() * sizeof(std::int64_t);
            for (const std::int64_t i : sent) {
                std::int64_t count = 0;
                std::memcpy(&count, counts, sizeof count);
                counts += sizeof count;
                pieces[i].push_back({bytes, count});
                bytes += count * bytes_each();
            }
        }
        PerThread<ShellParticles> joined;
        context_.stage("spheres", [&] {
            parallel_in_turn(std::ssize(shells), [&](std::int64_t i) {
                ShellParticles& all = joined.local();
                join(pieces[i], all);
                take(i, all);
            });
        });
    });
}

template <Coordinate T>
std::vector<double> ShellExchange<T>::most_within(std::span<const ShellRequest> balls) {
    std::vector<RankMessage> messages = send(balls);
    ranks_.agreed([&] {
        context_.stage("spheres", [&] {
            if (!mass_bound_ && tree_.top >= 0) {
                mass_bound_.emplace(context_, tree_,
                                    [&](std::int32_t place) { return particles_.mass(tree_.points.indices[place]); });
            }
            for (RankMessage& message : messages) {
                const auto asked = values_of<ShellRequest>(message);
                std::vector<double> masses(asked.size());
                parallel_each(std::ssize(asked), 16, [&](std::int64_t i) {
                    masses[i] = mass_bound_->most_within(asked[i].center, std::sqrt(asked[i].outer));
                });
                message.bytes.clear();
                MessageWriter(message.bytes).put(std::span<const double>(masses));
            }
        });
    });
    messages = ranks_.exchange(std::move(messages));
    std::vector<double> most(balls.size());
    for (const RankMessage& message : messages) {
        MessageReader reader(message.bytes);
        for (const std::int64_t i : sent_[message.rank]) {
            most[i] += reader.take<double>();
        }
    }
    return most;
}

template <Coordinate T>
bool ShellExchange<T>::reaches(int rank, const ShellRequest& shell) const {
    Corners<double> center{};
    for (const std::size_t first : {std::size_t{0}, static_cast<std::size_t>(max_dimension)}) {
        std::ranges::copy(shell.center, center.begin() + static_cast<std::ptrdiff_t>(first));
    }
    const auto meets = [&](const Corners<T>& box) {
        const BoxDistances<double> distances(frame_, center, widened(box));
        return distances.least <= shell.outer && distances.greatest > shell.inner;
    };
    const std::int64_t first = tops_.first(rank);
    const std::int64_t end = tops_.first(rank + 1);
    return first < end && meets(tops_.of_ranks[rank]) &&
           std::any_of(tops_.nodes.begin() + first, tops_.nodes.begin() + end,
                       [&](const auto& node) { return meets(node.box); });
}

template <Coordinate T>
std::vector<RankMessage> ShellExchange<T>::send(std::span<const ShellRequest> requests) {
    std::vector<RankMessage> messages;
    ranks_.agreed([&] {
        std::vector<std::vector<int>> reached(requests.size());
        context_.run([&] {
            parallel_each(std::ssize(requests), 64, [&](std::int64_t i) {
                for (int rank = 0; rank < ranks_.size(); ++rank) {
                    if (reaches(rank, requests[i])) {
                        reached[i].push_back(rank);
                    }
                }
            });
        });
        sent_.assign(static_cast<std::size_t>(ranks_.size()), {});
        for (std::size_t i = 0; i < requests.size(); ++i) {
            for (const int rank : reached[i]) {
                sent_[rank].push_back(static_cast<std::int64_t>(i));
            }
        }
        messages = messages_to(sent_, [&](MessageWriter& writer, const std::vector<std::int64_t>& to_rank) {
            for (const std::int64_t i : to_rank) {
                writer.put_value(requests[i]);
            }
        });
    });
    return ranks_.exchange(std::move(messages));
}

template <Coordinate T>
std::vector<RankMessage> ShellExchange<T>::answer(std::vector<RankMessage>& requests) {
    std::vector<RankMessage> answers;
    for (const RankMessage& of_rank : requests) {
        const auto shells = values_of<ShellRequest>(of_rank);
        std::vector<std::int64_t> counts(shells.size());
        std::vector<std::vector<std::byte>> found(shells.size());
        parallel_in_turn(std::ssize(shells), [&](std::int64_t i) { found[i] = found_in(shells[i], counts[i]); });
        std::vector<std::byte>& bytes = answers.emplace_back(RankMessage{of_rank.rank, {}}).bytes;
        MessageWriter writer(bytes);
        writer.put(std::span<const std::int64_t>(counts));
        for (std::vector<std::byte>& of_shell : found) {
            writer.put(std::span<const std::byte>(of_shell));
            of_shell = std::vector<std::byte>(); // frees them
        }
    }
    return answers;
}

template <Coordinate T>
std::vector<std::byte> ShellExchange<T>::found_in(const ShellRequest& shell, std::int64_t& count) {
    halos::ShellPoints& points = scratch_.local();
    halos::find_in_shell(halos::Shell<T>{&tree_, shell.center, shell.inner, shell.outer}, points);
    count = points.size;
    std::vector<std::byte> bytes;
    bytes.reserve(static_cast<std::size_t>(count * bytes_each()));
    MessageWriter writer(bytes);
    writer.put(std::span<const double>(points.squares.data(), static_cast<std::size_t>(count)));
    const auto put_each = [&](const auto& value_of_row) {
        for (std::int64_t i = 0; i < count; ++i) {
            writer.put_value(value_of_row(tree_.points.indices[points.places[i]]));
        }
    };
    put_each([&](std::int32_t row) { return numbers_[row]; });
    if (particles_.masses) {
        put_each([&](std::int32_t row) { return particles_.mass(row); });
    }
    return bytes;
}

template <Coordinate T>
void ShellExchange<T>::join(const std::vector<Piece>& pieces, ShellParticles& all) const {
    all.squares.clear();
    all.numbers.clear();
    all.masses.clear();
    for (const Piece& piece : pieces) {
        const std::byte* from = piece.bytes;
        append(from, piece.count, all.squares);
        append(from, piece.count, all.numbers);
        if (particles_.masses) {
            append(from, piece.count, all.masses);
        }
    }
    if (!particles_.masses) {
        all.masses.assign(all.squares.size(), particles_.uniform_mass);
    }
}

template class ShellExchange<float>;
template class ShellExchange<double>;

} // namespace kith::detail
