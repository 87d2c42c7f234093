#include "tools/top/json_view.h"

#include <cmath>
#include <cstdio>

#include "tools/terminal_text.h"
#include "tools/top/terminal_page.h"

namespace piracema::tools {

const nlohmann::json& JsonView::at(const char* name) const {
  static const nlohmann::json nothing;
  if (!value_->is_object()) return nothing;
  const auto found = value_->find(name);
  return found == value_->end() ? nothing : *found;
}

double JsonView::number(const char* name) const { return JsonView(at(name)).number().value_or(0); }

std::string JsonView::count(const char* name) const {
  char out[32];
  std::snprintf(out, sizeof out, "%.0f", number(name));
  return out;
}

std::string JsonView::text(const char* name) const {
  const nlohmann::json& one = at(name);
  return terminal_text(one.is_string() ? one.get<std::string>() : "");
}

bool JsonView::flag(const char* name) const {
  const nlohmann::json& one = at(name);
  return one.is_boolean() && one.get<bool>();
}

std::vector<JsonView> JsonView::list(const char* name) const {
  const nlohmann::json& all = at(name);
  std::vector<JsonView> found;
  if (!all.is_array()) return found;
  for (const nlohmann::json& one : all) found.emplace_back(one);
  return found;
}

std::vector<std::string> JsonView::texts(const char* name) const {
  std::vector<std::string> found;
  for (const JsonView& one : list(name)) {
    if (one.value_->is_string()) found.push_back(terminal_text(one.value_->get<std::string>()));
  }
  return found;
}

std::string JsonView::words(const char* name) const {
  std::string words;
  for (const std::string& one : texts(name)) words += (words.empty() ? "" : " ") + one;
  return words;
}

std::optional<double> JsonView::number() const {
  if (!value_->is_number()) return std::nullopt;
  const double found = value_->get<double>();
  return std::isfinite(found) ? std::optional(found) : std::nullopt;
}

std::string known_seconds(const JsonView& one, const char* name) {
  return one.has(name) ? short_seconds(one.number(name)) : "-";
}

}  // namespace piracema::tools
