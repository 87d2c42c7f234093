// What bench/streams/snapshots.py takes snapshots of: two workers with so many keys between them,
// and a state of VALUE bytes for each.
//
//     snapshots_app FOLDER KEYS VALUE QUIET SECONDS
//
// Two sources give each key its state, as fast as they can. Then they draw from a window of one
// percent of the keys, which moves by four percent a second: so five percent change in a second,
// again and again. They do that for QUIET seconds, and for SECONDS more, in which each counts its
// items: FOLDER/items-N has them. VALUE is 96 or 1000.

#include <piracema/piracema.h>

#include <array>
#include <cereal/types/array.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

using namespace piracema;

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t sources = 2;

struct Plan {
  std::string folder;
  std::uint64_t keys = 0;
  std::chrono::seconds quiet{}, measured{};
};

class Keys {
 public:
  explicit Keys(Plan plan) : plan_(std::move(plan)) {}

  void start(const Context& context) {
    mine_ = context.replica % sources;
    drawn_ = mine_ + 1;
  }

  std::optional<std::uint64_t> operator()() {
    if (given_ < plan_.keys / sources) return given_++ * sources + mine_;
    // Looking at the clock costs as much as an item.
    if (drawn_++ % 256 == 0 && !go_on()) return std::nullopt;
    items_ += 1;
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    const std::uint64_t in_window = (random_ >> 33) % (plan_.keys / 100);
    return (first_ + in_window) % plan_.keys;
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(given_);
  }

 private:
  bool go_on() {
    const auto now = Clock::now();
    if (begun_ == Clock::time_point{}) begun_ = now;
    const std::chrono::duration<double> passed = now - begun_;
    first_ = static_cast<std::uint64_t>(static_cast<double>(plan_.keys) * 0.04 * passed.count());
    if (!measures_ && passed >= plan_.quiet) {
      measures_ = true;
      items_ = 0;
    }
    if (passed < plan_.quiet + plan_.measured) return true;
    std::FILE* file = std::fopen((plan_.folder + "/items-" + std::to_string(mine_)).c_str(), "w");
    if (file == nullptr) std::abort();
    std::fprintf(file, "%llu\n", static_cast<unsigned long long>(items_));
    std::fclose(file);
    return false;
  }

  Plan plan_;
  std::uint64_t mine_ = 0, given_ = 0, drawn_ = 0, random_ = 1, first_ = 0, items_ = 0;
  Clock::time_point begun_{};
  bool measures_ = false;
};

template <std::size_t Bytes>
struct Value {
  std::array<std::uint64_t, Bytes / 8> words{};
  template <class Archive>
  void serialize(Archive& archive) {
    archive(cereal::binary_data(words.data(), sizeof words));
  }
};

template <std::size_t Bytes>
int run_with(const Plan& plan) {
  return run(pipeline(
      source("keys", Keys(plan)).replicas(sources),
      sink("states", [](const std::uint64_t& key,
                        Value<Bytes>& value) { value.words[key % value.words.size()] += 1; })
          .replicas(2)
          .by_key([](const std::uint64_t& key) { return key; })));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string value = argc == 6 ? argv[3] : "";
  if (value != "96" && value != "1000") {
    std::fprintf(stderr, "usage: %s FOLDER KEYS 96|1000 QUIET SECONDS\n", argv[0]);
    return 2;
  }
  const Plan plan{argv[1], std::strtoull(argv[2], nullptr, 10),
                  std::chrono::seconds(std::atoi(argv[4])),
                  std::chrono::seconds(std::atoi(argv[5]))};
  return value == "96" ? run_with<96>(plan) : run_with<1000>(plan);
}
