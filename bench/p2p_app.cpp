// Point to point: a source makes items of one size, a sink checks that all came, in order, whole.
//
//     p2p_app BYTES ITEMS [raw|cereal|handed]
//
// Items are copied raw, or written and read by cereal as a number and a vector of the rest, or
// their memory is handed over. Prints the seconds from the first item made to the last one checked.
#include <piracema/piracema.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

using namespace piracema;

namespace {

std::int64_t nanoseconds() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

template <std::size_t Bytes>
struct Small {
  Small() {}  // Leaves `rest` as it is: what counts is that it travels.
  std::int64_t sequence;
  std::array<char, Bytes - 8> rest;
};
template <>
struct Small<8> {
  std::int64_t sequence;
};

template <class Item>
std::int64_t sequence_of(const Item& item) {
  return item.sequence;
}
std::int64_t sequence_of(const Buffer& item) {
  std::int64_t sequence = 0;
  std::memcpy(&sequence, item.data(), sizeof sequence);
  return sequence;
}

/// Says when the first item was made: it is the only one whose sequence is negative.
template <class Item>
struct Make {
  std::int64_t items = 0, sent = 0;

  std::optional<Item> operator()() {
    std::optional<Item> item;
    if (sent == items) return item;
    item.emplace();
    item->sequence = sent == 0 ? -nanoseconds() : sent;
    sent += 1;
    return item;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(sent);
  }
};

template <class Item>
struct Check {
  std::int64_t items = 0, got = 0, start = 0;

  void operator()(const Item& item) {
    const std::int64_t sequence = sequence_of(item);
    if (got == 0)
      start = -sequence;
    else if (sequence != got)
      throw std::runtime_error("not the next item");
    if (++got == items) {
      std::printf("%.6f\n", static_cast<double>(nanoseconds() - start) / 1e9);
      std::fflush(stdout);
    }
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(got, start);
  }
};

struct ByCereal {
  std::int64_t sequence = 0;
  std::vector<char> rest;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(sequence, rest);
  }
};

/// The same items, of a size that is known when it runs.
struct MakeByCereal {
  std::size_t bytes = 8;
  Make<Small<8>> make;

  std::optional<ByCereal> operator()() {
    const auto small = make();
    if (!small) return std::nullopt;
    return ByCereal{small->sequence, std::vector<char>(bytes - 8)};
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(make);
  }
};

struct MakeHanded {
  std::size_t bytes = 8;
  Make<Small<8>> make;

  std::optional<Buffer> operator()() {
    const auto small = make();
    if (!small) return std::nullopt;
    std::optional<Buffer> item(std::in_place);
    item->resize(bytes);
    std::memcpy(item->data(), &small->sequence, sizeof small->sequence);
    return item;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(make);
  }
};

template <class Item, class Source>
int go_from(Source make, std::int64_t items) {
  return run(pipeline(source("make", std::move(make)), sink("check", Check<Item>{items})));
}

template <class Item>
int go(std::int64_t items) {
  return go_from<Item>(Make<Item>{items}, items);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4 || std::atoll(argv[1]) < 8) return 2;
  const std::int64_t items = std::atoll(argv[2]);
  const std::string_view kind = argc == 4 ? argv[3] : "raw";
  const auto bytes = static_cast<std::size_t>(std::atoll(argv[1]));
  if (kind == "cereal") return go_from<ByCereal>(MakeByCereal{bytes, {items}}, items);
  if (kind == "handed") return go_from<Buffer>(MakeHanded{bytes, {items}}, items);
  if (kind != "raw") return 2;
  switch (bytes) {
    case 8:
      return go<Small<8>>(items);
    case 64:
      return go<Small<64>>(items);
    case 512:
      return go<Small<512>>(items);
    case 4096:
      return go<Small<4096>>(items);
    case 8192:
      return go<Small<8192>>(items);
    case 65536:
      return go<Small<65536>>(items);
    case 262144:
      return go<Small<262144>>(items);
    case 1048576:
      return go<Small<1048576>>(items);
    default:
      return 2;
  }
}
