// news_app OUT [readers=N] [bytes=N] [items=N] [pause_us=N]: items of so many bytes, each of
// which all readers get; a line for each item and reader.
#include <piracema/piracema.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "numbers.h"
#include "options.h"

using namespace piracema;

namespace {

/// An item is filled with what its number says.
Buffer news_of(std::int64_t number, std::size_t bytes) {
  Buffer news;
  news.resize(sizeof number + bytes);
  std::memset(news.data(), static_cast<int>(number % 251), news.size());
  std::memcpy(news.data(), &number, sizeof number);
  return news;
}

struct Write : Numbers {
  std::size_t bytes = 0;

  auto operator()() {
    const auto number = Numbers::operator()();
    return number ? std::optional(news_of(*number, bytes)) : std::nullopt;
  }
};

struct Read {
  std::uint32_t reader = 0;

  void start(const Context& context) { reader = context.replica; }
  std::string operator()(const Buffer& news) const {
    std::int64_t number = 0;
    std::memcpy(&number, news.data(), sizeof number);
    const Buffer wanted = news_of(number, news.size() - sizeof number);
    const bool same = std::memcmp(wanted.data(), news.data(), news.size()) == 0;
    return std::to_string(number) + " " + std::to_string(reader) + (same ? "" : " torn");
  }
};

}  // namespace

int main(int argc, char** argv) {
  const Options options(argc, argv);
  const auto readers = static_cast<std::uint32_t>(options.number("readers", 4));
  const auto bytes = static_cast<std::size_t>(options.number("bytes", 1'000));
  return run(pipeline(
      source("write",
             Write{{options.number("items", 1'000), options.number("pause_us", 0)}, bytes}),
      farm("read", readers, Read{}).broadcast(), sink("lines", LineSink{options.out()})));
}
