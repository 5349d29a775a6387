// Components of all ranks, joined by links between components of single ranks.
//
// A component is named by the smallest global index of its points on its rank; the rank that owns this point owns the
// component. A link joins two names. It goes to the owner of the larger one: if that is a root, it points to the
// smaller one from then on; otherwise the link is replaced by one between its parent and the smaller name, which goes
// on in the same way, until no rank has a link left. Parents are smaller than their children, so the roots are the
// smallest names. One pass would not do: friendship over several ranks is only known when the links of all have been
// followed. Source: jz-tree paper, appendix B.
//
// After every round of links, each component replaces its parent by its parent's parent. So the ways that links follow
// are halved as they grow, and the rounds are few even if neighbors in space are on random ranks.
#pragma once

#include "distributed/ranks.hpp"
#include "distributed/shared_frame.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kith::detail {

/// A component and what concerns it: another one that it is linked to, or a number.
struct ComponentEntry {
    std::int64_t component;
    std::int64_t value;

    // NOLINTNEXTLINE(modernize-use-nullptr): a false alarm at <=>
    friend auto operator<=>(const ComponentEntry&, const ComponentEntry&) = default;
};

class ComponentForest {
public:
    /// Collective. Follows the links of all ranks to the end.
    ComponentForest(Ranks& ranks, const Ownership& ownership, std::vector<ComponentEntry> links);

    /// The components of this rank that are parts of larger ones, each with the smallest name in it.
    [[nodiscard]] const std::unordered_map<std::int64_t, std::int64_t>& roots() const { return parents_; }

private:
    /// What is left of a link that has come to this rank is appended.
    void insert(ComponentEntry link, std::vector<ComponentEntry>& left);
    /// Replaces all parents by their parents; returns how many were not roots.
    std::int64_t halve(Ranks& ranks);

    const Ownership& ownership_;
    std::unordered_map<std::int64_t, std::int64_t> parents_; ///< of components of this rank; roots have none
};

/// Collective. Brings each entry to the owner of its component; returns those of this rank's components.
std::vector<ComponentEntry> deliver(Ranks& ranks, const Ownership& ownership,
                                    const std::vector<ComponentEntry>& entries);

/// Collective. Asks the owners of components for a number each; answer(component) is called there. Returns what each
/// component of the list has, ordered by component, each once.
template <class Answer>
std::vector<ComponentEntry> ask_owners(Ranks& ranks, const Ownership& ownership, std::vector<std::int64_t> components,
                                       const Answer& answer) {
    std::vector<RankMessage> questions;
    std::vector<ComponentEntry> entries;
    ranks.agreed([&] {
        std::ranges::sort(components);
        components.erase(std::unique(components.begin(), components.end()), components.end());
        for (std::size_t i = 0; i < components.size();) { // ordered by component, so by owner
            const int owner = ownership.owner(components[i]);
            const std::size_t first = i;
            while (i < components.size() && ownership.owner(components[i]) == owner) {
                ++i;
            }
            const std::span<const std::int64_t> list = std::span(components).subspan(first, i - first);
            if (owner == ranks.rank()) {
                for (const std::int64_t component : list) {
                    entries.push_back({component, answer(component)});
                }
            } else {
                MessageWriter(questions.emplace_back(RankMessage{owner, {}}).bytes).put(list);
            }
        }
    });
    std::vector<RankMessage> asked = ranks.exchange(std::move(questions));
    std::vector<RankMessage> answers;
    ranks.agreed([&] {
        for (const RankMessage& message : asked) {
            std::vector<ComponentEntry> list;
            for (const std::int64_t component : values_of<std::int64_t>(message)) {
                list.push_back({component, answer(component)});
            }
            MessageWriter(answers.emplace_back(RankMessage{message.rank, {}}).bytes)
                .put(std::span<const ComponentEntry>(list));
        }
    });
    const std::vector<RankMessage> answered = ranks.exchange(std::move(answers));
    ranks.agreed([&] {
        for (const RankMessage& message : answered) {
            const std::vector<ComponentEntry> list = values_of<ComponentEntry>(message);
            entries.insert(entries.end(), list.begin(), list.end());
        }
        std::ranges::sort(entries);
    });
    return entries;
}

/// The entry of a component that is there.
inline std::int64_t value_of(const std::vector<ComponentEntry>& entries, std::int64_t component) {
    return std::ranges::lower_bound(entries, component, {}, &ComponentEntry::component)->value;
}

} // namespace kith::detail
