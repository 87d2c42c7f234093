#include "smr/order/core/divergence_search.h"

#include <cctype>

#include "base/text.h"

namespace piracema::smr {

namespace {

// Enough of an operation for people to know it again.
std::string excerpt(Bytes operation) {
  constexpr std::size_t shown = 64;
  std::string text;
  for (const char c : as_text(operation).substr(0, shown)) {
    text += std::isprint(static_cast<unsigned char>(c)) != 0 ? c : '.';
  }
  return text + (operation.size() > shown ? "..." : "");
}

}  // namespace

DivergenceSearch::DivergenceSearch(Step& step, const Membership& members,
                                   const Checkpoints& checkpoints, const DecidedLog& decided_log,
                                   Time resend_interval)
    : step_(step),
      members_(members),
      checkpoints_(checkpoints),
      decided_log_(decided_log),
      resend_interval_(resend_interval) {}

void DivergenceSearch::begin_if_parted() {
  if (!checkpoints_.parted() || step_.halted()) return;
  divergence_.emplace(members_.me(), *checkpoints_.parted(), members_.view().one_correct(),
                      resend_interval_);
  step_.note(concat(divergence_->what(), "; looking for the operation"), true);
  divergence_->begin(step_.now(), step_.out());
}

void DivergenceSearch::handle(Sender from, const TrailRequest& m) {
  step_.act(TellTrail{from.id, m});
}

void DivergenceSearch::search(const Event& event) {
  if (const auto* received = std::get_if<Received>(&event)) {
    const Message& m = *received->message;
    // The others may look for it as well.
    if (const auto* asked = std::get_if<TrailRequest>(&m)) {
      step_.act(TellTrail{received->from, *asked});
    }
    if (const auto* told = std::get_if<Trail>(&m)) {
      divergence_->on_trail(received->from, *told, step_.out());
    }
  }
  divergence_->tick(step_.now(), step_.out());
  if (!divergence_->over(step_.now())) return;
  const auto place = divergence_->place();
  step_.halt(concat(
      divergence_->what(), "; ",
      place ? describe(*place) : "no operation in between is known to have ended otherwise"));
}

std::optional<Time> DivergenceSearch::next_deadline() const {
  if (!divergence_) return std::nullopt;
  return divergence_->next_deadline();
}

std::string DivergenceSearch::describe(const Divergence::Place& place) const {
  std::string text;
  if (!divergence_->knows_all(place)) {
    text = concat("nothing is known of those before instance ", divergence_->known_from(place),
                  ", and of the others ");
  }
  text += concat("the first that ended otherwise is operation ", place.index, " of instance ",
                 place.instance);
  const BatchPtr batch = decided_log_.find(place.instance);
  if (!batch || place.index >= batch->requests.size()) return text;
  const Request& request = batch->requests[place.index];
  return text + concat(": client ", request.client, ", session ", request.session, ", sequence ",
                       request.sequence, ", ", request.operation.size(),
                       " bytes: ", excerpt(request.operation));
}

}  // namespace piracema::smr
