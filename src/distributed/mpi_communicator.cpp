// The collective calls by MPI.
//
// Messages that their receivers do not expect travel by non-blocking consensus (Hoefler, Siebert and Lumsdaine,
// Scalable communication protocols for dynamic sparse data exchange, 2010): a synchronous send completes when it is
// received; a rank whose sends are complete enters a barrier that does not block, and receives until all have entered.
// A rank may be one exchange ahead of another, never two, so two tags keep exchanges apart. A message is cut into parts
// of the largest size; the first part that is shorter, perhaps empty, is its last. Buffers, whose sizes both sides
// know, travel by plain sends and receives with a tag of their own.
#include <kith/error.hpp>
#include <kith/mpi.hpp>

#include "support/cores.hpp"
#include "support/message.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <iterator>
#include <memory>
#include <numeric>
#include <string_view>
#include <thread>
#include <utility>

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace kith {

namespace {

constexpr int tag_of_buffers = 2; ///< after those of exchanges

/// Whether the MPI library says that it accepts memory of CUDA devices.
bool says_to_accept_device_memory() {
#if defined(MPIX_GPU_SUPPORT_CUDA)
    int is_supported = 0;
    return MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &is_supported) == MPI_SUCCESS && is_supported != 0;
#elif defined(MPIX_CUDA_AWARE_SUPPORT)
    return MPIX_Query_cuda_support() == 1;
#else
    return false;
#endif
}

void check(int result, const char* what) {
    if (result == MPI_SUCCESS) {
        return;
    }
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(result, text, &length);
    throw detail::error(ErrorKind::device, "MPI failed in ", what, ": ",
                        std::string_view(text, static_cast<std::size_t>(length)));
}

MPI_Op operation(Reduction reduction) {
    return reduction == Reduction::sum ? MPI_SUM : reduction == Reduction::min ? MPI_MIN : MPI_MAX;
}

/// A wait that yields for 0.2 ms and then sleeps for 0.05 ms time and again, where it may: other ranks may need this
/// core to get there, and the scheduler comes back to a rank that only yields.
class Patience {
public:
    void wait(bool may_sleep) const {
        if (may_sleep && Clock::now() > sleeps_from_) {
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        } else {
            std::this_thread::yield();
        }
    }

private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point sleeps_from_ = Clock::now() + std::chrono::microseconds(200);
};

/// Bytes whose ranks may sleep between steps. Larger messages advance only as often as their ranks ask.
constexpr std::int64_t small_message = 1 << 16;

/// Waits until requests that move that many bytes are complete: test(&done) tests them. With more ranks than cores,
/// MPI's own waiting, which does not yield, takes a time slice for every call.
template <class Test>
void wait_for(const char* what, std::int64_t bytes, const Test& test) {
    int done = 0;
    check(test(&done), what);
    for (const Patience patience; done == 0;) {
        patience.wait(bytes <= small_message);
        check(test(&done), what);
    }
}

/// Makes a collective call, start(request), of that many bytes, and waits for it.
template <class Start>
void complete(const char* what, std::int64_t bytes, const Start& start) {
    MPI_Request request = MPI_REQUEST_NULL;
    check(start(&request), what);
    wait_for(what, bytes, [&](int* done) { return MPI_Test(&request, done, MPI_STATUS_IGNORE); });
}

} // namespace

/// An exchange that has started.
struct MpiCommunicator::Exchange {
    Exchange(int its_tag, std::vector<RankMessage> to_send, int ranks)
        : tag(its_tag), messages(std::move(to_send)), received(static_cast<std::size_t>(ranks)),
          has_part(static_cast<std::size_t>(ranks), false) {}

    int tag;
    std::vector<RankMessage> messages; ///< until they are sent
    std::int64_t bytes = 0;            ///< of those to other ranks
    std::vector<MPI_Request> sends;
    std::vector<std::vector<RankMessage>> received; ///< by sender
    std::vector<bool> has_part;                     ///< by sender: its last message is not complete
};

