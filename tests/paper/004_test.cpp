// Claims of paper 004 that have no test elsewhere.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "base/testing.h"
#include "base/text.h"
#include "cluster/job.h"

using namespace piracema;
using namespace piracema::testing;

namespace {

/// What a program has printed when it has ended well.
std::string output_of(const std::vector<std::string>& command) {
  Job job(command);
  CHECK(job.wait() == 0);
  return job.output();
}

struct Cut {
  std::string how;
  int groups = 0;
};
const std::vector<Cut> cuts{{"vertical", 2}, {"horizontal", 6}, {"inter-set", 4}, {"oblique", 4}};

/// The file of Fig. 5, with these settings in each group.
std::string groups_file(const testing::ScratchDirectory& scratch, const Cut& cut,
                        const std::string& protocol, const std::string& settings) {
  std::string text = concat("{\"protocol\": \"", protocol, "\", \"groups\": [");
  for (int i = 1; i <= cut.groups; ++i) {
    text += concat(i == 1 ? "" : ", ", "{\"name\": \"G", i, "\", \"endpoint\": \"localhost\"",
                   settings, "}");
  }
  const std::string file = scratch.path() + "/groups.json";
  std::ofstream(file) << text << "]}";
  return file;
}

std::string output_of_cut(const Cut& cut, const std::string& protocol,
                          const std::string& settings = "") {
  const testing::ScratchDirectory scratch;
  const std::string file = groups_file(scratch, cut, protocol, settings);
  return output_of({PIRACEMA_COMMAND, "run", "--quiet", "--groups", file, CUTS_APP, cut.how});
}

}  // namespace

TEST_CASE("section 2, Fig. 2: both versions of the program find the same") {
  const testing::ScratchDirectory scratch;
  std::vector<std::string> directories;
  std::string wanted;
  for (const std::string name : {"a", "b"}) {
    directories.push_back(scratch.path() + "/" + name);
    std::filesystem::create_directory(directories.back());
    for (int i = 0; i < 9; ++i) {
      const std::string file = concat(directories.back(), "/", i);
      std::ofstream(file) << (i % 3 == 0 ? "... Hello ..." : "nothing");
      if (i % 3 == 0) wanted += file + "\n";
    }
  }
  for (const std::string version : {"1", "2"}) {
    CAPTURE(version);
    CHECK(output_of({BRICKS_EXAMPLE, version, directories[0], directories[1]}) == wanted);
  }
}

TEST_CASE("section 3: however its all-to-all is cut, the same code gives the same") {
  const std::string alone = output_of({CUTS_APP, "none"});
  CHECK(lines_of(alone).size() == 31);
  for (const Cut& cut : cuts) {
    CAPTURE(cut.how);
    CHECK(output_of_cut(cut, "tcp") == alone);
  }
}

TEST_CASE("section 3, Fig. 5: what the file sets changes speed and nothing else") {
  const std::string alone = output_of({CUTS_APP, "none"});
  const Cut& cut = cuts[2];
  for (const std::string settings :
       {"", ", \"batchSize\": 1", ", \"batchSize\": 1000, \"messageOTF\": 1",
        ", \"internalMessageOTF\": 16"}) {
    CAPTURE(settings);
    CHECK(output_of_cut(cut, "shm", settings) == alone);
  }
}

TEST_CASE("section 4, (a): a program of the shared memory is ported to processes as it is") {
  const std::string alone = output_of({CUTS_APP, "none"});
  for (const std::string transport : {"tcp", "shm"}) {
    CAPTURE(transport);
    CHECK(output_of({PIRACEMA_COMMAND, "run", "--quiet", "-n", "3", "--transport", transport,
                     CUTS_APP, "none"}) == alone);
  }
}
