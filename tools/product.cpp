#include "tools/product.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/ensure.h"
#include "base/text.h"

namespace piracema::tools {

std::span<const Product> products() {
  static constexpr Product all[] = {
      {"cluster", "Nodes that run what they are asked to: run one, submit jobs"},
      {"kv", "A replicated key-value map: run its replicas, ask it"},
      {"coll", "Run an MPI job whose collectives follow the network"},
      {"ckpt", "Checkpoint and restart of programs that know nothing of it"},
  };
  return all;
}

std::string product_help(std::string_view name) {
  for (const Product& product : products()) {
    if (name == product.name) return product.help;
  }
  ENSURE(false);
}

std::string program_of(const Product& product) {
  std::error_code ignored;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  return (self.parent_path() / concat("piracema-", std::string_view(product.name))).string();
}

Error become(const Product& product, char** argv) {
  const std::string program = program_of(product);
  ::execv(program.c_str(), argv);
  return {Errc::config,
          concat("piracema ", std::string_view(product.name), " is a program of its own: want ",
                 program, ", found: ", std::generic_category().message(errno),
                 "; in a source tree, scripts/build release piracema-",
                 std::string_view(product.name), " makes it")};
}

std::vector<char*> product_words(const char* name, int argc, char** argv) {
  std::vector<char*> words(argv, argv + argc);
  if (words.empty()) words.push_back(const_cast<char*>("piracema"));
  if (words.size() < 2 || std::string_view(words[1]) != name) {
    words.insert(words.begin() + 1, const_cast<char*>(name));
  }
  words.push_back(nullptr);
  return words;
}

}  // namespace piracema::tools
