// What takes a state for each key, in all the forms that there are.
#include <piracema/piracema.h>

#include <cereal/types/map.hpp>
#include <map>

using namespace piracema;

struct Total {
  std::int64_t sum = 0;
};
struct Seen {
  std::map<std::string, int> all;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(all);
  }
};

struct Both {
  void operator()(const std::int64_t& n, Total& total, Emit<std::int64_t>& emit) {
    total.sum += n;
    if (n == 3) emit(total.sum);
  }
  void finish(const std::int64_t& key, Total& total, Emit<std::int64_t>& emit) {
    emit(key + total.sum);
  }
  void finish(Emit<std::int64_t>& emit) { emit(0); }
};

struct Looks {
  std::optional<std::int64_t> operator()(const std::int64_t& n, KeyedState<Seen>& seen) {
    if (const Seen* known = seen.find()) return static_cast<std::int64_t>(known->all.size());
    if (n == 7) seen.erase();
    seen.edit().all["x"] += 1;
    return std::nullopt;
  }
};

struct Ends {
  void operator()(std::int64_t n, Total& total) { total.sum += n; }
  void finish(const std::string&, Total&) {}
};

int main() {
  const auto key = [](const std::int64_t& n) { return n % 10; };
  return run(pipeline(source("numbers", Sequence{1, 10}), farm("both", 2, Both{}).by_key(key),
                      farm("looks", 2, Looks{}).batch({.items = 10}).by_key(key, 64),
                      sink("ends", Ends{}).replicas(2).by_key([](const std::int64_t& n) {
                        return std::to_string(n);
                      })));
}
