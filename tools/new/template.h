#pragma once

#include <span>

namespace piracema::tools {

/// A file of the project that `piracema new` makes, with @NAME@ and @VERSION@ where they belong.
struct TemplateFile {
  const char *name, *text;
};

/// The files of tools/new/template, which are compiled in.
std::span<const TemplateFile> template_files();

}  // namespace piracema::tools