MpiCommunicator::MpiCommunicator(MPI_Comm communicator, std::int64_t largest_message, std::optional<bool> device_memory)
    : largest_message_(largest_message) {
    int initialized = 0;
    int finalized = 0;
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    if (initialized == 0 || finalized != 0) {
        throw Error(ErrorKind::invalid_argument, "MPI is not running; call MPI_Init_thread before, and MPI_Finalize "
                                                 "after all calls over ranks");
    }
    if (communicator == MPI_COMM_NULL) {
        throw Error(ErrorKind::invalid_argument, "the MPI communicator is MPI_COMM_NULL, which has no ranks");
    }
    int is_between_groups = 0;
    check(MPI_Comm_test_inter(communicator, &is_between_groups), "MPI_Comm_test_inter");
    if (is_between_groups != 0) {
        throw Error(ErrorKind::invalid_argument,
                    "the MPI communicator is an intercommunicator, which has two groups of "
                    "ranks; pass the communicator that MPI_Intercomm_merge makes of it");
    }
    complete("MPI_Comm_idup", 0,
             [&](MPI_Request* request) { return MPI_Comm_idup(communicator, &communicator_, request); });
    try {
        check(MPI_Comm_rank(communicator_, &rank_), "MPI_Comm_rank");
        check(MPI_Comm_size(communicator_, &size_), "MPI_Comm_size");
        accepts_device_memory_ = agree(device_memory.value_or(says_to_accept_device_memory()));
        threads_ = share_of_this_machine();
    } catch (...) {
        MPI_Comm_free(&communicator_);
        throw;
    }
}

int MpiCommunicator::share_of_this_machine() const {
    const std::vector<int> mine = detail::usable_cores();
    std::vector<int> users = mine;
    MPI_Comm here = MPI_COMM_NULL;
    check(MPI_Comm_split_type(communicator_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here), "MPI_Comm_split_type");
    complete("MPI_Iallreduce", std::ssize(users) * 4, [&](MPI_Request* request) {
        return MPI_Iallreduce(MPI_IN_PLACE, users.data(), static_cast<int>(users.size()), MPI_INT, MPI_SUM, here,
                              request);
    });
    MPI_Comm_free(&here);
    return detail::share_of_cores(mine, users);
}

/// Ranks that cut messages differently would wait forever, so all throw or none.
bool MpiCommunicator::agree(bool accepts_device_memory) const {
    // ~ turns the order around for every value
    std::array<std::int64_t, 3> least{largest_message_, ~largest_message_, accepts_device_memory ? 1 : 0};
    complete("MPI_Iallreduce", 24, [&](MPI_Request* request) {
        return MPI_Iallreduce(MPI_IN_PLACE, least.data(), 3, MPI_INT64_T, MPI_MIN, communicator_, request);
    });
    const std::int64_t smallest = least[0];
    const std::int64_t greatest = ~least[1];
    if (smallest != greatest) {
        throw detail::error(ErrorKind::invalid_argument, "largest_message is ", smallest, " on one rank and ", greatest,
                            " on another; pass the same on all ranks, from 1 to 2^30 bytes");
    }
    if (smallest < 1 || smallest > std::int64_t{1} << 30) {
        throw detail::error(ErrorKind::invalid_argument, detail::of_value(smallest), "largest_message is ", smallest,
                            "; it must be from 1 to 2^30 bytes");
    }
    return least[2] != 0;
}

MpiCommunicator::~MpiCommunicator() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized == 0 && communicator_ != MPI_COMM_NULL) {
        MPI_Comm_free(&communicator_);
    }
}

void MpiCommunicator::all_reduce(std::span<std::int64_t> values, Reduction reduction) {
    const auto most = static_cast<std::size_t>(std::max<std::int64_t>(1, largest_message_ / 8));
    for (std::size_t first = 0; first < values.size(); first += most) {
        const std::size_t count = std::min(most, values.size() - first);
        complete("MPI_Iallreduce", std::int64_t{8} * static_cast<std::int64_t>(count), [&](MPI_Request* request) {
            return MPI_Iallreduce(MPI_IN_PLACE, values.data() + first, static_cast<int>(count), MPI_INT64_T,
                                  operation(reduction), communicator_, request);
        });
    }
}

