#include "distributed/component_forest.hpp"

namespace kith::detail {

ComponentForest::ComponentForest(Ranks& ranks, const Ownership& ownership, std::vector<ComponentEntry> links)
    : ownership_(ownership) {
    for (ComponentEntry& link : links) {
        link = {std::max(link.component, link.value), std::min(link.component, link.value)};
    }
    while (true) {
        const auto links_left = std::ssize(links);
        const std::vector<ComponentEntry> arrived = deliver(ranks, ownership, links);
        ranks.agreed([&] {
            links.clear();
            for (const ComponentEntry& link : arrived) {
                insert(link, links);
            }
            std::ranges::sort(links);
            links.erase(std::unique(links.begin(), links.end()), links.end());
        });
        if (ranks.sum(links_left + halve(ranks)) == 0) {
            return;
        }
    }
}

void ComponentForest::insert(ComponentEntry link, std::vector<ComponentEntry>& left) {
    while (link.component != link.value) {
        if (link.component < link.value) {
            std::swap(link.component, link.value);
        }
        if (!ownership_.is_mine(link.component)) {
            left.push_back(link);
            return;
        }
        const auto [entry, was_root] = parents_.try_emplace(link.component, link.value);
        if (was_root) {
            return;
        }
        link.component = entry->second;
    }
}

std::int64_t ComponentForest::halve(Ranks& ranks) {
    std::vector<std::int64_t> parents;
    ranks.agreed([&] {
        for (const auto& [component, parent] : parents_) {
            parents.push_back(parent);
        }
    });
    const std::vector<ComponentEntry> grandparents =
        ask_owners(ranks, ownership_, std::move(parents), [this](std::int64_t component) {
            const auto found = parents_.find(component);
            return found == parents_.end() ? component : found->second;
        });
    std::int64_t changed = 0;
    for (auto& [component, parent] : parents_) {
        const std::int64_t grandparent = value_of(grandparents, parent);
        changed += grandparent != parent ? 1 : 0;
        parent = grandparent;
    }
    return changed;
}

std::vector<ComponentEntry> deliver(Ranks& ranks, const Ownership& ownership,
                                    const std::vector<ComponentEntry>& entries) {
    std::vector<std::vector<ComponentEntry>> to(ranks.size());
    std::vector<RankMessage> messages;
    std::vector<ComponentEntry> arrived;
    ranks.agreed([&] {
        for (const ComponentEntry& entry : entries) {
            to[ownership.owner(entry.component)].push_back(entry);
        }
        arrived = std::move(to[ranks.rank()]);
        to[ranks.rank()].clear();
        messages =
            messages_to(to, [](MessageWriter& writer, std::span<const ComponentEntry> list) { writer.put(list); });
    });
    const std::vector<RankMessage> received = ranks.exchange(std::move(messages));
    ranks.agreed([&] {
        for (const RankMessage& message : received) {
            const std::vector<ComponentEntry> list = values_of<ComponentEntry>(message);
            arrived.insert(arrived.end(), list.begin(), list.end());
        }
    });
    return arrived;
}

} // namespace kith::detail
