#include "control/decision.h"

#include <utility>

#include "base/text.h"
#include "wire/fields.h"

namespace piracema::cluster {

namespace {

template <std::size_t I = 0>
Result<Decision> read_decision(std::uint8_t kind, wire::FieldReader& reader) {
  if constexpr (I == std::variant_size_v<Decision>) {
    return Error{Errc::corrupt, concat("decision of kind ", unsigned{kind}, " is unknown")};
  } else {
    if (kind != I) return read_decision<I + 1>(kind, reader);
    std::variant_alternative_t<I, Decision> decision;
    reader.get(decision);
    return Decision(std::in_place_index<I>, std::move(decision));
  }
}

}  // namespace

Buffer encode_decisions(const std::vector<Decision>& decisions) {
  Buffer out;
  wire::FieldWriter writer(out);
  auto count = static_cast<std::uint64_t>(decisions.size());
  writer.put(count);
  for (const Decision& decision : decisions) {
    auto kind = static_cast<std::uint8_t>(decision.index());
    writer.put(kind);
    std::visit([&](auto copy) { writer.put(copy); }, decision);
  }
  return out;
}

Result<std::vector<Decision>> decode_decisions(Bytes bytes) {
  wire::FieldReader reader(bytes);
  std::vector<Decision> decisions;
  const std::size_t count = reader.reader().count(1);
  for (std::size_t i = 0; i < count && reader.reader().ok(); ++i) {
    std::uint8_t kind = 0;
    reader.get(kind);
    auto decision = read_decision(kind, reader);
    if (!decision) return decision.error();
    decisions.push_back(*std::move(decision));
  }
  if (auto finished = reader.finish(); !finished) {
    return Error{Errc::corrupt, concat("decisions: ", finished.error().message)};
  }
  return decisions;
}

}  // namespace piracema::cluster
