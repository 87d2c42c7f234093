// Feeds mutated streams of sealed records to what opens them, in pieces of any size.
//
//     fuzz_records [SECONDS]       a few thousand streams, or as many as fit into the time
//     PIRACEMA_SEED=4711 fuzz_records      one stream
//
// What must hold: nothing crashes (the sanitizers look on in the preset dev), records before the
// first byte that differs are opened as they were sealed, and not one byte that nobody has sealed
// comes out.
#include "net/socket/records.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/random.h"
#include "fuzzing.h"

using namespace piracema;

namespace {

constexpr std::uint64_t streams_in_a_test = 4'000;
constexpr net::SealKey key{std::byte{7}};

/// Why the stream of this seed was read wrongly; empty if it was not.
std::string run_one(std::uint64_t seed) {
  Random random(seed);
  const auto cipher =
      random.chance(0.5) ? net::best_of(net::ciphers_here()) : net::Cipher::chacha20_poly1305;
  net::RecordWriter writer(cipher, key);
  std::string text, stream;
  // Where each stretch ends, as it is and as it is sealed.
  std::vector<std::size_t> text_ends, stream_ends;
  for (std::uint64_t i = 1 + random.below(8); i > 0; --i) {
    std::string part(1 + random.below(random.chance(0.1) ? 70'000 : 300), '\0');
    for (char& c : part) c = static_cast<char>(random.next());
    Buffer out;
    const iovec place{part.data(), part.size()};
    writer.seal({&place, 1}, out);
    text += part;
    stream += as_text(out);
    text_ends.push_back(text.size());
    stream_ends.push_back(stream.size());
  }
  const std::string before = stream;
  fuzzing::mutate(stream, random.below(4), random);
  const auto differs = std::mismatch(before.begin(), before.end(), stream.begin(), stream.end());
  const auto intact = static_cast<std::size_t>(differs.first - before.begin());
  std::size_t whole = 0;
  for (std::size_t i = 0; i < stream_ends.size() && stream_ends[i] <= intact; ++i) {
    whole = text_ends[i];
  }

  net::RecordReader reader(cipher, key);
  std::string opened;
  bool refused = false;
  for (std::size_t at = 0; at < stream.size() && !refused;) {
    const iovec room = reader.room();
    if (room.iov_len == 0) return "the reader has no room";
    const std::size_t count =
        std::min({std::size_t{1} + random.below(3'000), room.iov_len, stream.size() - at});
    std::memcpy(room.iov_base, stream.data() + at, count);
    reader.filled(count);
    at += count;
    while (!refused) {
      std::string direct(random.below(400), '\0'), spare(1 + random.below(400), '\0');
      const iovec places[] = {{direct.data(), direct.size()}, {spare.data(), spare.size()}};
      const auto got = reader.open(places);
      refused = !got;
      if (refused || *got == 0) break;
      const std::size_t first = std::min(*got, direct.size());
      opened += direct.substr(0, first) + spare.substr(0, *got - first);
    }
  }
  if (text.compare(0, opened.size(), opened) != 0) return "bytes came out that nobody has sealed";
  if (opened.size() < whole) return "a record that had come as it was sealed was not opened";
  if (stream == before && (refused || opened != text)) return "a right stream was refused";
  return {};
}

}  // namespace

int main(int argc, char** argv) { return fuzzing::run(argc, argv, streams_in_a_test, run_one); }
