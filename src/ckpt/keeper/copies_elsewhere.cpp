#include "ckpt/keeper/copies_elsewhere.h"

#include <utility>

#include "base/log.h"
#include "base/text.h"

namespace piracema::ckpt {

CopiesElsewhere::CopiesElsewhere(net::Poller& poller, const Settings& settings, const JobFile& job,
                                 LocalImages& local, JobDirectory& store, Calls calls)
    : poller_(poller),
      local_(local),
      store_(store),
      calls_(std::move(calls)),
      draining_(
          poller, settings.program, local, store,
          {.find_room = calls_.find_room,
           .drained =
               [this](ImageId image, Time took) {
                 has_come(image, "in the store", took);
                 calls_.in_store();
               },
           .in_use_elsewhere = [this] { return partner_ ? partner_->in_use() : std::nullopt; }}) {
  if (settings.partner) open_partner(settings, job);
}

void CopiesElsewhere::open_partner(const Settings& settings, const JobFile& job) {
  const auto in_store = [this] {
    ImageStore images(store_);
    return newest_image(images);
  };
  const auto sent = [this](ImageId image, Time took) {
    has_come(image, concat("with the partner ", partner_->host()), took);
    // It was kept for that.
    draining_.look();
  };
  partner_.emplace(
      poller_, settings.program, way_to_partner(*settings.partner, job, store_, settings.rsh),
      settings.partner->host, local_, PartnerCopies::Calls{.in_store = in_store, .sent = sent});
}

void CopiesElsewhere::has_come(ImageId image, const std::string& where, Time took) const {
  calls_.note(
      concat("image ", image, " is ", where, " as well, after ", human_seconds(to_seconds(took))));
}

void CopiesElsewhere::look() {
  if (partner_) partner_->look();
  draining_.look();
}

void CopiesElsewhere::leave_store_alone(bool is_left) { draining_.pause(is_left); }

void CopiesElsewhere::stop() {
  draining_.pause(false);
  stop_both();
  say_what_is_here_alone();
}

void CopiesElsewhere::get_newest_to_store() { draining_.look(); }

void CopiesElsewhere::end(bool is_over) {
  stop_both();
  if (!is_over) {
    say_what_is_here_alone();
    if (draining_.waiting()) return;
  }
  local_.remove();
  if (partner_ && is_over) partner_->remove();
}

void CopiesElsewhere::stop_both() {
  draining_.stop();
  if (partner_) partner_->stop();
}

void CopiesElsewhere::say_what_is_here_alone() const {
  const auto image = draining_.waiting();
  if (!image) return;
  const std::string& path = local_.directory().path();
  if (partner_ && partner_->has(*image)) {
    return log(Level::warning,
               concat("image ", *image, " is not in the store yet: it is on this node's disk, in ",
                      path, ", and with the partner ", partner_->host()));
  }
  log(Level::warning, concat("image ", *image, " is on this node's disk alone, in ", path,
                             ": go on here, or an older one is gone on from"));
}

}  // namespace piracema::ckpt
