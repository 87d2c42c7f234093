#include <piracema/run.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/parse.h"
#include "base/refused_writes.h"
#include "base/standard_fds.h"
#include "base/text.h"
#include "cluster/embedded.h"
#include "cluster/ranks.h"
#include "cluster/worker_environment.h"
#include "cluster/worker_process.h"
#include "control/messages/control.h"

namespace piracema {

namespace {

constexpr std::uint32_t threads_max = 4096;

/// Which neighbours share a thread, beside those that are combined.
enum class Fusion { none, cheap, all };

int refuse(const Error& error) {
  log(Level::error, error.message);
  return 3;
}

// Whoever asks for the graph, and perhaps for its groups, wants nothing else.
int write_to(const char* variable, std::string_view fd_text, const std::string& text) {
  const auto fd = parse_number<int>(fd_text);
  if (!fd) {
    return refuse({Errc::config, concat(variable, ": want a descriptor, found '", fd_text, "'")});
  }
  if (::write(*fd, text.data(), text.size()) == static_cast<ssize_t>(text.size())) return 0;
  return refuse({Errc::config, with_errno(concat(variable, ": descriptor ", *fd))});
}

bool is_set(const char* value) { return value != nullptr && *value != '\0'; }

std::string text_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

// What the environment says goes before what the program says, but for the snapshots.
Result<RunOptions> with_environment(RunOptions options) {
  if (options.snapshots.empty()) options.snapshots = text_of("PIRACEMA_SNAPSHOTS");
  if (const std::string text = text_of("PIRACEMA_THREADS"); !text.empty()) {
    options.threads = parse_number<std::uint32_t>(text).value_or(0);
    if (options.threads == 0) {
      return Error{Errc::config,
                   concat("PIRACEMA_THREADS: want a number from 1, found '", text, "'")};
    }
  }
  if (options.threads > threads_max) {
    return Error{Errc::config,
                 concat("threads: want at most ", threads_max, ", found ", options.threads)};
  }
  if (const std::string text = text_of("PIRACEMA_CYCLE_BYTES"); !text.empty()) {
    const auto bytes = parse_bytes(text);
    if (!bytes) return Error{Errc::config, concat("PIRACEMA_CYCLE_BYTES: ", bytes.error().message)};
    options.cycle_bytes = *bytes;
  }
  if (const std::string text = text_of("PIRACEMA_STATE_DIRECTORY"); !text.empty()) {
    options.state_directory = text;
  }
  if (const std::string text = text_of("PIRACEMA_STATE_MEMORY"); !text.empty()) {
    const auto bytes = parse_bytes(text);
    if (!bytes) {
      return Error{Errc::config, concat("PIRACEMA_STATE_MEMORY: ", bytes.error().message)};
    }
    options.state_memory = *bytes;
  }
  if (const std::string text = text_of("PIRACEMA_HTTP"); !text.empty()) options.http = text;
  if (const std::string text = text_of("PIRACEMA_HTTP_TOKEN"); !text.empty()) {
    options.http_token = text;
  }
  return options;
}

// All processes of a job have to do the same, so that this may depend on nothing but the program
// and what `piracema run` hands on to all of them.
Result<Fusion> fusion_of(const RunOptions& options) {
  const std::string text = text_of("PIRACEMA_FUSE");
  if (text.empty()) return options.fuse ? Fusion::all : Fusion::cheap;
  if (text == "all") return Fusion::all;
  if (text == "cheap") return Fusion::cheap;
  if (text == "none") return Fusion::none;
  return Error{Errc::config,
               concat("PIRACEMA_FUSE: want 'all', 'cheap' or 'none', found '", text, "'")};
}

}  // namespace

int run(const Graph& program, const RunOptions& wanted) {
  fill_standard_fds();
  refuse_large_writes();
  if (auto valid = validate(program.shape); !valid) return refuse(valid.error());
  const auto fusion = fusion_of(wanted);
  if (!fusion) return refuse(fusion.error());
  Graph graph = program;
  // What is combined has lost the names that groups are made of.
  if (*fusion == Fusion::cheap && graph.groups.empty()) combine_cheap(graph.shape);
  const char* groups_fd = std::getenv("PIRACEMA_GROUPS_FD");
  if (is_set(groups_fd)) {
    const std::string groups = runtime::encode_cut({graph.groups, runtime::costs_of(graph.shape)});
    if (const int code = write_to("PIRACEMA_GROUPS_FD", groups_fd, groups); code != 0) return code;
  }
  const char* graph_fd = std::getenv("PIRACEMA_GRAPH_FD");
  if (is_set(graph_fd)) {
    return write_to("PIRACEMA_GRAPH_FD", graph_fd, runtime::encode_shape(graph.shape));
  }
  auto environment = cluster::worker_environment();
  if (!environment) return refuse(environment.error());
  const auto options = with_environment(wanted);
  if (!options) return refuse(options.error());
  const auto fused = fuse(graph, *fusion == Fusion::all);
  if (!fused) return refuse(fused.error());
  if (*environment) {
    (*environment)->threads = options->threads;
    (*environment)->cycle_bytes = options->cycle_bytes;
    (*environment)->state_directory = options->state_directory;
    (*environment)->state_memory = options->state_memory;
    // Its standard error may lead by a remote shell that ends with a coordinator, which it
    // outlives.
    if ((*environment)->coordinator_wait.count() != 0) refuse_writes_to_nobody();
  }
  if (*environment && (*environment)->by_mpi) return cluster::run_rank(*fused, **environment);
  if (*environment) return cluster::run_worker(*fused, **environment).code;
  if (cluster::is_one_of_many_ranks()) return cluster::run_ranks(*fused, *options);
  return cluster::run_embedded(*fused, *options);
}

}  // namespace piracema
