// What each customer has bought, product by product, and what it bought last: a map and a list in
// the state of a key, of which a purchase writes an entry each and not all.
//
//     16_state_in_rows PURCHASES [REPLICAS]      (lines "CUSTOMER PRODUCT")

#include <piracema/piracema.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

using namespace piracema;

struct Purchase {
  std::string customer, product;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(customer, product);
  }
};

struct Customer {
  MapState<std::string, std::int64_t> bought;
  ListState<std::string> last;
  std::int64_t purchases = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(bought), CEREAL_NVP(last), CEREAL_NVP(purchases));
  }
};

Purchase purchase_of(const std::string& line) {
  const std::size_t space = std::min(line.find(' '), line.size());
  return {line.substr(0, space), line.substr(std::min(space + 1, line.size()))};
}

struct Remember {
  void operator()(const Purchase& one, Customer& customer, Emit<std::string>&) {
    customer.purchases += 1;
    customer.bought.put(one.product, customer.bought.get(one.product).value_or(0) + 1);
    customer.last.push_back(one.product);
    if (customer.last.size() > 2) customer.last.pop_front();
  }
  void finish(const std::string& name, Customer& customer, Emit<std::string>& emit) {
    std::string all = name + ":";
    customer.bought.for_each([&](const std::string& product, std::int64_t times) {
      all += " " + product + " " + std::to_string(times) + ",";
    });
    all += " last";
    customer.last.for_each([&](const std::string& product) { all += " " + product; });
    emit(all);
  }
};

void print(const std::string& line) { std::puts(line.c_str()); }

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s PURCHASES [REPLICAS]\n", argv[0]);
    return 2;
  }
  const auto replicas = static_cast<std::uint32_t>(argc > 2 ? std::atoi(argv[2]) : 2);
  return run(pipeline(source("lines", FileLines{argv[1]}), node("read", purchase_of),
                      farm("remember", replicas, Remember{}).by_key([](const Purchase& one) {
                        return one.customer;
                      }),
                      sink("print", print)));
}