void MpiCommunicator::all_gather(std::span<const std::byte> mine, std::span<std::byte> all,
                                 std::span<const std::int64_t> counts) {
    std::vector<std::int64_t> firsts(static_cast<std::size_t>(size_) + 1, 0);
    const bool has_counts = counts.size() == static_cast<std::size_t>(size_);
    if (has_counts) {
        std::inclusive_scan(counts.begin(), counts.end(), firsts.begin() + 1);
    }
    if (!has_counts || counts[rank_] != std::ssize(mine) || firsts.back() > std::ssize(all)) {
        throw Error(ErrorKind::invalid_argument,
                    "the bytes that the ranks passed to all_gather are not as many as the counts say");
    }
    if (firsts.back() <= largest_message_) {
        const std::vector<int> lengths(counts.begin(), counts.end());
        const std::vector<int> starts(firsts.begin(), firsts.end() - 1);
        complete("MPI_Iallgatherv", firsts.back(), [&](MPI_Request* request) {
            return MPI_Iallgatherv(mine.data(), static_cast<int>(mine.size()), MPI_BYTE, all.data(), lengths.data(),
                                   starts.data(), MPI_BYTE, communicator_, request);
        });
        return;
    }
    std::ranges::copy(mine, all.begin() + firsts[rank_]);
    for (int root = 0; root < size_; ++root) { // each in parts that an int can count
        for (std::int64_t first = firsts[root]; first < firsts[root + 1]; first += largest_message_) {
            const std::int64_t bytes = std::min(largest_message_, firsts[root + 1] - first);
            complete("MPI_Ibcast", bytes, [&](MPI_Request* request) {
                return MPI_Ibcast(all.data() + first, static_cast<int>(bytes), MPI_BYTE, root, communicator_, request);
            });
        }
    }
}

void MpiCommunicator::send(const RankMessage& message, Exchange& exchange) const {
    const auto bytes = std::ssize(message.bytes);
    exchange.bytes += bytes;
    for (std::int64_t first = 0; first <= bytes; first += largest_message_) {
        const std::int64_t part = std::min(largest_message_, bytes - first);
        check(MPI_Issend(message.bytes.data() + first, static_cast<int>(part), MPI_BYTE, message.rank, exchange.tag,
                         communicator_, &exchange.sends.emplace_back()),
              "MPI_Issend");
    }
}

