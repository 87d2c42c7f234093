#include "base/log.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "base/captured_log.h"
#include "base/hint.h"
#include "base/json_text.h"
#include "base/text.h"

using namespace piracema;

namespace {

/// The log is the process's: it is as before when this ends.
class InFormat {
 public:
  explicit InFormat(LogFormat format) { set_log_format(format); }
  ~InFormat() {
    set_log_format(LogFormat::brief);
    set_log_process("");
    (void)set_log_directory("");
  }
};

std::string field(const std::string& line, std::string_view name) {
  const auto value = cluster::parse_json(line);
  REQUIRE(value);
  for (const auto& member : std::get<cluster::JsonValue::Object>(value->value)) {
    if (member.name != name) continue;
    const auto* text = std::get_if<std::string>(&member.value.value);
    return text != nullptr ? *text : member.value.kind();
  }
  return "";
}

std::string everything_in(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Directory {
 public:
  Directory() {
    char name[] = "/tmp/piracema-log-XXXXXX";
    REQUIRE(::mkdtemp(name) != nullptr);
    path_ = name;
  }
  ~Directory() { std::filesystem::remove_all(path_); }
  std::filesystem::path path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("lines are brief: who speaks, and a word for what is not as it should be") {
  CapturedLog captured;
  const InFormat brief(LogFormat::brief);
  log(Level::info, "begins");
  set_log_process("worker 2");
  log(Level::warning, "is slow");
  CHECK(captured.end() == "piracema: begins\npiracema worker 2: warning: is slow\n");
}

TEST_CASE("a level is found by its name") {
  for (const Level level : {Level::debug, Level::info, Level::warning, Level::error}) {
    CHECK(level_named(name_of(level)) == level);
  }
  CHECK(level_named("Warning") == std::nullopt);
  CHECK(level_named("") == std::nullopt);
}

TEST_CASE("lines of text begin with the time and have their level") {
  CapturedLog captured;
  const InFormat text(LogFormat::text);
  set_log_process("node a");
  log(Level::info, "begins");
  const std::regex line(
      R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z piracema node a: info: begins\n)");
  CHECK(std::regex_match(captured.end(), line));
}

TEST_CASE("a line of JSON has time, level, process, message and hint, each by itself") {
  CapturedLog captured;
  const InFormat json(LogFormat::json);
  set_log_process("worker 2");
  log(Level::error, with_hint("no room", "make some"));
  const std::string line = captured.end();
  CHECK(std::regex_match(field(line, "time"),
                         std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)")));
  CHECK(field(line, "level") == "error");
  CHECK(field(line, "process") == "worker 2");
  CHECK(field(line, "pid") == "a number");
  CHECK(!field(line, "host").empty());
  CHECK(field(line, "message") == "no room");
  CHECK(field(line, "hint") == "make some");
}

TEST_CASE("a line of JSON without a hint has no such field") {
  CapturedLog captured;
  const InFormat json(LogFormat::json);
  log(Level::info, "begins");
  const std::string line = captured.end();
  CHECK(field(line, "process") == "piracema");
  CHECK(line.find("hint") == line.npos);
}

TEST_CASE("whatever bytes a message has, its line of JSON is one line and can be read") {
  CapturedLog captured;
  const InFormat json(LogFormat::json);
  log(Level::warning, "bad \xff\n\"name\"");
  const std::string line = captured.end();
  CHECK(line.find('\n') == line.size() - 1);
  CHECK(field(line, "message") == "bad \\xff\n\"name\"");
}

TEST_CASE("a progress line is not drawn among lines of JSON") {
  CapturedLog captured;
  const InFormat json(LogFormat::json);
  set_status_line("12 %");
  CHECK(captured.end().empty());
}

TEST_CASE("a directory gets a file for each process, with times, that goes on where it was") {
  const Directory directory;
  CapturedLog captured;
  const InFormat brief(LogFormat::brief);
  for (int run = 0; run < 2; ++run) {
    REQUIRE(set_log_directory((directory.path() / "logs").string()));
    log(Level::info, "first");
    set_log_process("worker 2");
    log(Level::info, "second");
    set_log_process("");
  }
  CHECK(captured.end().find("piracema: first\n") == 0);
  std::vector<std::string> files;
  for (const auto& file : std::filesystem::directory_iterator(directory.path() / "logs")) {
    files.push_back(file.path().filename().string());
    const bool worker = files.back().ends_with(".worker-2.log");
    CHECK((worker || files.back().ends_with(".piracema.log")));
    const std::string text = everything_in(file.path());
    const std::string message = worker ? "info: second\n" : "info: first\n";
    CHECK(text.find(message) != text.npos);
    CHECK(text.find(message) != text.rfind(message));
    CHECK(text.find("Z piracema") != text.npos);
  }
  CHECK(files.size() == 2);
}

TEST_CASE("a disk that is full is said once, and in the file how many lines are missing") {
  const Directory directory;
  CapturedLog captured;
  const InFormat json(LogFormat::json);
  const auto logs = directory.path() / "logs";
  REQUIRE(set_log_directory(logs.string()));
  log(Level::info, "first");
  // As one that is full, it takes no line.
  std::filesystem::remove_all(logs);
  log(Level::info, "lost");
  log(Level::info, "lost as well");
  std::filesystem::create_directory(logs);
  log(Level::info, "again");
  const std::string said = captured.end();
  const std::size_t once = said.find("cannot write a log there");
  CHECK(once != said.npos);
  CHECK(said.find("cannot write a log there", once + 1) == said.npos);
  const std::filesystem::directory_iterator files(logs);
  const std::string text = everything_in(files->path());
  CHECK(text.find("2 lines before this one could not be written") != text.npos);
  CHECK(text.find("again") != text.npos);
  CHECK(std::count(text.begin(), text.end(), '\n') == 2);
}

TEST_CASE("a file of the log has the size that the variable says, and one before it") {
  const Directory directory;
  CapturedLog captured;
  const InFormat text(LogFormat::text);
  use_log_environment({"PIRACEMA_LOG_FILE_SIZE=1000"});
  REQUIRE(set_log_directory((directory.path() / "logs").string()));
  for (int i = 0; i < 100; ++i) log(Level::info, "a line of the log");
  captured.end();
  std::size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(directory.path() / "logs")) {
    files += 1;
    CHECK(file.file_size() <= 1'000);
  }
  CHECK(files == 2);
  use_log_environment({"PIRACEMA_LOG_FILE_SIZE="});
}

TEST_CASE("a directory where no log can be written is refused by name") {
  const Directory directory;
  std::ofstream(directory.path() / "file") << "x";
  const auto done = set_log_directory((directory.path() / "file" / "logs").string());
  REQUIRE(!done);
  CHECK(done.error().message.find("/file/logs: cannot write a log there: ") != std::string::npos);
  CHECK(set_log_directory(""));
}

TEST_CASE("what one process was told of its log another one takes from its variables") {
  CapturedLog captured;
  const InFormat brief(LogFormat::brief);
  set_log_format(LogFormat::json);
  const auto variables = log_environment();
  set_log_format(LogFormat::brief);
  use_log_environment(variables);
  CHECK(log_format() == LogFormat::json);
  use_log_environment({"PIRACEMA_LOG_FORMAT=", "PIRACEMA_LOG_FORMAT=other", "PIRACEMA_LOG_FORMAT"});
  CHECK(log_format() == LogFormat::json);
  captured.end();
}
