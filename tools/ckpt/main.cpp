#include <cstdlib>

#include "base/standard_fds.h"
#include "ckpt/capsule/hook.h"
#include "tools/ckpt/command.h"
#include "tools/ckpt/program.h"
#include "tools/command_line.h"
#include "tools/product.h"

int main(int argc, char** argv) {
  using namespace piracema;
  fill_standard_fds();
  // criu names a file to call, without words for it.
  if (argc == 1 && std::getenv(ckpt::hook_variable) != nullptr) return ckpt::run_hook();
  auto words = tools::product_words("ckpt", argc, argv);
  const int count = static_cast<int>(words.size()) - 1;
  if (const auto code = tools::run_ckpt_part(count, words.data())) return *code;
  const auto app = tools::make_command_line();
  tools::CkptCommand ckpt(*app);
  const int own = ckpt.take_program(count, words.data());
  return tools::run_command_line(*app, own, words.data(), [&] { return ckpt.run(); });
}
