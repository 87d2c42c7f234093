#include "coll/plan/window_costs.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"

namespace piracema::coll {

namespace {

struct CostsHead {
  std::uint32_t window = 0, operation = 0;
};
struct Line {
  std::uint16_t call_class = 0, way = 0;
  std::uint32_t calls = 0;
  double seconds = 0;
};
static_assert(sizeof(CostsHead) == 8 && sizeof(Line) == 16);

template <class T>
void put(std::vector<char>& out, const T& value) {
  out.resize(out.size() + sizeof value);
  std::memcpy(out.data() + out.size() - sizeof value, &value, sizeof value);
}

}  // namespace

void WindowCosts::add(const WindowCosts& others) {
  for (unsigned call_class = 0; call_class < call_classes; ++call_class) {
    for (const Way way : {Way::theirs, Way::ours}) {
      const Cost& cost = others.total(call_class, way);
      add(call_class, way, cost.seconds, cost.calls);
    }
  }
}

double WindowCosts::gained() const {
  double sum = 0;
  for (unsigned call_class = 0; call_class < call_classes; ++call_class) {
    const Cost& ours = total(call_class, Way::ours);
    const Cost& theirs = total(call_class, Way::theirs);
    if (ours.calls == 0 || theirs.calls == 0) continue;
    sum += theirs.seconds / theirs.calls * ours.calls - ours.seconds;
  }
  return sum;
}

std::vector<char> WindowCosts::encode(std::uint32_t window, std::uint32_t operation) const {
  std::vector<char> out;
  put(out, CostsHead{window, operation});
  for (std::uint16_t call_class = 0; call_class < call_classes; ++call_class) {
    for (std::uint16_t way = 0; way < 2; ++way) {
      const Cost& cost = costs_[call_class][way];
      if (cost.calls > 0) put(out, Line{call_class, way, cost.calls, cost.seconds / cost.calls});
    }
  }
  return out;
}

Result<Told> decode_told(std::span<const char> in) {
  CostsHead head;
  if (in.size() < sizeof head || (in.size() - sizeof head) % sizeof(Line) != 0) {
    return Error{Errc::corrupt, concat("costs of a window: not in ", in.size(), " bytes")};
  }
  std::memcpy(&head, in.data(), sizeof head);
  Told told{head.window, head.operation, {}};
  for (in = in.subspan(sizeof head); !in.empty(); in = in.subspan(sizeof(Line))) {
    Line line;
    std::memcpy(&line, in.data(), sizeof line);
    const bool sane = line.call_class < call_classes && line.way < 2 && line.calls > 0 &&
                      line.seconds >= 0 && line.seconds < 1e9;  // False for NaN.
    if (!sane) return Error{Errc::corrupt, "costs of a window: a line makes no sense"};
    told.entries.push_back({line.call_class, Way(line.way), {line.calls, line.seconds}});
  }
  return told;
}

std::optional<CostsOfAll::Costs> CostsOfAll::on_told(const Told& told) {
  Window& window = windows_[told.window];
  for (const auto& [call_class, way, cost] : told.entries) {
    auto& most = window.costs[call_class][static_cast<std::size_t>(way)];
    if (!most || most->seconds < cost.seconds) most = cost;
  }
  window.told += 1;
  if (window.told < size_) return std::nullopt;
  Costs costs = std::move(window.costs);
  windows_.erase(told.window);
  return costs;
}

}  // namespace piracema::coll
