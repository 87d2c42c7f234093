// What each customer has spent: the runtime keeps a state for every key, saves what has changed of
// it, and shares it out anew when the job goes on with another number of replicas.
//
//     11_state_by_key PURCHASES [REPLICAS]      (lines "CUSTOMER CENTS")

#include <piracema/piracema.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

using namespace piracema;

struct Purchase {
  std::string customer;
  std::int64_t cents = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(customer, cents);
  }
};

struct Account {
  std::int64_t purchases = 0, cents = 0;
};

Purchase purchase_of(const std::string& line) {
  const std::size_t space = std::min(line.find(' '), line.size());
  return {line.substr(0, space), std::atoll(line.c_str() + space)};
}

// `account` is that of the item's key; it begins as Account{}.
struct Spend {
  void operator()(const Purchase& bought, Account& account, Emit<std::string>& emit) {
    account.purchases += 1;
    account.cents += bought.cents;
    if (bought.cents > 100'000) emit(bought.customer + " has bought something large");
  }
  void finish(const std::string& customer, Account& account, Emit<std::string>& emit) {
    emit(customer + ": " + std::to_string(account.purchases) + " purchases, " +
         std::to_string(account.cents) + " cents");
  }
};

void print(const std::string& line) { std::puts(line.c_str()); }

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s PURCHASES [REPLICAS]\n", argv[0]);
    return 2;
  }
  const auto replicas = static_cast<std::uint32_t>(argc > 2 ? std::atoi(argv[2]) : 2);
  return run(pipeline(source("lines", FileLines{argv[1]}), farm("read", 2, purchase_of),
                      farm("spend", replicas, Spend{}).by_key([](const Purchase& bought) {
                        return bought.customer;
                      }),
                      sink("print", print)));
}
