// What may break between a program and the shared library: a graph that is made before main,
// exceptions by their types, a cast to what the library's own classes are, what belongs to a
// thread, and how the program's exceptions end a job.
//
//     border          prints a line for each
//     border fail     an operator throws what only the program knows

#include <piracema/operators.h>
#include <piracema/piracema.h>
#include <piracema/smr/key_value.h>
#include <piracema/smr/watchable.h>

#include <iostream>
#include <stdexcept>
#include <string_view>
#include <thread>

using namespace piracema;
namespace key_store = piracema::operators::keyStore;
using Store = piracema::operators::detail::KeyStore;

namespace {

struct TooLarge : std::runtime_error {
  using std::runtime_error::runtime_error;
};

bool fails = false;

std::int64_t square(const std::int64_t& n) {
  if (fails && n == 4) throw TooLarge("four is too large");
  return n * n;
}

// The initialisers of the program run after those of the library.
const Graph squares =
    pipeline(source("numbers", Sequence{1, 5}), farm("square", 2, square).ordered(),
             sink("print", [](const std::int64_t& n) { std::cout << n << "\n"; }));

bool no_store_here() {
  try {
    key_store::store("n", 1);
  } catch (const std::logic_error&) {
    return true;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  fails = argc > 1 && std::string_view(argv[1]) == "fail";
  if (argc == 1) {
    try {
      Store().load(as_bytes("no store"));
    } catch (const DecodeError&) {
      std::cout << "an exception of the library\n";
    }
    const auto machine = smr::kv::make_machine();
    if (dynamic_cast<const smr::Watchable*>(machine.get()) != nullptr) std::cout << "a cast\n";

    Store store;
    const Store::Use use(store);
    key_store::store("n", 7);
    bool elsewhere = false;
    std::thread([&] { elsewhere = no_store_here(); }).join();
    if (elsewhere && key_store::retrieve<int>("n") == 7) std::cout << "a store for a thread\n";
    try {
      key_store::retrieve<int>("m");
    } catch (const std::out_of_range&) {
      std::cout << "no such key\n";
    }
  }
  return run(squares);
}
