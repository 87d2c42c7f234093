#include "topology/message/header.h"

#include <cstring>

#include "base/text.h"

namespace piracema::coll {

namespace {

constexpr std::uint32_t message_magic = 0x334C4350;  // "PCL3"
constexpr std::size_t fixed_bytes = 40;

template <class N>
void put(char*& at, N number) {
  std::memcpy(at, &number, sizeof number);
  at += sizeof number;
}
template <class N>
N get(const char*& at) {
  N number;
  std::memcpy(&number, at, sizeof number);
  at += sizeof number;
  return number;
}

}  // namespace

std::size_t encoded_bytes_max(Rank size, std::size_t payload) {
  return fixed_bytes + 3 * std::size_t{size} * sizeof(Branch) + payload;
}

std::vector<char> encode(const Header& header, std::span<const Branch> branches) {
  const bool tells = header.up_version != 0;
  const std::size_t told = tells ? (header.up.size() + header.up_large.size()) * sizeof(Branch) : 0;
  std::vector<char> out(fixed_bytes + branches.size_bytes() + told + header.payload.size());
  char* at = out.data();
  put(at, message_magic);
  put(at, header.operation);
  put(at, static_cast<std::uint32_t>(branches.size()));
  put(at, header.segment_bytes);
  put(at, header.data_bytes);
  put(at, std::uint64_t{header.payload.size()});
  put(at, header.round);
  put(at, header.up_version);
  static_assert(sizeof(Branch) == 8);
  if (!branches.empty()) std::memcpy(at, branches.data(), branches.size_bytes());
  at += branches.size_bytes();
  for (const Branches* up : {&header.up, &header.up_large}) {
    if (!tells || up->empty()) continue;
    std::memcpy(at, up->data(), up->size() * sizeof(Branch));
    at += up->size() * sizeof(Branch);
  }
  if (!header.payload.empty()) std::memcpy(at, header.payload.data(), header.payload.size());
  return out;
}

Result<Header> decode(std::span<const char> in, Rank size) {
  if (in.size() < fixed_bytes) {
    return Error{Errc::corrupt, concat("header: want ", fixed_bytes, " bytes, have ", in.size())};
  }
  const char* at = in.data();
  if (get<std::uint32_t>(at) != message_magic) {
    return Error{Errc::corrupt, "header: not of this version of the library"};
  }
  Header header;
  header.operation = get<std::uint32_t>(at);
  const auto count = get<std::uint32_t>(at);
  header.segment_bytes = get<std::uint32_t>(at);
  header.data_bytes = get<std::uint64_t>(at);
  const auto payload = get<std::uint64_t>(at);
  header.round = get<std::uint32_t>(at);
  header.up_version = get<std::uint32_t>(at);
  const std::size_t rest = in.size() - fixed_bytes;
  const std::size_t up = header.up_version == 0 ? 0 : size;
  if (count == 0 || count > size || rest < (count + 2 * up) * sizeof(Branch) ||
      payload != rest - (count + 2 * up) * sizeof(Branch)) {
    return Error{Errc::corrupt, concat("header: ", count, " ranks and ", payload,
                                       " bytes of data do not fit ", in.size(), " bytes")};
  }
  for (const auto& [branches, ranks] : {std::pair{&header.branches, std::size_t{count}},
                                        {&header.up, up},
                                        {&header.up_large, up}}) {
    branches->resize(ranks);
    if (ranks == 0) continue;
    std::memcpy(branches->data(), at, ranks * sizeof(Branch));
    at += ranks * sizeof(Branch);
    if (auto checked = check(*branches, size); !checked) return checked.error();
  }
  header.payload.assign(at, payload);
  return header;
}

}  // namespace piracema::coll
