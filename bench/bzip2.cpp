// Compression of real text: beside plain threads, which are this machine's limit, beside the
// hand-written MPI twin, and with snapshots beside without.
//
// Every output is checked: the first one by the system's bunzip2, the others against that one,
// as all three programs cut the file at the same places.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/text.h"
#include "bench/bzip2_limit.h"
#include "bench/common/arguments.h"
#include "bench/common/harness.h"
#include "bench/common/text_corpus.h"

using namespace piracema;
using namespace piracema::bench;
namespace fs = std::filesystem;

namespace {

// The commands that are compared; words in braces are filled in from the options.
const std::string twin = "{mpirun} -n {ranks} {twin} {in} {out}";
const std::string ours =
    "{piracema} run --quiet -n {processes} {app} --workers {workers} {in} {out}";
const std::string ours_with_snapshots =
    "{piracema} run --quiet -n {processes} --snapshots {snapshots} --every 1s "
    "{app} --workers {workers} {in} {out}";

struct Options {
  Settings settings;
  std::string size = "200M";
  std::string directory = (fs::temp_directory_path() / "piracema-bench").string();
  std::vector<unsigned> workers{2, 4};
  /// 0: as many as there are workers.
  unsigned processes = 0;
  std::string mpirun = "mpirun --oversubscribe --mca pml ob1 --mca btl vader,self";
  std::string twin, piracema, app;
  bool only_limit = false, only_snapshots = false;

