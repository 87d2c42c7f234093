#include "base/standard_fds.h"
#include "tools/coll/command.h"
#include "tools/command_line.h"
#include "tools/product.h"

int main(int argc, char** argv) {
  using namespace piracema;
  fill_standard_fds();
  auto words = tools::product_words("coll", argc, argv);
  const auto app = tools::make_command_line();
  tools::CollCommand coll(*app);
  const int own = coll.take_launcher(static_cast<int>(words.size()) - 1, words.data());
  return tools::run_command_line(*app, own, words.data(), [&] { return coll.run(); });
}
