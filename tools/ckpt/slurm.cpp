#include "tools/ckpt/slurm.h"

#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <sstream>

#include "base/log.h"
#include "base/text.h"
#include "ckpt/image/job_directory.h"
#include "os/helper.h"
#include "store/disk/files.h"
#include "tools/ckpt/program.h"

namespace piracema::tools {

using namespace ckpt;

namespace {

// Slurm looks at its clock every now and then, and the job has to be put into the queue again
// while it still runs.
constexpr std::chrono::seconds before_the_end{5};

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

Result<std::string> ask_slurm(const std::vector<std::string>& command) {
  const auto end = run_helper(command);
  if (!end) return end.error();
  if (end->status == 0) return end->output;
  return Error{Errc::config, concat(command.front(), ": ", last_line(end->output))};
}

Result<SlurmJob> look_at(const std::string& id) {
  const auto text = ask_slurm({"scontrol", "show", "job", id, "-o"});
  if (!text) return text.error();
  return parse_slurm_job(*text);
}

// "n1=10.0.0.1,n2=10.0.0.2"; empty for one node, on which the program runs by itself.
Result<std::string> find_hosts() {
  const auto names =
      ask_slurm({"scontrol", "show", "hostnames", environment("SLURM_JOB_NODELIST")});
  if (!names) return names.error();
  std::istringstream lines(*names);
  std::string hosts;
  int count = 0;
  for (std::string name; lines >> name; ++count) {
    const auto node = ask_slurm({"scontrol", "show", "node", name, "-o"});
    if (!node) return node.error();
    hosts += concat(hosts.empty() ? "" : ",", name, "=", slurm_value(*node, "NodeAddr"));
  }
  return count > 1 ? hosts : std::string();
}

}  // namespace

int submit(const std::string& path, const std::vector<std::string>& options,
           const std::vector<std::string>& own, const std::vector<std::string>& program) {
  const auto fail = [](const Error& error) {
    log(Level::error, error.message);
    return 3;
  };
  auto directory = JobDirectory::open(path);
  if (!directory) return fail(directory.error());
  std::string script = concat("#!/bin/sh\nexec ", quoted(this_program()), " ckpt slurm --dir ",
                              quoted((*directory)->path()));
  for (const std::string& word : own) script += " " + quoted(word);
  script += " --";
  for (const std::string& word : program) script += " " + quoted(word);
  script += '\n';
  const std::string file = (*directory)->log_path() + "/slurm.sh";
  const Bytes piece = as_bytes(script);
  if (auto written = store::replace_file(file, {&piece, 1}); !written) return fail(written.error());
  ::chmod(file.c_str(), 0755);
  const std::string name = std::filesystem::path(program.front()).filename().string();
  std::vector<std::string> command = {"sbatch", "--requeue", "--open-mode=append",
                                      concat("--signal=B:USR1@", slurm_warning_seconds),
                                      "--job-name=" + name};
  command.insert(command.end(), options.begin(), options.end());
  command.push_back(file);
  const auto said = ask_slurm(command);
  if (!said) return fail(said.error());
  std::printf("%s", said->c_str());
  return 0;
}

Result<SlurmPlace> SlurmPlace::find() {
  SlurmPlace place;
  place.id_ = environment("SLURM_JOB_ID");
  if (place.id_.empty()) return Error{Errc::config, "this is no job of Slurm; see ckpt sbatch"};
  auto job = look_at(place.id_);
  if (!job) return job.error();
  if (job->ends == 0) return Error{Errc::config, "Slurm does not tell when this job ends"};
  place.job_ = *std::move(job);
  auto hosts = find_hosts();
  if (!hosts) return hosts.error();
  place.hosts_ = *std::move(hosts);
  return place;
}

void SlurmPlace::apply(RunSettings& settings) const {
  const Time closes = now() + std::chrono::seconds(job_.ends - std::time(nullptr));
  settings.window = [closes](Time at) {
    return at < closes ? std::optional(LentSpan{Time{}, closes}) : std::nullopt;
  };
  settings.window_from = "the end of the Slurm job";
  settings.keeper.windows = settings.keeper.once = settings.keeper.patient = true;
  settings.keeper.reserve = before_the_end;
  settings.warned = [*this] {
    const auto is = look_at(id_);
    return means_preemption(job_, is ? *is : SlurmJob{}, std::time(nullptr), slurm_warning_seconds);
  };
  // A capsule has no way to the scheduler, which an mpirun would ask.
  for (const char* one : {"OMPI_MCA_plm=rsh", "OMPI_MCA_ras=^slurm", "PRTE_MCA_plm=ssh",
                          "PRTE_MCA_ras=^slurm", "HYDRA_LAUNCHER=fork", "HYDRA_RMK=user"}) {
    const std::string text = one;
    const std::size_t equals = text.find('=');
    ::setenv(text.substr(0, equals).c_str(), text.substr(equals + 1).c_str(), 0);
  }
  if (!hosts_.empty()) ::unsetenv("HYDRA_LAUNCHER");
}

int SlurmPlace::after(int code) const {
  constexpr int stopped = 75;
  if (code != stopped) return code;
  const auto job = look_at(id_);
  if (!job || !is_to_be_requeued(*job)) return code;
  const auto done = ask_slurm({"scontrol", "requeue", id_});
  if (!done)
    log(Level::error, concat("cannot be put into the queue again: ", done.error().message));
  // Slurm ends this script.
  return code;
}

}  // namespace piracema::tools
