#include "coll/plan/settings.h"

#include <charconv>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace piracema::coll {

namespace {

constexpr std::pair<Engine, const char*> names[] = {
    {Engine::automatic, "auto"},      {Engine::tree, "tree"},         {Engine::mst, "mst"},
    {Engine::two_level, "two-level"}, {Engine::binomial, "binomial"}, {Engine::native, "native"}};

Error wrong(const char* name, const char* want, std::string_view found) {
  return {Errc::config, concat(name, ": want ", want, ", found '", found, "'")};
}

bool parse(std::string_view text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

const char* name_of(Engine engine) {
  for (const auto& [value, name] : names) {
    if (value == engine) return name;
  }
  return "?";
}

Result<Settings> read_settings(const std::function<const char*(const char*)>& variable) {
  Settings settings;
  const auto text = [&](const char* name) {
    const char* value = variable(name);
    return std::string_view(value ? value : "");
  };
  if (const auto engine = text("PIRACEMA_COLL_ENGINE"); !engine.empty()) {
    bool known = false;
    for (const auto& [value, name] : names) {
      if (engine != name) continue;
      settings.engine = value;
      known = true;
    }
    if (!known) {
      return wrong("PIRACEMA_COLL_ENGINE", "auto, tree, mst, two-level, binomial or native",
                   engine);
    }
  }
  settings.emulate = text("PIRACEMA_COLL_EMULATE");
  settings.report = text("PIRACEMA_COLL_REPORT");
  settings.interface = text("PIRACEMA_COLL_INTERFACE");
  settings.started = text("PIRACEMA_COLL_STARTED");
  settings.figures = text("PIRACEMA_COLL_FIGURES");
  double number = 0;
  if (const auto every = text("PIRACEMA_COLL_ADAPT_EVERY"); !every.empty()) {
    if (!parse(every, number) || !(number >= 1 && number <= 1e6)) {
      return wrong("PIRACEMA_COLL_ADAPT_EVERY", "a number from 1 to 1000000", every);
    }
    settings.adapt_every = static_cast<unsigned>(number);
  }
  if (const auto threshold = text("PIRACEMA_COLL_THRESHOLD"); !threshold.empty()) {
    if (!parse(threshold, number) || !(number >= 0 && number <= 1000)) {
      return wrong("PIRACEMA_COLL_THRESHOLD", "percent from 0 to 1000", threshold);
    }
    settings.threshold = number / 100;
  }
  for (const auto& [name, setting] :
       {std::pair{"PIRACEMA_COLL_FIXED_ORDER", &settings.fixed_order},
        std::pair{"PIRACEMA_COLL_ANY_ORDER", &settings.any_order},
        std::pair{"PIRACEMA_COLL_SUMMARY", &settings.summary},
        std::pair{"PIRACEMA_COLL_NONBLOCKING", &settings.nonblocking}}) {
    const auto value = text(name);
    if (value.empty()) continue;
    if (value != "0" && value != "1") return wrong(name, "0 or 1", value);
    *setting = value == "1";
  }
  return settings;
}

}  // namespace piracema::coll
