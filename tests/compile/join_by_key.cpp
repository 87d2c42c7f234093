#include <piracema/piracema.h>

#include <string>

using namespace piracema;

struct Match {
  void left(const int&, std::string& state, Emit<int>& emit) {
    emit(static_cast<int>(state.size()));
  }
  void right(const long&, KeyedState<std::string>& state, Emit<int>& emit) {
    if (state.find() != nullptr) emit(1);
  }
};

int main() {
  return run(pipeline(
      both(source("a", [] { return std::optional<int>(); }),
           source("b", [] { return std::optional<long>(); })),
      join("match", 2, Match{})
          .batch({})
          .by_keys([](const int& a) { return long{a}; }, [](const long& b) { return b; }, 64),
      sink("drop", [](const int&) {})));
}