  fs::path in() const { return fs::path(directory) / ("text-" + size); }
  fs::path out() const { return fs::path(directory) / "out.bz2"; }
  fs::path right() const { return fs::path(directory) / "right.bz2"; }
  fs::path snapshots() const { return fs::path(directory) / "snapshots"; }
};

// Next to this program, as the build puts them.
std::string built(const char* name) {
  std::error_code ignored;
  return (fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path() / name).string();
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::vector<std::string> fill_in(const std::string& line, const Options& options,
                                 unsigned workers) {
  const unsigned processes = options.processes != 0 ? options.processes : workers;
  const std::map<std::string, std::vector<std::string>> values{
      {"{mpirun}", words_of(options.mpirun)},
      {"{ranks}", {std::to_string(workers + 2)}},
      {"{workers}", {std::to_string(workers)}},
      {"{processes}", {std::to_string(processes)}},
      {"{twin}", {options.twin}},
      {"{piracema}", {options.piracema}},
      {"{app}", {options.app}},
      {"{in}", {options.in()}},
      {"{out}", {options.out()}},
      {"{snapshots}", {options.snapshots()}},
  };
  std::vector<std::string> command;
  for (const std::string& word : words_of(line)) {
    const auto value = values.find(word);
    if (value == values.end()) {
      command.push_back(word);
    } else {
      command.insert(command.end(), value->second.begin(), value->second.end());
    }
  }
  return command;
}

Result<Done> must_succeed(const std::string& what, const std::vector<std::string>& command) {
  std::string last_words;
  const auto sample = run_command(command, {.last_words = &last_words});
  if (!sample) return sample.error();
  if (sample->exit_code != 0) return Error{Errc::failed, concat(what, ": ", last_words)};
  return Done{};
}

Result<Done> check_output(const Options& options) {
  if (fs::exists(options.right())) {
    return must_succeed("the output differs from that of the first run",
                        {"cmp", options.out(), options.right()});
  }
  auto checked = must_succeed(
      "what bunzip2 makes of the output is not the input",
      {"sh", "-c", "bunzip2 -c \"$1\" | cmp - \"$2\"", "sh", options.out(), options.in()});
  if (checked) fs::rename(options.out(), options.right());
  return checked;
}

Side side(std::string name, const std::string& line, const Options& options, unsigned workers) {
  Side made = command_side(std::move(name), fill_in(line, options, workers));
  made.prepare = [&options]() -> Result<Done> {
    fs::remove(options.out());
    fs::remove_all(options.snapshots());
    return Done{};
  };
  made.check = [&options] { return check_output(options); };
  return made;
}

Result<Done> make_input(const Options& options) {
  const auto size = parse_size(options.size);
  if (!size) return size.error();
  fs::create_directories(options.directory);
  fs::remove(options.right());
  if (fs::exists(options.in()) && fs::file_size(options.in()) == *size) return Done{};
  fs::remove(options.in());
  const auto corpus = write_text(*size, options.in());
  if (!corpus) return corpus.error();
  if (corpus->distinct_bytes < *size) {
    std::fprintf(stderr, "note: this machine has %s of text; the input repeats it\n",
                 human_bytes(static_cast<double>(corpus->distinct_bytes)).c_str());
  }
  return Done{};
}

// All sides of one number of workers in one rotation: plain threads, twin, ours, ours with
// snapshots.
Result<std::vector<Comparison>> compare_with(const Options& options, unsigned workers) {
  const std::string title = concat("bzip2, ", options.size, " of text, ", workers, " workers");
  const Side limit =
      function_side("plain threads, no output", [&] { compress_and_drop(options.in(), workers); });
  const Side mpi = side("MPI twin", twin, options, workers);
  const Side without = side("piracema", ours, options, workers);
  const Side with = side("snapshot each second", ours_with_snapshots, options, workers);

  // Each is compared with ours, which is the last but for our own snapshots.
  std::vector<Side> sides{limit, mpi, without, with};
  if (options.only_limit) sides = {limit, without};
  if (options.only_snapshots) sides = {without, with};
  const auto tracks = rotate(sides, options.settings);
  if (!tracks) return tracks.error();
  std::vector<Comparison> comparisons;
  const auto is_ours = std::ranges::find(*tracks, without.name, &Track::name);
  for (auto other = tracks->begin(); other != tracks->end(); ++other) {
    if (other < is_ours) comparisons.push_back(compare(title, *other, *is_ours));
    if (other > is_ours) comparisons.push_back(compare(title, *is_ours, *other));
  }
  return comparisons;
}

Result<std::vector<Comparison>> compare_all(const Options& options) {
  if (auto made = make_input(options); !made) return made.error();
  std::vector<Comparison> comparisons;
  for (const unsigned workers : options.workers) {
    const auto some = compare_with(options, workers);
    if (!some) return some.error();
    for (const Comparison& comparison : *some) {
      if (!options.settings.json) std::printf("\n%s", to_text(comparison).c_str());
      comparisons.push_back(comparison);
    }
    std::fflush(stdout);
  }
  return comparisons;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  options.twin = built("apps/bzip2/bzip2_mpi");
  options.app = built("apps/bzip2/bzip2_app");
  options.piracema = built("tools/piracema");
  if (::geteuid() == 0) options.mpirun += " --allow-run-as-root";

  Arguments arguments(
      "Compresses text with Piracema, in turns with its MPI twin, and with snapshots.");
  add_options(arguments, options.settings);
  arguments.text("--size", options.size, "Bytes of text, as 200M");
  arguments.text("--directory", options.directory, "Where input and outputs go");
  arguments.numbers("--workers", options.workers, "Numbers of workers", {1, 256});
  arguments.number("--processes", options.processes,
                   "For piracema run -n; as many as workers if 0");
  arguments.text("--mpirun", options.mpirun, "How MPI programs are started");
  arguments.text("--twin", options.twin, "The MPI program");
  arguments.text("--app", options.app, "The Piracema program");
  arguments.text("--piracema", options.piracema, "The command");
  arguments.flag("--only-limit", options.only_limit, "Compare with plain threads alone");
  arguments.flag("--only-snapshots", options.only_snapshots, "Compare with snapshots alone");
  arguments.exclude("--only-snapshots", "--only-limit");
  if (const auto code = arguments.parse(argc, argv)) return *code;

  const Machine machine = this_machine();
  if (!options.settings.json) std::printf("%s\n", to_text(machine).c_str());
  if (machine.load > 0.5) {
    std::fprintf(stderr, "note: the machine is busy (load %.1f): believe no figure\n",
                 machine.load);
  }
  try {
    const auto comparisons = compare_all(options);
    if (!comparisons) {
      std::fprintf(stderr, "bench_bzip2: %s\n", comparisons.error().message.c_str());
      return comparisons.error().code == Errc::usage ? 2 : 1;
    }
    if (options.settings.json) std::puts(to_json(machine, *comparisons).dump(2).c_str());
  } catch (const fs::filesystem_error& error) {
    std::fprintf(stderr, "bench_bzip2: %s\n", error.what());
    return 1;
  }
  return 0;
}
