#include "tools/run/kill_order.h"

#include <cmath>
#include <cstdint>
#include <string_view>

#include "base/parse.h"
#include "base/text.h"

namespace piracema::tools {

Result<cluster::KillOrder> parse_kill(const std::string& text) {
  const Error wrong{
      Errc::usage,
      concat("want OP.REPLICA@PERCENT with 0 to 100 percent, such as compress.2@40, found '", text,
             "'")};
  const std::size_t at = text.rfind('@');
  if (at == std::string::npos) return wrong;
  std::string_view percent_text = std::string_view(text).substr(at + 1);
  if (percent_text.ends_with('%')) percent_text.remove_suffix(1);
  const auto percent = parse_number<double>(percent_text);
  if (!percent || !(*percent >= 0 && *percent <= 100)) return wrong;

  cluster::KillOrder order;
  order.at = *percent / 100;
  order.node = text.substr(0, at);
  if (const std::size_t dot = order.node.find_first_of("./"); dot != std::string::npos) {
    const auto replica = parse_number<std::uint32_t>(std::string_view(order.node).substr(dot + 1));
    if (!replica) return wrong;
    order.replica = *replica;
    order.node.resize(dot);
  }
  if (order.node.empty()) return wrong;
  return order;
}

std::string kill_text(const cluster::KillOrder& order) {
  return concat(order.node, ".", order.replica, "@", std::lround(order.at * 100));
}

}  // namespace piracema::tools
