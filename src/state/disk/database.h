#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <cstdint>
#include <memory>
#include <string>

#include "state/disk/rocks.h"

namespace piracema::state {

/// A RocksDB that nobody needs once its process is gone: it is made empty, writes no log ahead, and
/// its directory goes with it. One thread. What it cannot do it throws: StateError with the path.
class Database {
 public:
  /// Changes that are made at once.
  class Batch {
   public:
    explicit Batch(const Database& of);
    ~Batch();
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

    void put(Bytes key, Bytes value);
    void remove(Bytes key);
    /// From `first` to before `end`.
    void remove_range(Bytes first, Bytes end);

   private:
    friend class Database;
    const Rocks& rocks_;
    rocksdb_writebatch_t* batch_;
  };

  /// How all was at a moment.
  class Snapshot {
   public:
    explicit Snapshot(const Database& of);
    ~Snapshot();
    Snapshot(const Snapshot&) = delete;
    Snapshot& operator=(const Snapshot&) = delete;

   private:
    friend class Database;
    const Database& of_;
    const rocksdb_snapshot_t* snapshot_;
    rocksdb_readoptions_t* options_;
  };

  /// Goes through keys in their order: as they were at `at`, or when it was made if that is null.
  class Iterator {
   public:
    explicit Iterator(const Database& of, const Snapshot* at = nullptr);
    ~Iterator();
    Iterator(const Iterator&) = delete;
    Iterator& operator=(const Iterator&) = delete;

    /// The first key that is not before this one.
    void seek(Bytes key);
    void next();
    bool valid() const;
    /// Until it moves.
    Bytes key() const;
    Bytes value() const;

   private:
    void check();

    const Database& of_;
    rocksdb_iterator_t* iterator_;
  };

  /// Makes the directory `path`, which is not there. It takes about `memory` bytes. Errc::config
  /// without RocksDB, Errc::io with its reason.
  static Result<std::unique_ptr<Database>> make(std::string path, std::uint64_t memory);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// In place of what `value` holds; false if there is none. `at` null: as it is now.
  bool get(Bytes key, Buffer& value, const Snapshot* at = nullptr) const;
  /// Clears `batch`.
  void write(Batch& batch);

  const std::string& path() const { return path_; }

 private:
  Database(const Rocks& rocks, std::string path);
  /// Throws what RocksDB says, if it says anything.
  void check(char* error) const;

  const Rocks& rocks_;
  const std::string path_;
  rocksdb_t* database_ = nullptr;
  rocksdb_writeoptions_t* writing_ = nullptr;
  rocksdb_readoptions_t* reading_ = nullptr;
};

}  // namespace piracema::state
