#include <cctype>

#include "base/text.h"
#include "smr/order/core/parts.h"

/// A replica whose state differs from that of the others: nothing that it says counts any more. It
/// looks for the operation at which they parted, and gives up with its name.
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

void Core::Parts::handle(Sender from, const TrailRequest& m) { step.act(TellTrail{from.id, m}); }
// Of use only to who has asked.
void Core::Parts::handle(Sender, const Trail&) {}

void Core::Parts::part_if_different() {
  if (!checkpoints.parted() || step.halted()) return;
  divergence.emplace(members.me(), *checkpoints.parted(), members.view().one_correct(),
                     settings.resend_interval);
  step.note(concat(divergence->what(), "; looking for the operation"), true);
  divergence->begin(step.now(), step.out());
}

void Core::Parts::search(Event& event) {
  if (const auto* received = std::get_if<Received>(&event)) {
    const Message& m = *received->message;
    // The others may look for it as well.
    if (const auto* asked = std::get_if<TrailRequest>(&m))
      step.act(TellTrail{received->from, *asked});
    if (const auto* told = std::get_if<Trail>(&m))
      divergence->on_trail(received->from, *told, step.out());
  }
  divergence->tick(step.now(), step.out());
  if (!divergence->over(step.now())) return;
  const auto place = divergence->place();
  step.halt(concat(
      divergence->what(), "; ",
      place ? describe(*place) : "no operation in between is known to have ended otherwise"));
}

std::string Core::Parts::describe(const Divergence::Place& place) const {
  std::string text = concat("the first that ended otherwise is operation ", place.index,
                            " of instance ", place.instance);
  const BatchPtr batch = decided_log.find(place.instance);
  if (!batch || place.index >= batch->requests.size()) return text;
  const Request& request = batch->requests[place.index];
  return text + concat(": client ", request.client, ", session ", request.session, ", sequence ",
                       request.sequence, ", ", request.operation.size(),
                       " bytes: ", excerpt(request.operation));
}

}  // namespace piracema::smr
