#include "coll/mpi/exchange/pieces.h"

#include <cstdint>
#include <cstring>

namespace piracema::coll::mpi {

namespace {
struct Head {
  std::uint32_t of = 0, direct = 0;
  std::uint64_t bytes = 0;
};
}  // namespace

void append(std::vector<char>& out, const Piece& piece) {
  const Head head{piece.of, piece.direct, piece.bytes.size()};
  const auto* raw = reinterpret_cast<const char*>(&head);
  out.insert(out.end(), raw, raw + sizeof head);
  out.insert(out.end(), piece.bytes.begin(), piece.bytes.end());
}

Result<std::vector<Piece>> read_pieces(std::span<const char> in, Rank size) {
  std::vector<Piece> pieces;
  while (!in.empty()) {
    Head head;
    if (in.size() < sizeof head) return Error{Errc::corrupt, "pieces: half of one"};
    std::memcpy(&head, in.data(), sizeof head);
    in = in.subspan(sizeof head);
    if (head.of >= size || head.bytes > in.size()) {
      return Error{Errc::corrupt, "pieces: one does not fit"};
    }
    const auto bytes = in.first(head.bytes);
    pieces.push_back({head.of, head.direct != 0, {bytes.begin(), bytes.end()}});
    in = in.subspan(head.bytes);
  }
  return pieces;
}

}  // namespace piracema::coll::mpi
