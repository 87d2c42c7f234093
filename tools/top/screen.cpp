#include "tools/top/screen.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "tools/top/ckpt_screen.h"
#include "tools/top/cluster_screen.h"
#include "tools/top/coll_screen.h"
#include "tools/top/kv_screen.h"
#include "tools/top/stream_screen.h"

namespace piracema::tools {

namespace {

struct Kind {
  std::string_view name;
  const char* noun;
  void (*put)(TerminalPage&, const JsonView&);
};
constexpr Kind kinds[] = {
    {"stream", "job", put_stream},     {"coll", "job", put_coll_job},
    {"ckpt", "job", put_ckpt_job},     {"ckpt_queue", "daemon", put_ckpt_queue},
    {"kv", "replica", put_kv_replica}, {"cluster", "dashboard", put_cluster}};

const Kind* kind_of(const JsonView& all) {
  const std::string name = all.text("kind");
  for (const Kind& kind : kinds) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

}  // namespace

std::string noun_of(const nlohmann::json& all) {
  const Kind* const kind = kind_of(JsonView(all));
  return kind == nullptr ? "" : kind->noun;
}

std::string screen_of(const nlohmann::json& all, const ScreenOptions& options) {
  TerminalPage page(options);
  const JsonView view(all);
  if (const Kind* const kind = kind_of(view)) kind->put(page, view);
  return page.done();
}

}  // namespace piracema::tools
