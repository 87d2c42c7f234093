#include <piracema/detail/assembly.h>
#include <piracema/detail/state_layout.h>

#include <algorithm>
#include <stdexcept>

namespace piracema::detail {

namespace {
// A `load` that waits for an end mark never gets one.
constexpr std::size_t text_max = std::size_t{64} << 10;
}  // namespace

void StateLayout::word(const std::string& text) {
  if (text_.size() > text_max) throw std::length_error("a layout without end");
  if (follows_) text_ += ", ";
  text_ += text;
  follows_ = true;
}

void StateLayout::number(char sort, std::size_t bytes) {
  word(sort == 'b' ? "bool" : sort + std::to_string(8 * bytes));
}

void StateLayout::raw(std::size_t bytes) { word(std::to_string(bytes) + " bytes"); }

void StateLayout::opaque(const std::type_info& type) { word(demangle(type.name())); }

void StateLayout::name(const char* text) {
  word(std::string(text) + ": ");
  follows_ = false;
}

void StateLayout::open(const std::string& text) {
  word(text);
  follows_ = false;
}

void StateLayout::close(const std::string& text) {
  text_ += text;
  follows_ = true;
}

void StateLayout::enter(const std::type_info& type) {
  open("{");
  within_.push_back(&type);
}

void StateLayout::leave() {
  close("}");
  within_.pop_back();
}

bool StateLayout::is_within(const std::type_info& type) const {
  return std::any_of(within_.begin(), within_.end(),
                     [&](const std::type_info* each) { return *each == type; });
}

}  // namespace piracema::detail
