#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <typeinfo>

#include <piracema/bytes.h>

namespace piracema::operators::detail {

/// What `keyStore` works on: the state of one replica. Used by one thread at a time.
class KeyStore {
 public:
  /// What is not in this store is looked up in `below`, if there is one.
  explicit KeyStore(const KeyStore* below = nullptr) : below_(below) {}

  /// That of the replica whose operator this thread is in. Throws std::logic_error if in none.
  static KeyStore& current();

  void put(const std::string& key, std::uint64_t type, Buffer value);
  Bytes get(const std::string& key, std::uint64_t type) const;
  bool contains(const std::string& key) const { return find(key) != nullptr; }
  /// Puts all values into `to` as well; they are shared, not copied.
  void copy_into(KeyStore& to) const;
  void clear() { values_.clear(); }
  /// Of all values, those below not counted.
  std::size_t bytes() const;

  /// Throws DecodeError if `in` is not what `save` wrote.
  void save(Buffer& out) const;
  void load(Bytes in);

  /// Makes a store the current one of this thread for as long as it lives.
  class Use {
   public:
    explicit Use(KeyStore& store);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    KeyStore* before_;
  };

 private:
  struct Value {
    std::uint64_t type = 0;
    std::shared_ptr<const Buffer> bytes;
  };
  const Value* find(const std::string& key) const;

  const KeyStore* below_;
  std::map<std::string, Value> values_;
};

}  // namespace piracema::operators::detail
