// Tells which replica gets which item.
//
//     delivery_app OUT how=on_demand|round_robin|by_key|custom|broadcast [items=N]
//
// Writes "REPLICA ITEM" lines. On demand there are two replicas, one of which takes 10 ms for an
// item, the other 20 ms; else there are three.
#include <piracema/piracema.h>

#include <chrono>
#include <string>
#include <thread>

#include "options.h"

using namespace piracema;

struct Work {
  bool slow = false;
  std::uint32_t replica = 0;

  void start(const Context& context) { replica = context.replica; }
  std::string operator()(const std::int64_t& n) const {
    if (slow) std::this_thread::sleep_for(std::chrono::milliseconds(10 * (replica + 1)));
    return std::to_string(replica) + " " + std::to_string(n);
  }
};

auto work_for(const std::string& how) {
  if (how == "on_demand") return farm("work", 2, Work{true});
  auto work = farm("work", 3, Work{});
  if (how == "round_robin") return std::move(work).round_robin();
  if (how == "by_key") return std::move(work).by_key([](const std::int64_t& n) { return n % 10; });
  if (how == "custom")
    return std::move(work).route([](const std::int64_t& n) { return n / 7 % 3; });
  return std::move(work).broadcast();
}

int main(int argc, char** argv) {
  const Options options(argc, argv);
  return run(pipeline(source("numbers", Sequence{1, options.number("items", 300)}),
                      work_for(options.text("how")), sink("lines", LineSink(options.out()))));
}
