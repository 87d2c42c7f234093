#include "ckpt/keeper/partner_copies.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "ckpt/hosts/job_program.h"
#include "host/remote_shell.h"

namespace piracema::ckpt {

namespace {

// A partner that is gone keeps nobody from ending.
constexpr Time removal_takes = std::chrono::seconds(10);

/// What there is without the partner: the newest image that is right, and whether the partner can
/// have none that is newer.
struct Known {
  ImageId newest = 0;
  bool is_all = false;
};

// The images of this node are read as a whole: one that is torn is none.
Known known_without_partner(const JobFile& job, ImageId in_store) {
  std::vector<Manifest> whole = look_at_local_images(job);
  auto directory = JobDirectory::look(local_place(job));
  if (whole.empty() || !directory) return {in_store, false};
  const ImageId last = whole.back().image;
  ImageStore images(**directory);
  const auto all = images.list();
  // One whose manifest is torn is none of `whole`.
  const bool is_last = all && all->back().image == last;
  if (last <= in_store) return {in_store, is_last};
  std::ranges::reverse(whole);
  for (const Manifest& one : whole) {
    if (one.image <= in_store) break;
    if (images.verify(one)) return {one.image, is_last && one.image == last};
  }
  return {in_store, false};
}

}  // namespace

PartnerCopies::PartnerCopies(net::Poller& poller, std::string program, PartnerWay way,
                             std::string host, LocalImages& local, Calls calls)
    : program_(std::move(program)),
      way_(std::move(way)),
      host_(std::move(host)),
      local_(local),
      calls_(std::move(calls)),
      process_(poller, local.directory().log_path() + "/send", [this] { look(); }) {}

void PartnerCopies::look() {
  if (!process_.may_begin()) return;
  const std::vector<Manifest> whole = local_.whole();
  // Of a store that does not say it nothing is taken for granted.
  const auto known = calls_.in_store();
  const ImageId in_store = known ? *known : 0;
  if (whole.empty() || whole.back().image <= std::max(sent_, in_store)) return;
  const ImageId image = whole.back().image;
  const JobDirectory& from = local_.directory();
  image_ = image;
  began_ = now();
  const auto words =
      send_command(program_, from.parts_path(image), from.manifest_path(image), in_store, way_);
  if (auto begun = process_.begin(words, [this](const Result<Done>& done) { ended(done); });
      !begun) {
    failed(begun.error().message);
  }
}

void PartnerCopies::ended(const Result<Done>& done) {
  if (!done) return failed(done.error().message);
  process_.succeeded();
  sent_ = *std::exchange(image_, std::nullopt);
  calls_.sent(sent_, now() - began_);
  look();
}

void PartnerCopies::failed(const std::string& why) {
  const ImageId image = *std::exchange(image_, std::nullopt);
  if (process_.failed(why)) {
    log(Level::warning,
        concat("image ", image, " is not with the partner ", host_, ", and is tried again: ", why));
  }
}

void PartnerCopies::stop() {
  process_.stop();
  image_.reset();
}

void PartnerCopies::remove() {
  stop();
  auto shell = RemoteShell::start(way_.command("forget"));
  if (!shell) return;
  shell->hang_up();
  const std::string how = shell->end(now() + removal_takes);
  if (how == "ended with status 0") return;
  const std::string time = human_seconds(std::chrono::duration<double>(removal_takes).count());
  log(Level::warning, concat("images of this job are left with the partner ", host_,
                             ": the command that removes them ",
                             how.empty() ? concat("took longer than ", time) : how));
}

PartnerWay way_to_partner(const Partner& partner, const JobFile& job, const JobDirectory& store,
                          const std::string& rsh) {
  return {way_to(rsh, partner.host), job_program(store),
          PartnerPlace{partner.directory, job.id, job.local_mark}};
}

Result<std::optional<ImageId>> bring_from_partner(const JobFile& job, JobDirectory& store,
                                                  const std::string& rsh) {
  using None = std::optional<ImageId>;
  if (job.partner.empty() || job.local_mark.empty()) return None();
  const auto partner = parse_partner(job.partner);
  if (!partner) return partner.error();
  ImageStore images(store);
  const auto in_store = newest_image(images);
  if (!in_store) return in_store.error();
  const Known known = known_without_partner(job, *in_store);
  if (known.is_all) return None();
  const PartnerWay way = way_to_partner(*partner, job, store, rsh);
  // It may be this node.
  auto brought = bring_here(way.place, known.newest, store);
  if (brought && *brought == 0) brought = ask_to_bring(way, known.newest, store);
  if (!brought && brought.error().code == Errc::lost) {
    log(Level::warning, concat("the partner ", partner->host,
                               " cannot be asked for a newer image: ", brought.error().message));
    return None();
  }
  if (!brought) {
    return Error{Errc::io,
                 concat("the newest image is with the partner ", partner->host,
                        " alone, and cannot be brought to the store: ", brought.error().message)};
  }
  return *brought == 0 ? None() : None(*brought);
}

}  // namespace piracema::ckpt
