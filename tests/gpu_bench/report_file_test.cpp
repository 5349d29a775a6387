// The report is whole after every row, and continues what an earlier run wrote.
#include "json.hpp"
#include "report_file.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>

namespace bench {
namespace {

class ReportFileTest : public testing::Test {
protected:
    [[nodiscard]] std::string text() const {
        std::ostringstream out;
        out << std::ifstream(path_).rdbuf();
        return out.str();
    }
    static JsonObject row(const std::string& name, int value) {
        return JsonObject().add("name", name).add("value", value);
    }

    const kith::test::TemporaryFolder folder_;
    const std::filesystem::path path_ = folder_ / "report.json";
    JsonObject head_ = JsonObject().add("suite", "gpu");
};

TEST(Json, WritesWhatReadersTake) {
    JsonObject object;
    object.add("text", "a \"b\" \\ c\n").add("yes", true).add("none", std::numeric_limits<double>::infinity());
    object.add("third", 1.0 / 3).add("list", std::vector<double>{1, 2.5}).add("in", JsonObject().add("n", -3));
    EXPECT_EQ(object.text(), "{\"text\": \"a \\\"b\\\" \\\\ c\\u000a\", \"yes\": true, \"none\": null, "
                             "\"third\": 0.3333333333333333, \"list\": [1, 2.5], \"in\": {\"n\": -3}}");
}

TEST_F(ReportFileTest, IsWholeAfterEveryRow) {
    ReportFile report(path_, head_);
    EXPECT_EQ(text(), "{\"suite\": \"gpu\",\n\"workloads\": [\n]}\n");
    report.add("a", row("a", 1));
    EXPECT_EQ(text(), "{\"suite\": \"gpu\",\n\"workloads\": [\n{\"name\": \"a\", \"value\": 1}\n]}\n");
}

TEST_F(ReportFileTest, ContinuesAnEarlierRunAndKeepsTheLaterOfTwoRows) {
    {
        ReportFile report(path_, head_);
        report.add("a", row("a", 1));
        report.add("b", row("b", 2));
    }
    ReportFile report(path_, JsonObject().add("suite", "another"));
    report.add("a", row("a", 3));
    EXPECT_EQ(text(), "{\"suite\": \"gpu\",\n\"workloads\": [\n{\"name\": \"b\", \"value\": 2},\n"
                      "{\"name\": \"a\", \"value\": 3}\n]}\n");
}

TEST_F(ReportFileTest, LeavesAnotherKindOfFileAlone) {
    std::ofstream(path_) << "mine\n";
    EXPECT_THROW(ReportFile(path_, head_), std::runtime_error);
    EXPECT_EQ(text(), "mine\n");
}

TEST(ReportFile, SaysThatItCannotBeWritten) {
    EXPECT_THROW(ReportFile("/no/such/folder/report.json", JsonObject().add("suite", "gpu")), std::exception);
}

} // namespace
} // namespace bench
