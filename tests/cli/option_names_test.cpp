// Names that no command has, and the options that are nearest.
#include "cli/option_names.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace {

using namespace kith::cli;

const std::vector<std::string> of_fof = {"-h",       "--help",      "-b",      "--linking-length", "--min-members",
                                         "--psi",    "--psi-sigma", "--types", "--threads",        "--box",
                                         "--engine", "--labels",    "--table"};

TEST(OptionNames, TheNearestIsFound) {
    for (const auto& [given, nearest] : std::vector<std::pair<const char*, const char*>>{
             {"--linking_length", "--linking-length"},
             {"--LinkingLength", "--linking-length"},
             {"--ll", "--linking-length"},
             {"--link", "--linking-length"},
             {"--type", "--types"},
             {"--minmembers", "--min-members"},
             {"--min-member", "--min-members"},
             {"--psi_sigmas", "--psi-sigma"},
             {"--boxsize", "--box"},
             {"--n-jobs", "--threads"},
             {"--route", "--engine"},
             {"--theards", "--threads"},
             {"-psi", "--psi"},
             {"--B", "-b"},
             {"--color", ""},
             {"--output", ""},
             {"-x", ""},
         }) {
        EXPECT_EQ(nearest_option(given, of_fof), nearest) << given;
    }
}

TEST(OptionNames, AnotherCommandThatHasItIsNamed) {
    const CommandOptions mst{"kith mst", {"--types", "--output"}};
    const std::vector<CommandOptions> others = {{"kith fof", of_fof}, {"kith hierarchy", {"--min-members"}}};
    EXPECT_EQ(unknown_option("--min-members", mst, others),
              "kith mst has no option --min-members; it is one of kith fof, kith hierarchy");
    EXPECT_EQ(unknown_option("--type", mst, others), "kith mst has no option --type; did you mean --types?");
    EXPECT_EQ(unknown_option("--color", mst, others),
              "kith mst has no option --color; 'kith mst --help' lists those it has");
}

} // namespace
