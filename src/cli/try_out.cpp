#include "cli/try_out.hpp"

#include "cli/usage_error.hpp"

#include <kith/error.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kith::cli {

namespace {

/// The library's remedy is a call, that of a shell an option.
std::string with_options(std::string text) {
    constexpr std::string_view in_code = "kith::cpu()";
    if (const std::size_t at = text.find(in_code); at != std::string::npos) {
        text.replace(at, in_code.size(), "--device cpu");
    }
    return text;
}

} // namespace

void try_out(const CommonOptions& options, const CallOnNoPoints& call) {
    std::optional<Error> refusal; // in the first dimension: a build may lack some
    for (int dimension = 2; dimension <= max_dimension; ++dimension) {
        const std::vector<double> none; // float32 would refuse more
        try {
            call(PointsView(none, dimension), execution_of(options, {}));
            return;
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::unsupported) {
                throw;
            }
            if (!refusal) {
                refusal = error;
            }
        }
    }
    throw UsageError(with_options(refusal->what()));
}

} // namespace kith::cli