/// Receives one part, if one is there.
bool MpiCommunicator::receive(Exchange& exchange) const {
    int is_there = 0;
    MPI_Status status;
    check(MPI_Iprobe(MPI_ANY_SOURCE, exchange.tag, communicator_, &is_there, &status), "MPI_Iprobe");
    if (is_there == 0) {
        return false;
    }
    int count = 0;
    check(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
    const auto source = static_cast<std::size_t>(status.MPI_SOURCE);
    std::vector<RankMessage>& received = exchange.received[source];
    if (!exchange.has_part[source]) {
        received.push_back({status.MPI_SOURCE, {}});
    }
    std::vector<std::byte>& bytes = received.back().bytes;
    const std::size_t before = bytes.size();
    bytes.resize(before + static_cast<std::size_t>(count));
    check(MPI_Recv(bytes.data() + before, count, MPI_BYTE, status.MPI_SOURCE, exchange.tag, communicator_,
                   MPI_STATUS_IGNORE),
          "MPI_Recv");
    exchange.has_part[source] = count == largest_message_;
    return true;
}

std::vector<RankMessage> MpiCommunicator::exchange(std::vector<RankMessage> messages) {
    start_exchange(std::move(messages));
    return finish_exchange();
}

void MpiCommunicator::start_exchange(std::vector<RankMessage> messages) {
    for (const RankMessage& message : messages) {
        if (message.rank < 0 || message.rank >= size_) {
            throw Error(ErrorKind::invalid_argument, "a message names a rank that does not exist");
        }
    }
    try {
        started_ = std::make_unique<Exchange>(std::exchange(tag_, 1 - tag_), std::move(messages), size_);
        for (RankMessage& message : started_->messages) {
            if (message.rank == rank_) {
                started_->received[rank_].push_back(std::move(message));
            } else {
                send(message, *started_);
            }
        }
    } catch (const std::exception& error) { // others wait for parts that will not come
        abort(error.what());
        throw;
    }
}

std::vector<RankMessage> MpiCommunicator::finish_exchange() {
    std::vector<RankMessage> all;
    try {
        Exchange& exchange = *started_;
        MPI_Request barrier = MPI_REQUEST_NULL;
        bool is_waiting = false;
        const Patience patience;
        for (int done = 0; done == 0;) {
            if (receive(exchange)) {
                continue;
            }
            if (is_waiting) {
                check(MPI_Test(&barrier, &done, MPI_STATUS_IGNORE), "MPI_Test");
            } else {
                int are_sent = 0;
                check(MPI_Testall(static_cast<int>(exchange.sends.size()), exchange.sends.data(), &are_sent,
                                  MPI_STATUSES_IGNORE),
                      "MPI_Testall");
                if (are_sent != 0) {
                    check(MPI_Ibarrier(communicator_, &barrier), "MPI_Ibarrier");
                    is_waiting = true;
                }
            }
            if (done == 0) {
                patience.wait(is_waiting || exchange.bytes <= small_message);
            }
        }
        for (std::vector<RankMessage>& from_rank : exchange.received) {
            std::ranges::move(from_rank, std::back_inserter(all));
        }
        started_.reset();
    } catch (const std::exception& error) { // others wait for parts that are not received
        abort(error.what());
        throw;
    }
    return all;
}

void MpiCommunicator::exchange_buffers(std::span<const SendBuffer> sent, std::span<const ReceiveBuffer> received,
                                       const CopyBytes& /*copy*/) {
    std::vector<MPI_Request> requests;
    std::int64_t bytes_of_all = 0;
    const auto for_each_part = [&](std::int64_t count, const auto& start) {
        bytes_of_all += count;
        for (std::int64_t first = 0; first < count; first += largest_message_) {
            start(first, static_cast<int>(std::min(largest_message_, count - first)), &requests.emplace_back());
        }
    };
    try {
        for (const ReceiveBuffer& buffer : received) {
            for_each_part(buffer.count, [&](std::int64_t first, int bytes, MPI_Request* request) {
                check(MPI_Irecv(static_cast<std::byte*>(buffer.bytes) + first, bytes, MPI_BYTE, buffer.rank,
                                tag_of_buffers, communicator_, request),
                      "MPI_Irecv");
            });
        }
        for (const SendBuffer& buffer : sent) {
            for_each_part(buffer.count, [&](std::int64_t first, int bytes, MPI_Request* request) {
                check(MPI_Isend(static_cast<const std::byte*>(buffer.bytes) + first, bytes, MPI_BYTE, buffer.rank,
                                tag_of_buffers, communicator_, request),
                      "MPI_Isend");
            });
        }
        const auto test = [&](int* are_complete) {
            return MPI_Testall(static_cast<int>(requests.size()), requests.data(), are_complete, MPI_STATUSES_IGNORE);
        };
        wait_for("MPI_Testall", bytes_of_all, test);
    } catch (const std::exception& error) { // others wait for parts
        abort(error.what());
        throw;
    }
}

void MpiCommunicator::abort(const std::string& reason) noexcept {
    std::fprintf(stderr, "kith: rank %d of %d ends the job: %s\n", rank_, size_, reason.c_str());
    MPI_Abort(communicator_, 1);
}

} // namespace kith
