#include "ckpt/doctor.h"

#include <poll.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/text.h"
#include "ckpt/capsule/capsule.h"
#include "ckpt/capsule/criu.h"
#include "ckpt/image/compression.h"
#include "os/helper.h"

namespace piracema::ckpt {

namespace {

constexpr int capsule_patience_ms = 10'000;

Finding kernel() {
  utsname name{};
  ::uname(&name);
  return {.what = "kernel",
          .ok = true,
          .needed = false,
          .text = concat("Linux ", std::string_view(name.release))};
}

Finding privilege() {
  Finding finding{.what = "privilege"};
  const auto may = check_may_make_capsules();
  finding.ok = may.ok();
  finding.text = !may              ? may.error().message
                 : ordinary_user() ? "an ordinary user, with a user namespace for each capsule"
                                   : "root";
  return finding;
}

Finding capsule(const std::string& program) {
  Finding finding{.what = "capsule"};
  auto made = Capsule::open({.criu = "", .hook = program, .host_name = "doctor"});
  if (!made) {
    finding.text = made.error().message;
    return finding;
  }
  pollfd wait{made->handle(), POLLIN, 0};
  ::poll(&wait, 1, capsule_patience_ms);
  const auto report = made->receive();
  finding.ok = report && report->ok;
  finding.text = finding.ok ? "namespaces, /dev/shm, ptys and a network of its own"
                 : report   ? report->message
                            : report.error().message;
  return finding;
}

// As it is started in capsules it cannot be asked outside of one.
Finding criu_check(const Criu& criu) {
  const auto end = run_helper({criu.path, "check"});
  Finding finding{.what = "criu check"};
  finding.ok = end && end->status == 0;
  finding.text = !end ? end.error().message : last_line(end->output);
  return finding;
}

Finding tar() {
  const auto end = run_helper({"tar", "--version"});
  const bool ok = end && end->output.find("GNU tar") != std::string::npos;
  return {.what = "tar",
          .ok = ok,
          .text = ok ? end->output.substr(0, end->output.find('\n')) : "want GNU tar"};
}

Finding zstd() {
  const auto found = find_zstd();
  return {.what = "zstd",
          .ok = found.ok(),
          .needed = false,
          .text = found ? "images can be compressed" : found.error().message};
}

// Which MPI there is, and what it may talk with inside of a capsule.
Finding mpi() {
  Finding finding{.what = "MPI", .needed = false};
  const auto end = run_helper({"mpirun", "--version"});
  finding.ok = end && end->status == 0;
  if (!finding.ok) {
    finding.text = "no mpirun; programs without MPI can be saved all the same";
    return finding;
  }
  finding.text = end->output.substr(0, end->output.find('\n'));
  const bool hydra = end->output.find("HYDRA") != std::string::npos;
  finding.text +=
      hydra ? "; UCX is told to share memory by files (UCX_TLS=self,posix) unless you set UCX_TLS; "
              "over TCP set UCX_TLS=tcp,self and UCX_NET_DEVICES=lo"
            : "; shared memory and TCP can be saved, InfiniBand cannot";
  return finding;
}

}  // namespace

std::vector<Finding> examine(const std::string& criu, const std::string& program) {
  std::vector<Finding> all = {kernel(), privilege()};
  const auto found = find_criu(criu);
  all.push_back({.what = "criu",
                 .ok = found.ok(),
                 .text = found ? concat(found->version.major, ".", found->version.minor, " (",
                                        found->path, ")")
                               : found.error().message});
  if (found && !ordinary_user()) all.push_back(criu_check(*found));
  if (all[1].ok) all.push_back(capsule(program));
  all.push_back(tar());
  all.push_back(zstd());
  all.push_back(mpi());
  return all;
}

}  // namespace piracema::ckpt
