#include "tools/ckpt/command.h"

#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string_view>

#include "base/log.h"
#include "base/text.h"
#include "ckpt/capsule/criu.h"
#include "ckpt/image/compression.h"
#include "ckpt/image/image_choice.h"
#include "ckpt/image/job_directory.h"
#include "ckpt/keeper/control.h"
#include "ckpt/keeper/keeper_loop.h"
#include "os/exit_code.h"
#include "tools/arguments.h"
#include "tools/ckpt/doctor.h"
#include "tools/ckpt/failure.h"
#include "tools/ckpt/images.h"
#include "tools/ckpt/program.h"
#include "tools/ckpt/slurm.h"
#include "tools/http_options.h"
#include "tools/lent_options.h"
#include "tools/log_options.h"
#include "tools/product.h"

namespace piracema::tools {

using namespace ckpt;

namespace {

constexpr const char* exit_codes =
    "Exit codes:\n"
    "  those of the program; 2 usage   3 configuration   4 no image is left to go on from\n"
    "  75 stopped with an image: go on with resume   130 ended by a second Ctrl-C\n";

int end_of(const Finish& finish, const std::string& directory, bool has_image) {
  switch (finish.end) {
    case End::job_ended:
      return exit_code_of_status(finish.status);
    case End::stopped:
      log(Level::info, has_image
                           ? concat("stopped; go on with: piracema ckpt resume --dir ", directory)
                           : "stopped, and there is no image: the same words begin it");
      return 75;
    case End::interrupted:
      log(Level::warning, finish.why);
      return 130;
    case End::failed:
      log(Level::error, finish.why);
      return 3;
    case End::lost:
      log(Level::error, finish.why);
      return 4;
  }
  return 3;
}

}  // namespace

CLI::App* CkptCommand::add(const std::string& name, const std::string& help,
                           const std::string& footer) {
  CLI::App* const app = ckpt_->add_subcommand(name, help);
  app->footer(footer);
  if (name != "doctor") {
    app->add_option("--dir", directory_, "Directory of the job: its images and its output")
        ->required();
  }
  return app;
}

void CkptCommand::add_running(CLI::App& app) {
  app.add_option("--every", every_,
                 "Time between two images, such as 10m; default: only when asked");
  app.add_option("--keep", keep_, "Images to keep; default: 2")->check(CLI::Range(1, 1'000));
  app.add_option("--criu", criu_, "The criu to use, 4.2 or later; default: PIRACEMA_CRIU, PATH");
  app.add_option("--hosts", hosts_,
                 "Hosts that it runs on, such as a,b: the first one runs the\nprogram; "
                 "default: this one, or those it was saved on");
  app.add_option("--rsh", rsh_,
                 "Command that reaches a host, such as ssh or srun -w;\ndefault: ssh");
  app.add_option("--local", local_,
                 "Directory on a disk of this node's own: images are written\nthere first, and "
                 "copied to --dir while the program runs on;\ndefault: as before; none: to --dir");
  add_preparation_options(app, preparation_);
  app.add_flag("--compress", compress_,
               "Images take less room, and longer on a fast disk;\nwants zstd");
  app.add_flag("--quiet", quiet_, "Only warnings and errors");
  add_log_options(app);
}

void CkptCommand::add_partner(CLI::App& app) {
  app.add_option(
      "--partner", partner_,
      "HOST:DIR, a directory on a disk of another host's own: it has\na copy of what "
      "--local has and --dir has not yet, in case\nthis host is lost; default: as before; "
      "none: no copy");
}

void CkptCommand::add_windows(CLI::App& app) {
  app.add_option("--until", windows_.until, "The machine is lent until then: 06:00");
  app.add_option("--for", windows_.during,
                 "The machine is lent for so long: 2h, 70s; with --until\nuntil the earlier one");
  app.add_option("--windows", windows_.file, "File of windows: lines of DAYS FROM TO [HOSTS]");
  app.add_option("--risk", windows_.risk,
                 "Percent of windows that may close before the job is\nsaved; default: 1");
}

CkptCommand::CkptCommand(CLI::App& app) {
  ckpt_ = app.add_subcommand("ckpt", product_help("ckpt"));
  ckpt_->require_subcommand(1);
  const std::string footer = concat(
      "Examples:\n"
      "  piracema ckpt doctor\n"
      "  piracema ckpt run --dir /var/tmp/job -- mpirun -n 4 ./app\n"
      "  piracema ckpt stop --dir /var/tmp/job\n"
      "  piracema ckpt resume --dir /var/tmp/job\n\n",
      std::string_view(exit_codes));
  ckpt_->footer(footer);
  run_ = add("run", "Run a program so that it can be saved: -- PROGRAM ARGS...", footer);
  add_running(*run_);
  add_partner(*run_);
  add_http_options(*run_, "the job", http_, http_token_);
  resume_ = add("resume", "Go on from the newest good image", footer);
  add_running(*resume_);
  add_partner(*resume_);
  add_http_options(*resume_, "the job", http_, http_token_);
  resume_->add_flag("--failed", failed_,
                    "Also if the program has ended with another status than 0:\n"
                    "go on from before that; by one image more if it has failed\n"
                    "from the newest before there was another");
  resume_->add_option("--image", image_,
                      "Go on from image N, whatever has become of the program; newer\n"
                      "ones are passed by, and go when another one is complete");
  window_ = add("window", "Run while the machine is lent; hand it back in time: -- PROGRAM ARGS...",
                footer);
  add_running(*window_);
  add_partner(*window_);
  add_http_options(*window_, "the job", http_, http_token_);
  add_windows(*window_);
  sbatch_ = add("sbatch",
                "Submit a job to Slurm that saves itself before its time is over or\n"
                "it is preempted, and goes on later: [SBATCH OPTIONS] -- PROGRAM ARGS...",
                footer);
  add_running(*sbatch_);
  add_http_options(*sbatch_, "the job", http_, http_token_);
  sbatch_->add_option("--risk", windows_.risk, "As for window");
  sbatch_->allow_extras();
  slurm_ = add("slurm", "What sbatch has Slurm run", footer);
  slurm_->group("");
  add_running(*slurm_);
  add_http_options(*slurm_, "the job", http_, http_token_);
  slurm_->add_option("--risk", windows_.risk, "As for window");
  plan_ = add("plan", "Say when the last checkpoint of a window is to begin, and why", footer);
  add_windows(*plan_);
  plan_->add_flag("--json", json_, "As JSON");
  save_ = add("save", "Make an image; the program goes on", footer);
  stop_ = add("stop", "Make an image and end the program", footer);
  list_ = add("list", "List the images", footer);
  list_->add_flag("--json", json_, "As JSON");
  verify_ = add("verify", "Read every byte of all images; exit code 1 if one is damaged", footer);
  prune_ = add("prune", "Drop all but the newest images", footer);
  prune_->add_option("--keep", keep_, "Images to keep; default: 2")->check(CLI::Range(1, 1'000));
  doctor_ =
      add("doctor", "Say what this machine lacks, and how to get it; exit code 1 then", footer);
  doctor_->add_option("--criu", criu_, "The criu to use");
  doctor_->add_flag("--json", json_, "As JSON");
  daemon_ = std::make_unique<CkptDaemon>(*ckpt_);
}

int CkptCommand::take_program(int argc, char** argv) {
  char** const end = argv + argc;
  char** const at = std::find(argv, end, std::string_view("--"));
  if (at != end) program_.assign(at + 1, end);
  return static_cast<int>(at - argv);
}

int CkptCommand::run() {
  if (run_->parsed()) return start();
  if (resume_->parsed()) return resume();
  if (window_->parsed()) return window();
  if (sbatch_->parsed()) return submit_to_slurm();
  if (slurm_->parsed()) return slurm();
  if (plan_->parsed()) return show_plan(directory_, windows_, json_);
  if (save_->parsed()) return ask("save");
  if (stop_->parsed()) return ask("stop");
  if (list_->parsed()) return list_images(directory_, json_);
  if (verify_->parsed()) return verify_images(directory_);
  if (prune_->parsed()) return prune_images(directory_, keep_);
  if (const auto code = daemon_->run(program_)) return *code;
  return show_doctor(criu_, json_);
}

// Before anything is done to a job: an address that cannot be had is found out first.
Result<std::unique_ptr<KeeperPage>> CkptCommand::open_page() const {
  if (http_.empty()) return std::unique_ptr<KeeperPage>();
  return KeeperPage::start({.address = http_, .token_file = http_token_});
}

// Nobody sees what a job of Slurm says: where it is shown stands in a file of its directory. A node
// where that cannot be is no reason not to run there.
std::unique_ptr<KeeperPage> CkptCommand::open_page_of_slurm() const {
  if (http_.empty()) return nullptr;
  const auto directory = JobDirectory::look(directory_);
  const std::string file = directory ? (*directory)->log_path() + "/http" : "";
  auto page =
      KeeperPage::start({.address = http_, .token_file = http_token_, .address_file = file});
  if (page) return *std::move(page);
  log(Level::warning, concat("nothing is shown of this job: ", page.error().message));
  return nullptr;
}

Result<RunSettings> CkptCommand::settings() const {
  auto settings = run_settings(criu_, every_, keep_, quiet_);
  if (!settings) return settings;
  if (auto applied = apply_preparation(preparation_, *settings); !applied) return applied.error();
  // As of a job of a cluster (docs/cluster.md).
  const char* const suspend = std::getenv("PIRACEMA_SUSPEND");
  settings->suspends = suspend != nullptr && std::string_view(suspend) == "self";
  if (!compress_) return settings;
  if (auto found = find_zstd(); !found) return found.error();
  settings->compress = true;
  return settings;
}

// What lies on this node's disk is known to the store before hosts are told apart by its images.
Result<Done> CkptCommand::apply_places(JobDirectory& directory, JobFile& job,
                                       RunSettings& settings) const {
  const bool several = !hosts_.empty() || !job.hosts.empty();
  const bool has_local = local_.empty() ? !job.local.empty() : local_ != "none";
  if (!has_local && !partner_.empty() && partner_ != "none")
    return Error{Errc::usage, "--partner: want --local as well"};
  if (auto applied = apply_local(local_, several, directory, job, settings); !applied)
    return applied;
  if (auto applied = apply_partner(partner_, rsh_, directory, job, settings); !applied)
    return applied;
  return apply_hosts(hosts_, rsh_, criu_, directory, job, settings);
}

// Before anything else is made of the images that there are.
Result<Done> CkptCommand::bring(JobDirectory& directory, const JobFile& job) const {
  const auto brought = bring_from_partner(job, directory, rsh_);
  if (!brought) return brought.error();
  if (*brought)
    log(Level::info, concat("image ", **brought, " was with the partner, and is in the store now"));
  return Done{};
}

int CkptCommand::start() {
  if (program_.empty())
    return fail_ckpt({Errc::usage, "want -- and the program to run; see piracema ckpt run --help"});
  auto settings = this->settings();
  if (!settings) return fail_ckpt(settings.error());
  auto page = open_page();
  if (!page) return fail_ckpt(page.error());
  auto directory = JobDirectory::open(directory_);
  if (!directory) return fail_ckpt(directory.error());
  auto job = new_job(**directory, std::move(program_));
  if (!job) return fail_ckpt(job.error());
  if (auto applied = apply_places(**directory, *job, *settings); !applied)
    return fail_ckpt(applied.error());
  return keep_job(*std::move(directory), *std::move(job), *std::move(settings), *std::move(page));
}

int CkptCommand::resume() {
  auto settings = this->settings();
  if (!settings) return fail_ckpt(settings.error());
  auto page = open_page();
  if (!page) return fail_ckpt(page.error());
  if (auto there = JobDirectory::look(directory_); !there) return fail_ckpt(there.error());
  auto directory = JobDirectory::open(directory_);
  if (!directory) return fail_ckpt(directory.error());
  auto job = (*directory)->read();
  if (!job) return fail_ckpt(job.error());
  if (job->ended && !image_ && (*job->ended == 0 || !failed_)) {
    const std::string hint = *job->ended == 0 ? "" : "; --failed goes on from before that";
    log(Level::info, concat("the job has ended already, with status ", *job->ended, hint));
    return *job->ended;
  }
  if (auto brought = bring(**directory, *job); !brought) return fail_ckpt(brought.error());
  const auto images = ImageStore(**directory).list();
  if (!images) return fail_ckpt(images.error());
  const auto good = good_images_of(**directory, *job);
  if (!good) return fail_ckpt(good.error());
  if (images->empty() && good->empty()) {
    return fail_ckpt({Errc::config, concat(directory_, ": there is no image to go on from")});
  }
  if (image_) {
    if (!std::ranges::binary_search(*good, *image_)) {
      return fail_ckpt({Errc::config, concat(directory_, ": want image ", *image_,
                                             ": there is none that is complete; see ckpt list")});
    }
    job->doubted = doubted_for_choice(*good, *image_);
  }
  if (job->ended || image_) {
    job->ended.reset();
    if (auto written = (*directory)->write(*job); !written) return fail_ckpt(written.error());
  }
  if (auto applied = apply_places(**directory, *job, *settings); !applied)
    return fail_ckpt(applied.error());
  return keep_job(*std::move(directory), *std::move(job), *std::move(settings), *std::move(page));
}

int CkptCommand::window() {
  auto settings = this->settings();
  if (!settings) return fail_ckpt(settings.error());
  if (auto applied = apply_window(windows_, *settings); !applied) return fail_ckpt(applied.error());
  auto page = open_page();
  if (!page) return fail_ckpt(page.error());
  return go_on(*std::move(settings), *std::move(page));
}

// The same words begin a job and go on with it, after a reboot too.
int CkptCommand::go_on(RunSettings settings, std::unique_ptr<KeeperPage> page) {
  auto directory = JobDirectory::open(directory_);
  if (!directory) return fail_ckpt(directory.error());
  auto job = (*directory)->read();
  const bool is_new = !job || (!program_.empty() && job->command != program_);
  if (is_new && program_.empty()) {
    return fail_ckpt({Errc::usage, "want -- and the program to run; see piracema ckpt run --help"});
  }
  if (is_new) job = new_job(**directory, program_);
  if (!job) return fail_ckpt(job.error());
  if (job->ended) {
    log(Level::warning,
        concat("the job has ended already, with status ", *job->ended,
               ", and is not run again; other words, or another directory, begin one"));
    return *job->ended;
  }
  if (auto brought = bring(**directory, *job); !brought) return fail_ckpt(brought.error());
  if (auto applied = apply_places(**directory, *job, settings); !applied)
    return fail_ckpt(applied.error());
  return keep_job(*std::move(directory), *std::move(job), std::move(settings), std::move(page));
}

int CkptCommand::submit_to_slurm() const {
  if (program_.empty())
    return fail_ckpt(
        {Errc::usage, "want -- and the program to run; see piracema ckpt sbatch --help"});
  std::vector<std::string> own = {"--keep", std::to_string(keep_), "--risk", windows_.risk};
  if (!every_.empty()) own.insert(own.end(), {"--every", every_});
  if (!criu_.empty()) own.insert(own.end(), {"--criu", criu_});
  if (compress_) own.emplace_back("--compress");
  if (!local_.empty()) own.insert(own.end(), {"--local", local_});
  for (std::string& word : words_of(preparation_)) own.push_back(std::move(word));
  if (!http_.empty()) own.push_back("--http=" + http_);
  if (!http_token_.empty()) {
    own.insert(own.end(), {"--http-token", std::filesystem::absolute(http_token_).string()});
  }
  return submit(directory_, sbatch_->remaining(), own, program_);
}

int CkptCommand::slurm() {
  auto settings = this->settings();
  if (!settings) return fail_ckpt(settings.error());
  const auto place = SlurmPlace::find();
  if (!place) return fail_ckpt(place.error());
  place->apply(*settings);
  if (auto risk = parse_risk(windows_.risk)) settings->risk = *risk;
  hosts_ = place->hosts();
  rsh_ = SlurmPlace::rsh();
  return place->after(go_on(*std::move(settings), open_page_of_slurm()));
}

int CkptCommand::ask(const char* word) const {
  const auto directory = JobDirectory::look(directory_);
  if (!directory) return fail_ckpt(directory.error());
  const auto answer = ask_keeper((*directory)->socket_path(), word);
  if (!answer) return fail_ckpt({Errc::failed, answer.error().message});
  std::printf("%s\n", answer->c_str());
  return 0;
}

int keep_job(std::unique_ptr<JobDirectory> directory, JobFile job, RunSettings settings,
             std::unique_ptr<KeeperPage> page) {
  if (page) {
    log(Level::info, concat("the job is shown at ", page->entrance()));
    keep_page_lines();
    settings.figures = [shown = page.get()](const KeeperFigures& figures) { shown->show(figures); };
  }
  JobDirectory* const place = directory.get();
  KeeperLoop loop(std::move(directory), job, std::move(settings));
  const auto finish = loop.run();
  if (!finish) return fail_ckpt(finish.error());
  if (finish->end == End::job_ended) {
    job.ended = exit_code_of_status(finish->status);
    if (const auto good = good_images_of(*place, job); good && *job.ended != 0) {
      job.doubted = doubted_after_failure(*good, std::move(job.doubted), loop.went_on_from());
    }
    if (auto written = place->write(job); !written) log(Level::warning, written.error().message);
  }
  const auto good = good_images_of(*place, job);
  return end_of(*finish, place->path(), good && !good->empty());
}

}  // namespace piracema::tools
