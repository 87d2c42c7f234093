// Compiles: what the other files here get wrong, done right. Else they would fail for any reason.
#include <piracema/piracema.h>

#include <optional>
#include <string>

using namespace piracema;

struct Person {
  std::string name;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(name);
  }
};

int main() {
  return run(pipeline(
      source("ones", []() -> std::optional<std::int64_t> { return std::nullopt; }),
      node("name", [](const std::int64_t&, Emit<Person>& emit) { emit(Person{"somebody"}); }),
      sink("end", [](const Person&) {})));
}
