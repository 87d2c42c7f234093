// States of keys that have maps and lists, in all the forms that there are.
#include <piracema/piracema.h>

#include <cereal/types/base_class.hpp>
#include <cereal/types/map.hpp>
#include <map>

using namespace piracema;

struct Times {
  MapState<std::string, std::int64_t> times;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(times);
  }
};
struct Visit {
  std::map<std::string, int> all;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(all);
  }
};
/// Within a member, in a base, private, with names, and beside others.
class Customer : public Times {
 public:
  void add(const std::string& page) {
    times.put(page, times.get(page).value_or(0) + 1);
    pages_.last.push_back(page);
    visits_.put(1.5, {});
    map_["x"] += 1;
  }

 private:
  friend class cereal::access;
  struct Pages {
    ListState<std::string> last;
    template <class Archive>
    void serialize(Archive& archive) {
      archive& last;
    }
  };
  Pages pages_;
  MapState<double, Visit> visits_;
  std::map<std::string, int> map_;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(cereal::base_class<Times>(this), pages_, cereal::make_nvp("visits", visits_), map_);
  }
};

struct Track {
  void operator()(const std::int64_t& n, Customer& customer, Emit<std::int64_t>& emit) {
    customer.add("page");
    emit(n);
  }
  void finish(const std::int64_t& key, Customer& customer, Emit<std::int64_t>& emit) {
    customer.times.for_each([&](const std::string&, std::int64_t times) { emit(key + times); });
  }
};
/// A map that is the state, of which some are only looked at.
struct Looks {
  std::optional<std::int64_t> operator()(const std::int64_t& n,
                                         KeyedState<MapState<std::int64_t, char>>& seen) {
    if (seen.find() != nullptr && seen.find()->has(n)) return std::nullopt;
    seen.edit().put(n, 'x');
    return n;
  }
  std::chrono::minutes state_ttl() const { return std::chrono::minutes(5); }
};
struct Ends {
  void operator()(std::int64_t n, ListState<std::int64_t>& all) { all.push_back(n); }
  void finish(const std::string&, ListState<std::int64_t>&) {}
};

int main() {
  const auto key = [](const std::int64_t& n) { return n % 10; };
  return run(pipeline(source("numbers", Sequence{1, 10}), farm("track", 2, Track{}).by_key(key),
                      farm("looks", 2, Looks{}).by_key(key, 64),
                      sink("ends", Ends{}).replicas(2).by_key([](const std::int64_t& n) {
                        return std::to_string(n);
                      })));
}
