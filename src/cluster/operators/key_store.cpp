#include <piracema/codec.h>
#include <piracema/detail/key_store.h>

#include <stdexcept>
#include <utility>

#include "base/text.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace piracema::operators::detail {

namespace {
thread_local KeyStore* of_this_thread = nullptr;
}

KeyStore& KeyStore::current() {
  if (of_this_thread == nullptr) {
    throw std::logic_error("the keyStore belongs to a replica: use it inside an operator");
  }
  return *of_this_thread;
}

KeyStore::Use::Use(KeyStore& store) : before_(std::exchange(of_this_thread, &store)) {}
KeyStore::Use::~Use() { of_this_thread = before_; }

void KeyStore::put(const std::string& key, std::uint64_t type, Buffer value) {
  values_[key] = {type, std::make_shared<const Buffer>(std::move(value))};
}

const KeyStore::Value* KeyStore::find(const std::string& key) const {
  const auto found = values_.find(key);
  if (found != values_.end()) return &found->second;
  return below_ != nullptr ? below_->find(key) : nullptr;
}

void KeyStore::copy_into(KeyStore& to) const {
  for (const auto& [key, value] : values_) to.values_[key] = value;
}

std::size_t KeyStore::bytes() const {
  std::size_t sum = 0;
  for (const auto& [key, value] : values_) sum += key.size() + value.bytes->size();
  return sum;
}

Bytes KeyStore::get(const std::string& key, std::uint64_t type) const {
  const Value* found = find(key);
  if (found == nullptr) {
    throw std::out_of_range(concat("the keyStore has no value for '", key, "'"));
  }
  if (found->type != type) {
    throw std::logic_error(concat("the keyStore holds a value of another type for '", key, "'"));
  }
  return *found->bytes;
}

void KeyStore::save(Buffer& out) const {
  wire::Writer writer(out);
  writer.number(static_cast<std::uint64_t>(values_.size()));
  for (const auto& [key, value] : values_) {
    writer.text(key);
    writer.number(value.type);
    writer.bytes(*value.bytes);
  }
}

void KeyStore::load(Bytes in) {
  wire::Reader reader(in);
  values_.clear();
  const std::size_t count = reader.count(3 * sizeof(std::uint64_t));
  for (std::size_t i = 0; i < count && reader.ok(); ++i) {
    const std::string key = reader.text();
    const auto type = reader.number<std::uint64_t>();
    values_[key] = {type, std::make_shared<const Buffer>(reader.bytes())};
  }
  if (auto read = reader.finish(); !read) throw DecodeError("keyStore: " + read.error().message);
}

}  // namespace piracema::operators::detail
