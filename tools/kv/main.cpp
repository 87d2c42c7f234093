#include "base/standard_fds.h"
#include "tools/command_line.h"
#include "tools/kv/command.h"
#include "tools/product.h"

int main(int argc, char** argv) {
  using namespace piracema;
  fill_standard_fds();
  auto words = tools::product_words("kv", argc, argv);
  const auto app = tools::make_command_line();
  tools::KvCommand kv(*app);
  return tools::run_command_line(*app, static_cast<int>(words.size()) - 1, words.data(),
                                 [&] { return kv.run(); });
}
