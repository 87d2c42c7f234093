// Which orders are paid, and how much of the others is owed. What comes first does not matter: both
// inputs see the same state of a number, which the runtime keeps. So it may grow while it runs, and
// lie on disk.
//
//     15_join_by_key ORDERS PAYMENTS [REPLICAS]      (lines "NUMBER CENTS")

#include <piracema/piracema.h>

#include <cstdio>
#include <cstdlib>
#include <string>

using namespace piracema;

struct Order {
  std::int64_t number = 0, cents = 0;
};
struct Payment {
  std::int64_t number = 0, cents = 0;
};

template <class T>
T parse(const std::string& line) {
  char* rest = nullptr;
  const std::int64_t number = std::strtoll(line.c_str(), &rest, 10);
  return {number, std::strtoll(rest, nullptr, 10)};
}

struct Owed {
  std::int64_t ordered = 0, paid = 0;
};

struct Settle {
  void left(const Order& order, Owed& owed, Emit<std::string>& emit) {
    owed.ordered += order.cents;
    tell(order.number, owed, emit);
  }
  void right(const Payment& payment, Owed& owed, Emit<std::string>& emit) {
    owed.paid += payment.cents;
    tell(payment.number, owed, emit);
  }
  void finish(const std::int64_t& number, Owed& owed, Emit<std::string>& emit) {
    if (owed.ordered == owed.paid) return;
    emit(std::to_string(number) + ": " + std::to_string(owed.ordered - owed.paid) + " cents owed");
  }
  static void tell(std::int64_t number, const Owed& owed, Emit<std::string>& emit) {
    if (owed.ordered == owed.paid) emit(std::to_string(number) + ": paid");
  }
};

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s ORDERS PAYMENTS [REPLICAS]\n", argv[0]);
    return 2;
  }
  const auto replicas = static_cast<std::uint32_t>(argc > 3 ? std::atoi(argv[3]) : 2);
  auto orders = pipeline(source("orders", FileLines{argv[1]}), node("order", parse<Order>));
  auto payments = pipeline(source("payments", FileLines{argv[2]}), node("payment", parse<Payment>));
  return run(pipeline(both(orders, payments),
                      join("settle", replicas, Settle{})
                          .by_keys([](const Order& order) { return order.number; },
                                   [](const Payment& payment) { return payment.number; }),
                      sink("print", [](const std::string& line) { std::puts(line.c_str()); })));
}
