#include "ranks.hpp"

#include <kith/device_communicator.hpp>
#include <kith/error.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kith::python {

namespace {

/// Calls `ranks`, an object with the functions of Communicator, with Python's lock taken. Bytes are memoryviews.
class PythonCommunicator final : public DeviceCommunicator {
public:
    PythonCommunicator(const nb::object& ranks, RunInPython run_in_python)
        : ranks_(ranks), run_in_python_(std::move(run_in_python)), rank_(nb::cast<int>(ranks.attr("rank"))),
          size_(nb::cast<int>(ranks.attr("size"))), threads_(nb::cast<int>(ranks.attr("threads"))),
          accepts_device_memory_(nb::cast<bool>(ranks.attr("accepts_device_memory"))) {}

    [[nodiscard]] int rank() const noexcept override { return rank_; }
    [[nodiscard]] int size() const noexcept override { return size_; }
    [[nodiscard]] int threads() const noexcept override { return threads_; }

    void all_reduce(std::span<std::int64_t> values, Reduction reduction) override {
        call([&] { ranks_.attr("all_reduce")(writable(std::as_writable_bytes(values)), static_cast<int>(reduction)); });
    }
    void all_gather(std::span<const std::byte> mine, std::span<std::byte> all,
                    std::span<const std::int64_t> counts) override {
        call([&] {
            nb::list lengths;
            for (const std::int64_t count : counts) {
                lengths.append(count);
            }
            ranks_.attr("all_gather")(readable(mine), writable(all), lengths);
        });
    }
    [[nodiscard]] std::vector<RankMessage> exchange(std::vector<RankMessage> messages) override {
        std::vector<RankMessage> received;
        call([&] {
            nb::list given;
            for (const RankMessage& message : messages) {
                given.append(nb::make_tuple(message.rank, readable(message.bytes)));
            }
            for (const nb::handle each : nb::cast<nb::list>(ranks_.attr("exchange")(given))) {
                const auto pair = nb::cast<nb::tuple>(each);
                const auto bytes = nb::cast<nb::bytes>(pair[1]);
                const auto* const first = static_cast<const std::byte*>(bytes.data());
                received.push_back({nb::cast<int>(pair[0]), {first, first + bytes.size()}});
            }
        });
        return received;
    }
    [[nodiscard]] bool accepts_device_memory() const noexcept override { return accepts_device_memory_; }
    void exchange_buffers(std::span<const SendBuffer> sent, std::span<const ReceiveBuffer> received,
                          const CopyBytes& /*copy*/) override {
        const auto listed = [](const auto& buffers) {
            nb::list list;
            for (const auto& buffer : buffers) {
                list.append(nb::make_tuple(buffer.rank, reinterpret_cast<std::uintptr_t>(buffer.bytes), buffer.count));
            }
            return list;
        };
        call([&] { ranks_.attr("exchange_buffers")(listed(sent), listed(received)); });
    }
    void abort(const std::string& reason) noexcept override {
        try {
            call([&] { ranks_.attr("abort")(reason.c_str()); });
        } catch (const std::exception&) { // the other ranks cannot be reached
        }
    }

private:
    static nb::object readable(std::span<const std::byte> bytes) {
        return view(const_cast<std::byte*>(bytes.data()), bytes.size(), PyBUF_READ);
    }
    static nb::object writable(std::span<std::byte> bytes) { return view(bytes.data(), bytes.size(), PyBUF_WRITE); }
    static nb::object view(std::byte* bytes, std::size_t count, int access) {
        static char nothing = 0; // memoryviews of no bytes need a place, too
        PyObject* const made = PyMemoryView_FromMemory(count == 0 ? &nothing : reinterpret_cast<char*>(bytes),
                                                       static_cast<Py_ssize_t>(count), access);
        if (made == nullptr) {
            nb::raise_python_error();
        }
        return nb::steal(made);
    }

    void call(const std::function<void()>& body) {
        run_in_python_([&] {
            try {
                body();
            } catch (const nb::python_error& error) {
                throw Error(ErrorKind::device, std::string("communication between ranks failed: ") + error.what());
            }
        });
    }

    const nb::object& ranks_;
    RunInPython run_in_python_;
    int rank_;
    int size_;
    int threads_;
    bool accepts_device_memory_;
};

nb::dict seconds_of(const StageReports& stages) {
    nb::dict seconds;
    for (const StageReport& stage : stages) { // one can occur twice: for own points, and for fetched ones
        const char* const name = stage.name.c_str();
        seconds[name] = stage.seconds + (seconds.contains(name) ? nb::cast<double>(seconds[name]) : 0.0);
    }
    return seconds;
}

} // namespace

CallRanks::CallRanks(nb::object team) : team_(std::move(team)) {
    options_.rebalance = nb::cast<bool>(team_.attr("rebalance"));
    options_.imbalance = nb::cast<double>(team_.attr("imbalance"));
    if (const nb::object ids = team_.attr("ids"); !ids.is_none()) {
        ids_ = nb::cast<decltype(ids_)>(ids);
        options_.ids = std::span(ids_.data(), ids_.size());
    }
    if (const nb::object weights = team_.attr("weights"); !weights.is_none()) {
        weights_ = nb::cast<InputArray>(weights);
        require_host(device_of(weights_), "weights is", "a call over ranks runs");
        options_.weights = scalars_of(weights_, "weights");
    }
}

bool CallRanks::is_first() const {
    return nb::cast<int>(team_.attr("rank")) == 0;
}

std::unique_ptr<Communicator> CallRanks::communicator(RunInPython run_in_python) const {
    return std::make_unique<PythonCommunicator>(team_, std::move(run_in_python));
}

void CallRanks::report(const StageReports& stages, const Distribution& distribution) const {
    const Traffic& traffic = distribution.traffic;
    team_.attr("add")(
        seconds_of(stages),
        nb::make_tuple(traffic.bytes_sent, traffic.bytes_received, traffic.messages_sent, traffic.bytes_from_device),
        traffic.bytes_migrated, distribution.first, distribution.total, owned_array(distribution.work));
}

} // namespace kith::python
