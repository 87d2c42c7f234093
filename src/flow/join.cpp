#include <cxxabi.h>

#include <cstdlib>
#include <memory>

#include <piracema/blocks.h>

namespace piracema::detail {

std::string demangle(const char* name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), std::free);
  return status == 0 ? text.get() : name;
}

Graph join(Graph first, Graph second, Delivery delivery, Router router, bool second_is_ordered) {
  const auto offset = static_cast<std::uint32_t>(first.shape.nodes.size());
  if (second_is_ordered) second.shape.nodes.front().ordered = true;
  first.shape.edges.push_back({.from = offset - 1, .to = offset, .delivery = delivery});
  first.routers.push_back(std::move(router));
  for (NodeShape& node : second.shape.nodes) first.shape.nodes.push_back(std::move(node));
  for (auto& code : second.code) first.code.push_back(std::move(code));
  for (std::size_t i = 0; i < second.shape.edges.size(); ++i) {
    EdgeShape edge = second.shape.edges[i];
    edge.from += offset;
    edge.to += offset;
    first.shape.edges.push_back(edge);
    first.routers.push_back(std::move(second.routers[i]));
  }
  return first;
}

}  // namespace piracema::detail
