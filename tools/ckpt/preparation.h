#pragma once

#include <piracema/error.h>

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "ckpt/keeper/keeper_loop.h"

namespace piracema::tools {

/// What a user wants to come before an image, and after a restart from one; as typed.
struct PreparationOptions {
  std::string before_save, after_restore;
  std::string command_within = "10s";
  std::string good_moment_within;
};

/// `options` outlives `app`.
void add_preparation_options(CLI::App& app, PreparationOptions& options);

/// The words that say the same again.
std::vector<std::string> words_of(const PreparationOptions& options);

/// Errc::usage for a time that is none.
Result<Done> apply_preparation(const PreparationOptions& options, ckpt::RunSettings& settings);

}  // namespace piracema::tools
