// live_app OUT: lines "MILLISECONDS WORD" that are written to FILE.0 and FILE.1, where FILE is
// lines, as they come, until a line "end" in each. For each word and each 200 ms how many there
// were, as soon as that is known, and those that came too late or say that they are to come.
#include <piracema/piracema.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <string>

#include "options.h"

using namespace piracema;
using namespace std::chrono_literals;

namespace {

/// The lines of a file that grows.
struct Follow {
  std::string path = "lines.";
  std::int64_t read = 0;

  void start(const Context& context) { path += std::to_string(context.replica); }
  Poll<std::string> operator()() {
    std::ifstream file(path);
    std::string line;
    // A line that has no end yet is still being written.
    if (!file.seekg(read) || !std::getline(file, line) || file.eof()) {
      return Poll<std::string>::nothing_yet();
    }
    read += static_cast<std::int64_t>(line.size()) + 1;
    return line == "end" ? Poll<std::string>::end() : line;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(read);
  }
};

EventTime time_of(const std::string& line) {
  return EventTime(std::chrono::milliseconds(std::stoll(line)));
}
std::string word_of(const std::string& line) { return line.substr(line.find(' ') + 1); }

std::string text_of(const WindowResult<std::string, std::int64_t>& window) {
  return window.key + " " + std::to_string(window.to.time_since_epoch() / 1ms) + ": " +
         std::to_string(window.value);
}
void count(const std::string&, std::int64_t& lines) { lines += 1; }

}  // namespace

int main(int argc, char** argv) {
  const Options options(argc, argv);
  return run(pipeline(
      combine(source("lines", Follow{}).replicas(2),
              event_time("times", time_of, 100ms, LiveTimes{.idle_after = 500ms}).replicas(2)),
      branches(pipeline(window("windows", 2, word_of, time_of, tumbling(200ms), count),
                        node("text", text_of)),
               node("late", [](const std::string& line) { return "late " + word_of(line); })),
      sink("write", LineSink{options.out()})));
}
