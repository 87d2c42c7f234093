// A replica of `piracema kv` that lies, with the same words on the command line. The environment
// variable LIE says how: equivocate, corrupt, silent, replies, or all; or diverge, which is no lie
// but a mistake: its map does something else when it is told to put "poison".

#include <piracema/smr/key_value.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "base/log.h"
#include "base/text.h"
#include "cluster/smr/liar.h"
#include "smr/replica/replica_node.h"

using namespace piracema;
using namespace piracema::smr;
using piracema::testing::Liar;

namespace {

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
  liar.speak_for(place);
  const auto machine = kv::make_machine();
  Diverging diverging(*machine);
  StateMachine& used = lie == "diverge" ? diverging : *machine;
  const auto node = ReplicaNode::start(*configuration, std::move(place), used);
  if (!node) return fail(node.error());
  const auto ended = (*node)->run();
  return ended ? 0 : fail(ended.error());
}
