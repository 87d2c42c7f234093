// error: by key both take a `V&` of one type between them, the state of the key
#include <piracema/piracema.h>

struct Match {
  void left(const int&, int& state, piracema::Emit<int>&) { state += 1; }
  void right(const long&, long& state, piracema::Emit<int>&) { state += 1; }
};

int main() {
  const auto match = piracema::join("match", 2, Match{});
  static_cast<void>(match);
}
