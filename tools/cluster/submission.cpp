#include "tools/cluster/submission.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/parse.h"
#include "base/text.h"
#include "jobs/protocol/operations.h"

namespace piracema::tools {

namespace {

// The first attempt begins, whatever lies there, or goes on from the newest snapshot (`--resume`);
// a later one goes on from that, if one was finished before the one before it was lost. On three
// nodes or more it has a coordinator on each of three, and goes on when the first node is lost or
// left: a command on another one joins it then. Where too few of them are left, they are waited for
// no longer than it takes to begin anew. Nodes of one machine cannot have one each.
constexpr const char* stream_script =
    "snapshots=$1 every=$2 workers=$3 resume=$4 changed=$5; shift 5\n"
    "if [ -n \"$PIRACEMA_JOIN\" ]; then\n"
    "  export PIRACEMA_LEAVE_WITH_HOST=true\n"
    "  exec piracema run --snapshots \"$snapshots\" --keep-workers 10s\n"
    "fi\n"
    "if [ \"${PIRACEMA_COORDINATORS:-1}\" -gt 1 ]; then\n"
    "  machines=$(sed 's/ .*//; s/.*=//' \"$PIRACEMA_HOSTFILE\" | "
    "grep -vE '^(127[.]|localhost$)' | sort -u | wc -l)\n"
    "  if [ \"$machines\" -lt \"$PIRACEMA_COORDINATORS\" ]; then\n"
    "    PIRACEMA_COORDINATORS=1\n"
    "  else\n"
    "    export PIRACEMA_LEAVE_WITH_HOST=true\n"
    "    export PIRACEMA_KEEP_WORKERS=\"${PIRACEMA_KEEP_WORKERS:-10s}\"\n"
    "  fi\n"
    "fi\n"
    "if [ \"$PIRACEMA_ATTEMPT\" != 1 ] && "
    "piracema snapshots --json \"$snapshots\" 2>/dev/null | grep -q '\"snapshot\"'; then\n"
    "  resume='--resume --keep-replicas'\n"
    "fi\n"
    "exec piracema run -n \"$workers\" --snapshots \"$snapshots\" --every \"$every\" $resume "
    "$changed \"$@\"";

// The same with images. A first attempt that is to begin is refused where another job has left
// some. An image is of the program as its user knows it, and serves nobody. Over several nodes the
// first has the job saved on all, and brings it to them by the cluster's own remote shell.
constexpr const char* images_script =
    "images=$1 every=$2 resume=$3; shift 3; unset PIRACEMA_HTTP_FILE\n"
    "if [ \"$PIRACEMA_ATTEMPT\" != 1 ] && "
    "piracema ckpt list --json --dir \"$images\" 2>/dev/null | grep -q '\"complete\":true'; then\n"
    "  resume=--resume\n"
    "fi\n"
    "ckpt() {\n"
    "  exec piracema ckpt \"$@\"\n"
    "}\n"
    "if [ -n \"$PIRACEMA_HOSTS\" ]; then\n"
    "  ckpt() {\n"
    "    word=$1; shift\n"
    "    exec piracema ckpt \"$word\" --hosts \"$PIRACEMA_HOSTS\" --rsh \"$PIRACEMA_RSH\" \"$@\"\n"
    "  }\n"
    "fi\n"
    "if [ -n \"$resume\" ]; then\n"
    "  ckpt resume --failed --dir \"$images\" ${every:+--every \"$every\"}\n"
    "fi\n"
    "ckpt run --dir \"$images\" ${every:+--every \"$every\"} -- \"$@\"";

// Of a stream, where it has as many nodes.
constexpr std::uint32_t coordinators = 3;

void wrap(std::vector<std::string>& command, std::vector<std::string> words) {
  words.insert(words.end(), command.begin(), command.end());
  command = std::move(words);
}

}  // namespace

Submission::Submission(CLI::App& submit) {
  submit.add_option("--name", spec_.name, "For people; default: the program's");
  submit.add_option("--nodes", spec_.nodes,
                    "So many nodes, all at once; the first runs PROGRAM; default: 1");
  submit.add_option("--slots", spec_.slots, "Places of each node that it takes; default: 1");
  auto* const stream =
      submit.add_flag("--stream", stream_,
                      "PROGRAM is a stream: run it with a worker for each slot of each\n"
                      "node, and go on from the last snapshot when it begins again");
  submit
      .add_option("--snapshots", snapshots_,
                  "Of a stream: the absolute path of a directory that all nodes see,\n"
                  "s3://BUCKET/PREFIX or webhdfs://HOST:PORT/PATH")
      ->needs(stream);
  submit
      .add_option("--images", images_,
                  "PROGRAM knows nothing of being saved: piracema ckpt saves it\n"
                  "there when it has to leave, and goes on with it elsewhere; an\n"
                  "absolute path that all nodes see. It wants nodes where piracema\n"
                  "ckpt doctor finds nothing missing. With --nodes: on all of them,\n"
                  "as mpirun finds them")
      ->excludes(stream);
  submit.add_option("--every", every_,
                    "Between two snapshots, default: 1s; between two images,\n"
                    "default: only when it has to leave");
  submit.add_flag("--resume", resume_,
                  "Go on from the newest snapshot, or image, that a job before it\n"
                  "has left there, such as one that was cancelled");
  submit.add_flag("--allow-changed-program", changed_program_,
                  "With --stream --resume: as of piracema run, for each attempt");
  submit.add_flag("--allow-changed-state", changed_state_, "The same");
  submit.add_option("--drop", dropped_, "The same; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->needs(submit.get_option("--allow-changed-program"));
  submit.add_option("--retries", spec_.retries,
                    "So often it is begun again when it fails; default: 0.\n"
                    "When its node is lost it is begun again anyway");
  submit.add_option("--env", spec_.environment, "NAME=value for it; may be repeated")
      ->allow_extra_args(false);
  submit.add_option("--cd", spec_.directory,
                    "Absolute path where it runs, which is made if need be; default: a\n"
                    "directory of its own on the node, or that of its images");
  submit.add_option("--on", spec_.node, "The only node that will do");
  submit.add_flag("--alike", alike_,
                  "Only on machines of one kind (`cluster node --kind`), at once and\n"
                  "when it begins again: of the same processor and libraries. With\n"
                  "--images: in any case");
  submit.add_option("PROGRAM", spec_.command, "What to run, and its words; behind --")->required();
}

Result<jobs::JobSpec> Submission::spec() const {
  jobs::JobSpec spec = spec_;
  if (spec.name.empty()) {
    spec.name = std::filesystem::path(spec.command.front()).filename().string();
    spec.name.resize(std::min(spec.name.size(), jobs::name_bytes_max));
    if (!jobs::check_name(spec.name)) spec.name = "job";
  }
  if (!every_.empty()) {
    if (!stream_ && images_.empty()) {
      return Error{Errc::usage, "want --every with --stream or --images, found neither"};
    }
    if (auto every = parse_duration(every_); !every) {
      return Error{Errc::usage, "--every: " + every.error().message};
    }
  }
  if (resume_ && !stream_ && images_.empty()) {
    return Error{Errc::usage, "want --resume with --stream or --images, found neither"};
  }
  if ((changed_program_ || changed_state_) && !(stream_ && resume_)) {
    return Error{Errc::usage,
                 "want --allow-changed-program, --allow-changed-state and --drop with "
                 "--stream and --resume"};
  }
  if (stream_) {
    if (auto made = make_stream(spec); !made) return made.error();
  }
  if (!images_.empty()) {
    if (auto made = make_saved(spec); !made) return made.error();
  }
  // A stream moves in no time, and its peers would miss it; a keeper has its job stand still.
  const bool says_how = std::ranges::any_of(spec.environment, [](const auto& variable) {
    return variable.starts_with("PIRACEMA_SUSPEND=");
  });
  if (stream_ && !says_how) spec.environment.emplace_back(jobs::never_suspended_variable);
  if (!images_.empty() && !says_how) {
    spec.environment.emplace_back(jobs::suspends_itself_variable);
  }
  if (alike_ || !images_.empty()) spec.environment.emplace_back(jobs::wants_alike_variable);
  if (auto right = jobs::check(spec); !right) return right.error();
  return spec;
}

Result<Done> Submission::make_stream(jobs::JobSpec& spec) const {
  if (snapshots_.empty()) {
    return Error{Errc::usage,
                 "want --snapshots DIR with --stream, which all nodes see, found none"};
  }
  // The job's own directory is another one wherever it begins again.
  const bool is_address = snapshots_.find("://") != std::string::npos;
  if (!snapshots_.starts_with('/') && !is_address && spec.directory.empty()) {
    return Error{Errc::usage, concat("--snapshots: want an absolute path or an address, or --cd, "
                                     "found '",
                                     snapshots_, "'")};
  }
  const auto changed = how_it_may_differ();
  if (!changed) return changed.error();
  wrap(spec.command,
       {"sh", "-c", stream_script, spec.name, snapshots_, every_.empty() ? "1s" : every_,
        std::to_string(std::uint64_t{spec.nodes} * spec.slots), resume_ ? "--resume" : "",
        *changed});
  if (spec.nodes > 1) spec.environment.emplace_back(jobs::follows_nodes_variable);
  const bool says_how_many = std::ranges::any_of(spec.environment, [](const auto& variable) {
    return variable.starts_with("PIRACEMA_COORDINATORS=");
  });
  if (spec.nodes >= coordinators && !says_how_many) {
    spec.environment.push_back(concat("PIRACEMA_COORDINATORS=", coordinators));
  }
  return Done{};
}

// Words of a shell: the same for each attempt, as the one before may have left no snapshot of its
// own.
Result<std::string> Submission::how_it_may_differ() const {
  std::string words = changed_program_ ? "--allow-changed-program" : "";
  if (changed_state_) words += " --allow-changed-state";
  for (const std::string& name : dropped_) {
    constexpr const char* letters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+";
    if (name.empty() || name[0] == '-' || name.find_first_not_of(letters) != name.npos) {
      return Error{Errc::usage, concat("--drop: want the name of an operator, found '", name, "'")};
    }
    words += " --drop " + name;
  }
  return words;
}

Result<Done> Submission::make_saved(jobs::JobSpec& spec) const {
  if (!images_.starts_with('/')) {
    return Error{Errc::usage, concat("--images: want an absolute path, found '", images_, "'")};
  }
  // A directory of the node's own would not be there where the job goes on.
  if (spec.directory.empty()) spec.directory = images_;
  wrap(spec.command,
       {"sh", "-c", images_script, spec.name, images_, every_, resume_ ? "--resume" : ""});
  return Done{};
}

}  // namespace piracema::tools
