#include "store/objects/lease.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/ensure.h"
#include "base/parse.h"
#include "base/text.h"

namespace piracema::store {

namespace {

constexpr std::string_view first_line = "piracema lease 1\n";
constexpr std::size_t holder_bytes_max = 200;

/// What an object says, which may be anything.
struct Said {
  bool is_lease = false, is_held = false;
  std::string holder, job;
  Time keeps{};
};

Said said_by(std::string_view text) {
  Said said{false, true, "something else than a lease", "", {}};
  if (!text.starts_with(first_line)) return said;
  text.remove_prefix(first_line.size());
  const auto line = [&](std::string_view name) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view value = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!value.starts_with(name)) return std::string_view();
    return value.substr(name.size());
  };
  const std::string_view state = line("state ");
  if (state != "held" && state != "free") return said;
  said.is_lease = true;
  said.is_held = state == "held";
  said.holder = line("holder ").substr(0, holder_bytes_max);
  for (char& c : said.holder) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  const std::string_view id = line("id ");
  said.job = id.substr(0, id.find(' '));
  // Where nothing is kept there is no such line.
  const auto keeps = parse_number<std::uint32_t>(line("keeps "));
  if (keeps) said.keeps = std::chrono::milliseconds(*keeps);
  return said;
}

}  // namespace

Lease::Lease(Owner owner, Settings settings) : owner_(std::move(owner)), settings_(settings) {
  ENSURE(settings_.renew < settings_.term);
}

std::string Lease::text(std::string_view state, std::chrono::milliseconds keeps) const {
  std::string text = concat(first_line, "state ", state, "\nholder ", owner_.holder, "\nid ",
                            owner_.job, " ", owner_.writer, " ", count_, "\n");
  if (keeps.count() != 0) text += concat("keeps ", keeps.count(), "\n");
  return text;
}

std::string Lease::job_of_holder(std::string_view text) {
  const Said said = said_by(text);
  return said.is_lease && said.is_held ? said.job : "";
}

Lease::Write Lease::give_back(Time now) const {
  return {text(now < others_until_ ? "held" : "free", {}), tag_};
}

Lease::Action Lease::step(Time now, const Event& event) {
  if (const auto* read = std::get_if<WasRead>(&event)) return found(now, read->content);
  if (const auto* written = std::get_if<WasWritten>(&event)) {
    state_ = State::holds;
    writing_ = false;
    tag_ = written->tag;
    sent_at_ = sends_at_;
    return next(now);
  }
  if (std::holds_alternative<Tick>(event) && state_ == State::holds && !writing_) return write(now);
  // What was written may be there all the same: that is seen by its text.
  if (std::holds_alternative<Unclear>(event) && state_ != State::wants) {
    return Wait{now + settings_.renew / 4};
  }
  return Read{};
}

Lease::Action Lease::write(Time now) {
  if (!writing_) {
    writing_ = true;
    ++count_;
    sends_at_ = now;
  }
  return Write{text(), tag_};
}

Lease::Action Lease::next(Time now) const {
  return Wait{std::max(now, sends_at_ + settings_.renew)};
}

Lease::Action Lease::end(std::string holder) {
  const bool held = std::exchange(state_, State::over) == State::holds;
  if (held) return Lost{std::move(holder)};
  return Refused{std::move(holder)};
}

Lease::Action Lease::found(Time now, const std::optional<Content>& content) {
  if (content && writing_ && content->text == text()) {
    return step(now, WasWritten{content->tag});
  }
  if (state_ == State::holds) {
    if (!content) return end("nobody, and the lease is gone");
    // Ours, as it was before a write that has not come, or not yet.
    if (content->tag == tag_) return write(now);
    if (job_of_holder(content->text) != owner_.job) return end(said_by(content->text).holder);
    // What we wanted to write was not written, and is now.
    note_other(now);
    tag_ = content->tag;
    return write(now);
  }
  if (!content) {
    tag_.clear();
    return write(now);
  }
  return watch(now, *content);
}

Lease::Action Lease::watch(Time now, const Content& content) {
  const Said said = said_by(content.text);
  if (!said.is_lease) return end(said.holder);
  const bool is_ours = said.is_held && said.job == owner_.job;
  if (is_ours) note_other(now);
  if (!said.is_held || is_ours) {
    state_ = State::wants;
    tag_ = content.tag;
    return write(now);
  }
  if (state_ != State::watches) {
    state_ = State::watches;
    tag_ = content.tag;
    seen_at_ = now;
  } else if (content.tag != tag_) {
    return end(said.holder);
  }
  const Time taken_at = seen_at_ + settings_.term + said.keeps;
  if (now >= taken_at) return write(now);
  return Wait{std::min(now + settings_.renew / 2, taken_at), taken_at};
}

}  // namespace piracema::store
