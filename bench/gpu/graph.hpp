// Work on a stream, recorded as a CUDA graph and replayed.
#pragma once

#include "device.hpp"

#include <functional>

namespace bench {

class Graph {
public:
    /// Records what the call puts on the stream.
    Graph(Stream& stream, const std::function<void()>& call) {
        check(cudaStreamBeginCapture(stream.handle(), cudaStreamCaptureModeGlobal), "recording a graph");
        call();
        check(cudaStreamEndCapture(stream.handle(), &graph_), "recording a graph");
        check(cudaGraphInstantiate(&executable_, graph_, 0), "making a graph");
    }
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;
    ~Graph() {
        (void)cudaGraphExecDestroy(executable_);
        (void)cudaGraphDestroy(graph_);
    }
    void replay(Stream& stream) const { check(cudaGraphLaunch(executable_, stream.handle()), "replaying a graph"); }

private:
    cudaGraph_t graph_ = nullptr;
    cudaGraphExec_t executable_ = nullptr;
};

} // namespace bench
