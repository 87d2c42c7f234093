#include "smr/recipes/ask.h"

#include <algorithm>
#include <future>
#include <memory>
#include <thread>

#include "base/text.h"

namespace piracema::smr::kv {

namespace {

using Answer = std::promise<Result<Reply>>;

Result<Reply> decoded(const Result<Buffer>& answer) {
  if (!answer) return answer.error();
  return decode_reply(*answer);
}

}  // namespace

Result<Reply> ask_ordered(Invoker& invoker, Bytes operation) {
  const auto answer = std::make_shared<Answer>();
  invoker.invoke_ordered(
      operation, [answer](const Result<Buffer>& result) { answer->set_value(decoded(result)); });
  return answer->get_future().get();
}

Result<Reply> ask_unordered(Invoker& invoker, Bytes operation) {
  const auto answer = std::make_shared<Answer>();
  invoker.invoke_unordered(
      operation, [answer](const Result<Buffer>& result) { answer->set_value(decoded(result)); });
  return answer->get_future().get();
}

Error unexpected(const char* wanted, const Reply& reply) {
  return {Errc::refused, concat("want ", std::string_view(wanted),
                                ", the map says: ", std::string_view(name_of(reply.status)))};
}

Waiting::Waiting(std::optional<std::chrono::milliseconds> patience) {
  // What is further away than a clock reaches never comes.
  constexpr std::chrono::hours for_ever{24 * 365 * 100};
  if (patience && *patience < for_ever) deadline_ = now() + *patience;
}

bool Waiting::again() {
  const Time time = now();
  if (deadline_ && time >= *deadline_) return false;
  const Time pause = looks_every;
  std::this_thread::sleep_for(deadline_ ? std::min(pause, *deadline_ - time) : pause);
  return true;
}

}  // namespace piracema::smr::kv
