#pragma once

#include <piracema/error.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace piracema::tools {

/// A product beside the streams. It is a program of its own behind `piracema`, as git's commands
/// are, and is built when it is asked for: `piracema kv …` becomes `piracema-kv kv …`.
struct Product {
  const char* name;
  const char* help;
};

/// In the order of the help.
std::span<const Product> products();

/// What the product is, in a line.
std::string product_help(std::string_view name);

/// The program of the product, which lies beside this one, if it was built.
std::string program_of(const Product& product);

/// Becomes the program of the product, with the same words. Returns
/// only if that cannot be: Errc::config.
Error become(const Product& product, char** argv);

/// The words of a product's program, which may be called without its name, too: `piracema-kv put`.
/// They end with a null pointer that is not counted; what they point to belongs to `argv` and
/// `name`.
std::vector<char*> product_words(const char* name, int argc, char** argv);

}  // namespace piracema::tools
