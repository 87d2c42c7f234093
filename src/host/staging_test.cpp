#include "host/staging.h"

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/testing.h"

using namespace piracema;
using namespace piracema::cluster;

namespace {

struct Folder {
  testing::ScratchDirectory scratch;

  std::string write(const std::string& name, const std::string& text, bool executable = true) {
    const std::string path = scratch.path() + "/" + name;
    std::ofstream(path) << text;
    std::filesystem::permissions(
        path, executable ? std::filesystem::perms::owner_all : std::filesystem::perms::owner_read);
    return path;
  }
  /// What sh prints when it reads this; temporary files are made in `tmp`.
  std::string run(const std::string& input) {
    std::filesystem::create_directory(scratch.path() + "/tmp");
    const std::string file = write("input", input, false);
    const std::string command = "TMPDIR='" + scratch.path() + "/tmp' sh <'" + file + "' 2>&1";
    FILE* shell = ::popen(command.c_str(), "r");
    REQUIRE(shell != nullptr);
    std::string output;
    char some[256];
    while (std::fgets(some, sizeof some, shell) != nullptr) output += some;
    ::pclose(shell);
    CHECK(std::filesystem::is_empty(scratch.path() + "/tmp"));
    return output;
  }
};

StagedFile describe(const std::string& path) {
  const auto file = describe_file(path);
  REQUIRE(file.ok());
  return *file;
}

}  // namespace

TEST_CASE("a host that has the files starts the agent where it is told to") {
  Folder folder;
  const std::string agent = folder.write("an agent's", "#!/bin/sh\necho \"$1 $2 in $PWD\"\n");
  const std::string program = folder.write("program", "whatever");
  const Staging staging({describe(agent), describe(program)}, folder.scratch.path());
  CHECK(folder.run(staging.script()) ==
        "piracema: here\nagent " + program + " in " + folder.scratch.path() + "\n");
}

TEST_CASE("a host that lacks a file asks for it, and has removed it in the end") {
  Folder folder;
  const std::string text = "#!/bin/sh\necho \"$2\"; cat \"$2\"\n";
  const std::string agent = folder.write("agent", text);
  const std::string program = folder.write("program", "what it is\n");
  StagedFile missing = describe(program);
  missing.path = "/nowhere/program";
  const Staging staging({describe(agent), missing}, "/nowhere");
  // A shell may read ahead; it is given the rest when it has asked, and so from a pipe.
  const std::string output =
      folder.run("sh -c " + shell_quoted(staging.script()) + " <" + shell_quoted(program) + "\n");
  CHECK(output.starts_with("piracema: here\npiracema: want 1\n"));
  CHECK(output.ends_with("1-program\nwhat it is\n"));
}

TEST_CASE("a command of other words is run with them, in its directory and its environment") {
  Folder folder;
  const std::string command =
      folder.write("command", "#!/bin/sh\nprintf '%s|' \"$@\" \"$ODD\" \"$PWD\"\n");
  const std::string program = folder.write("program", "whatever");
  StagedCommand run{.words = {"run", "it's $HOME", "", "out"},
                    .program = 2,
                    .environment = {"ODD=`id` 'x'"},
                    .wants_directory = true};
  const std::vector<StagedFile> files{describe(command), describe(program)};
  CHECK(folder.run(Staging(files, folder.scratch.path(), run).script()) ==
        "piracema: here\nrun|it's $HOME|" + program + "|out|`id` 'x'|" + folder.scratch.path() +
            "|");
  CHECK(folder.run(Staging(files, "/no where", run).script()) ==
        "piracema: here\npiracema: failed want the directory /no where\n");
}

TEST_CASE("a file that arrives damaged is not run") {
  Folder folder;
  const std::string agent = folder.write("agent", "#!/bin/sh\necho no\n");
  StagedFile other = describe(agent);
  other.digest.back() = other.digest.back() == '0' ? '1' : '0';
  const Staging staging({other}, "/");
  CHECK(folder.run("sh -c " + shell_quoted(staging.script()) + " <" + shell_quoted(agent) + "\n") ==
        "piracema: here\npiracema: want 0\npiracema: failed " + agent + " did not arrive whole\n");
}

TEST_CASE("lines of others are passed by, and those that nobody of ours says are errors") {
  const Staging staging({{.path = "/a"}, {.path = "/b"}}, "/");
  CHECK_FALSE(staging.line("Welcome to the machine")->has_value());
  CHECK_FALSE(staging.line("")->has_value());
  CHECK(staging.line("piracema: here")->value().what == Staging::Next::here);
  CHECK(staging.line("piracema: want 1")->value().file_number == 1);
  CHECK(staging.line(Staging::started_says)->value().what == Staging::Next::started);
  CHECK(staging.line("piracema: failed mktemp").error().message == "mktemp");
  CHECK_FALSE(staging.line("piracema: want 2").ok());
  CHECK_FALSE(staging.line("piracema: want 1x").ok());
  CHECK_FALSE(staging.line("piracema: give").ok());
}

TEST_CASE("a quoted word is one word, whatever is in it") {
  Folder folder;
  CHECK(folder.run("printf '%s|' " + shell_quoted("it's $HOME; `id` \\ \"x\"") + "\n") ==
        "it's $HOME; `id` \\ \"x\"|");
}
