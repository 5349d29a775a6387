// Ranks as MPI processes. Link kith::mpi (find_package(kith COMPONENTS mpi)), built with the MPI library of your
// program.
#pragma once

#include <kith/device_communicator.hpp>

#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kith {

/// The processes of an MPI communicator. It is duplicated, so that messages of kith and of the program are separate.
/// Uses MPI 3.0 functions, and one of the library's own that says whether it accepts memory of GPUs. Calls MPI only
/// from the thread that calls kith: MPI_THREAD_FUNNELED suffices if that is the main thread, MPI_THREAD_SERIALIZED for
/// another thread. If the error handler of the communicator is MPI_ERRORS_RETURN, a failed MPI call throws Error:
/// device, with MPI's error text.
class MpiCommunicator final : public DeviceCommunicator {
public:
    /// Collective. Messages longer than `largest_message` bytes, which must be the same on all ranks, are sent in
    /// parts. Throws Error: invalid_argument (MPI is not initialized or already finalized, MPI_COMM_NULL, an
    /// intercommunicator; on all ranks if largest_message is outside 1 to 2^30 or differs between ranks).
    ///
    /// `device_memory`: whether the MPI library accepts memory of GPUs, so that ranks on GPUs send points from there.
    /// By default as the library says: Open MPI and MVAPICH by MPIX_Query_cuda_support(), MPICH and libraries derived
    /// from it by MPIX_GPU_query_support(); not if it has neither function. Pass true for a library that
    /// accepts it without saying so, and false for one that fails. It is used if it holds on all ranks.
    explicit MpiCommunicator(MPI_Comm communicator, std::int64_t largest_message = std::int64_t{1} << 30,
                             std::optional<bool> device_memory = {});
    /// Collective: calls MPI_Comm_free, unless MPI has been finalized.
    ~MpiCommunicator() override;

    [[nodiscard]] int rank() const noexcept override { return rank_; }
    [[nodiscard]] int size() const noexcept override { return size_; }
    /// The ranks of this communicator on one machine share its cores.
    [[nodiscard]] int threads() const noexcept override { return threads_; }
    void all_reduce(std::span<std::int64_t> values, Reduction reduction) override;
    void all_gather(std::span<const std::byte> mine, std::span<std::byte> all,
                    std::span<const std::int64_t> counts) override;
    [[nodiscard]] std::vector<RankMessage> exchange(std::vector<RankMessage> messages) override;
    void start_exchange(std::vector<RankMessage> messages) override;
    [[nodiscard]] std::vector<RankMessage> finish_exchange() override;
    [[nodiscard]] bool accepts_device_memory() const noexcept override { return accepts_device_memory_; }
    void exchange_buffers(std::span<const SendBuffer> sent, std::span<const ReceiveBuffer> received,
                          const CopyBytes& copy) override;
    /// Writes the reason to standard error and calls MPI_Abort.
    void abort(const std::string& reason) noexcept override;

private:
    struct Exchange;

    /// Throws unless all have the same largest message. Returns whether all accept memory of GPUs.
    [[nodiscard]] bool agree(bool accepts_device_memory) const;
    [[nodiscard]] int share_of_this_machine() const;
    void send(const RankMessage& message, Exchange& exchange) const;
    bool receive(Exchange& exchange) const;

    MPI_Comm communicator_ = MPI_COMM_NULL;
    std::int64_t largest_message_;
    int rank_ = 0;
    int size_ = 0;
    int threads_ = 0;
    int tag_ = 0; ///< of the next exchange
    bool accepts_device_memory_ = false;
    std::unique_ptr<Exchange> started_;
};

} // namespace kith
