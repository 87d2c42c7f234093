// A replica of `piracema kv` that lies, with the same words on the command line. The environment
// variable LIE says how: equivocate, corrupt, silent, replies, or all; or diverge, which is no lie
// but a mistake: its map does something else when it is told to put "poison".

#include <piracema/smr/key_value.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>

#include "base/log.h"
#include "base/random.h"
#include "base/text.h"
#include "smr/order/messages/batch.h"
#include "smr/replica/replica_node.h"

using namespace piracema;
using namespace piracema::smr;

namespace {

class Liar {
 public:
  explicit Liar(const std::string& how) : how_(how) {}

  MessagePtr say(ReplicaId to, const MessagePtr& right) {
    if (does("silent") && random_.chance(0.3)) return nullptr;
    if (const auto* propose = std::get_if<Propose>(right.get())) return twist(to, *propose);
    if (const auto* write = std::get_if<Write>(right.get())) return twist(to, *write);
    if (const auto* accept = std::get_if<Accept>(right.get())) return twist(to, *accept);
    if (const auto* forward = std::get_if<Forward>(right.get())) return twist(*forward);
    return right;
  }

  Reply reply(const Reply& right) {
    if (!does("replies")) return right;
    Reply wrong = right;
    wrong.result = std::make_shared<const Buffer>(as_bytes("a lie"));
    return wrong;
  }

 private:
  bool does(const char* what) const { return how_ == what || how_ == "all"; }

  // Two proposals for one place, one for each half; and votes that fit what each was told. Or one
  // whose requests nobody asked for: their MACs are wrong.
  MessagePtr twist(ReplicaId to, const Propose& propose) {
    if (does("equivocate") && to % 2 == 1) {
      auto& other = others_[propose.batch->digest];
      if (!other) other = make_batch(propose.batch->time + 1, propose.batch->requests);
      return message(Propose{propose.instance, propose.regency, other});
    }
    if (!does("corrupt") || propose.batch->requests.empty()) return message(Propose(propose));
    auto& forged = others_[propose.batch->digest];
    if (!forged) {
      auto requests = propose.batch->requests;
      for (Request& request : requests) corrupt(request);
      forged = make_batch(propose.batch->time, std::move(requests));
    }
    return message(Propose{propose.instance, propose.regency, forged});
  }
  template <class V>
  MessagePtr twist(ReplicaId to, const V& vote) {
    const auto other = others_.find(vote.digest);
    if (other == others_.end() || (does("equivocate") && to % 2 == 0)) return message(V(vote));
    return message(V{vote.instance, vote.regency, other->second->digest});
  }
  MessagePtr twist(const Forward& forward) {
    Forward lie = forward;
    for (Request& request : lie.requests) corrupt(request);
    return message(std::move(lie));
  }
  static void corrupt(Request& request) {
    if (!request.operation.empty()) request.operation.data()[0] ^= std::byte{1};
  }

  const std::string how_;
  Random random_{1};
  std::map<Digest, BatchPtr> others_;
};

class Diverging : public StateMachine {
 public:
  explicit Diverging(StateMachine& right) : right_(right) {}
  Buffer apply(Bytes operation, const Context& context) override {
    if (as_text(operation).find("poison") == std::string_view::npos) {
      return right_.apply(operation, context);
    }
    return right_.apply(kv::encode(kv::Put{.key = "poison", .value = "another one"}), context);
  }
  Buffer query(Bytes operation) const override { return right_.query(operation); }
  Keys keys(Bytes operation) const override { return right_.keys(operation); }
  Image snapshot() override { return right_.snapshot(); }
  bool restore(Bytes image) override { return right_.restore(image); }

 private:
  StateMachine& right_;
};

std::string word_behind(char** words, const char* name) {
  for (; words[0] != nullptr && words[1] != nullptr; ++words) {
    if (std::strcmp(words[0], name) == 0) return words[1];
  }
  return "";
}

int fail(const Error& error) {
  log(Level::error, error.message);
  return error.code == Errc::failed ? 1 : 3;
}

}  // namespace

int main(int, char** argv) {
  const char* const how = std::getenv("LIE");
  const std::string lie = how == nullptr ? "all" : how;
  Liar liar(lie);
  const std::string id = word_behind(argv, "--id");
  set_log_process(concat("liar ", id));
  const auto configuration = read_configuration(word_behind(argv, "--config"));
  if (!configuration) return fail(configuration.error());
  const auto key = read_key(word_behind(argv, "--key"));
  if (!key) return fail(key.error());
  ReplicaNode::Place place{.id = static_cast<ReplicaId>(std::atoi(id.c_str())),
                           .key = *key,
                           .directory = word_behind(argv, "--directory"),
                           .first_start = true};
  place.distort = [&](ReplicaId to, const MessagePtr& right) { return liar.say(to, right); };
  place.distort_reply = [&](const Reply& right) { return liar.reply(right); };
  const auto machine = kv::make_machine();
  Diverging diverging(*machine);
  StateMachine& used = lie == "diverge" ? diverging : *machine;
  const auto node = ReplicaNode::start(*configuration, std::move(place), used);
  if (!node) return fail(node.error());
  const auto ended = (*node)->run();
  return ended ? 0 : fail(ended.error());
}
