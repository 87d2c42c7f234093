// Matches what was bought with what was paid, by number: a node with two inputs. Who has not paid
// after a minute is told of, once.
//
//     10_join PURCHASES PAYMENTS
//
// Lines of both are "NUMBER TEXT". PAYMENTS is a directory whose files appear and grow: payments
// are waited for until a file END is there.

#include <piracema/piracema.h>

#include <cereal/types/map.hpp>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

using namespace piracema;

struct Purchase {
  std::int64_t number = 0;
  std::string text;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(number, text);
  }
};
struct Payment : Purchase {};

template <class T>
T parse(const std::string& line) {
  T item;
  char* rest = nullptr;
  item.number = std::strtoll(line.c_str(), &rest, 10);
  item.text = rest;
  return item;
}

struct Match {
  struct Open {
    std::string text;
    std::int64_t due = 0;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(text, due);
    }
  };
  std::map<std::int64_t, Open> purchases;
  std::map<std::int64_t, std::string> early;
  std::function<WallTime()> now;

  void start(const Context& context) { now = context.now; }

  void left(const Purchase& bought, Emit<std::string>& emit) {
    const auto paid = early.find(bought.number);
    if (paid == early.end()) {
      const WallTime due = now() + std::chrono::minutes(1);
      purchases[bought.number] = {bought.text, due.time_since_epoch().count()};
    } else {
      emit(bought.text + " was paid by" + paid->second);
      early.erase(paid);
    }
  }
  void right(const Payment& paid, Emit<std::string>& emit) {
    const auto bought = purchases.find(paid.number);
    if (bought == purchases.end()) {
      early[paid.number] = paid.text;
    } else {
      emit(bought->second.text + " was paid by" + paid.text);
      purchases.erase(bought);
    }
  }

  // Purchases have rising numbers, so that the first one is due first.
  std::optional<WallTime> next_timer() const {
    if (purchases.empty()) return std::nullopt;
    return WallTime(WallTime::duration(purchases.begin()->second.due));
  }
  void on_timer(WallTime, Emit<std::string>& emit) {
    emit(purchases.begin()->second.text + " was not paid");
    purchases.erase(purchases.begin());
  }
  void finish(Emit<std::string>& emit) {
    for (const auto& [number, open] : purchases) emit(open.text + " was not paid");
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(purchases, early);
  }
};

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s PURCHASES PAYMENTS\n", argv[0]);
    return 2;
  }
  auto purchases =
      pipeline(source("purchases", FileLines{argv[1]}), node("purchase", parse<Purchase>));
  auto payments = pipeline(source("payments", DirectoryLines{argv[2], {.end_mark = "END"}}),
                           node("payment", parse<Payment>));
  return run(pipeline(both(purchases, payments),
                      join("match", 2, Match{})
                          .by_keys([](const Purchase& bought) { return bought.number; },
                                   [](const Payment& paid) { return paid.number; }),
                      sink("print", [](const std::string& line) { std::puts(line.c_str()); })));
}
