#include "state/disk/database.h"

#include <piracema/detail/stored_states.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/text.h"

namespace piracema::state {

namespace {

const char* chars(Bytes bytes) { return reinterpret_cast<const char*>(bytes.data()); }
Bytes bytes_of(const char* at, std::size_t size) {
  return {reinterpret_cast<const std::byte*>(at), size};
}

constexpr int log_fatal_only = 4;
// More table files are opened when they are looked into. A process may have a thousand, and several
// replicas.
constexpr int open_files_max = 128;
constexpr double filter_bits = 10;
constexpr int two_level_index = 2;

}  // namespace

Database::Batch::Batch(const Database& of)
    : rocks_(of.rocks_), batch_(rocks_.writebatch_create()) {}
Database::Batch::~Batch() { rocks_.writebatch_destroy(batch_); }
void Database::Batch::put(Bytes key, Bytes value) {
  rocks_.writebatch_put(batch_, chars(key), key.size(), chars(value), value.size());
}
void Database::Batch::remove(Bytes key) {
  rocks_.writebatch_delete(batch_, chars(key), key.size());
}
void Database::Batch::remove_range(Bytes first, Bytes end) {
  rocks_.writebatch_delete_range(batch_, chars(first), first.size(), chars(end), end.size());
}

Database::Snapshot::Snapshot(const Database& of)
    : of_(of),
      snapshot_(of.rocks_.create_snapshot(of.database_)),
      options_(of.rocks_.readoptions_create()) {
  of.rocks_.readoptions_set_snapshot(options_, snapshot_);
}
Database::Snapshot::~Snapshot() {
  of_.rocks_.readoptions_destroy(options_);
  of_.rocks_.release_snapshot(of_.database_, snapshot_);
}

Database::Iterator::Iterator(const Database& of, const Snapshot* at)
    : of_(of),
      iterator_(
          of.rocks_.create_iterator(of.database_, at != nullptr ? at->options_ : of.reading_)) {}
Database::Iterator::~Iterator() { of_.rocks_.iter_destroy(iterator_); }
void Database::Iterator::seek(Bytes key) {
  of_.rocks_.iter_seek(iterator_, chars(key), key.size());
  check();
}
void Database::Iterator::next() {
  of_.rocks_.iter_next(iterator_);
  check();
}
bool Database::Iterator::valid() const { return of_.rocks_.iter_valid(iterator_) != 0; }
Bytes Database::Iterator::key() const {
  std::size_t size = 0;
  const char* const at = of_.rocks_.iter_key(iterator_, &size);
  return bytes_of(at, size);
}
Bytes Database::Iterator::value() const {
  std::size_t size = 0;
  const char* const at = of_.rocks_.iter_value(iterator_, &size);
  return bytes_of(at, size);
}
// What cannot be read is not the end.
void Database::Iterator::check() {
  if (valid()) return;
  char* error = nullptr;
  of_.rocks_.iter_get_error(iterator_, &error);
  of_.check(error);
}

Database::Database(const Rocks& rocks, std::string path)
    : rocks_(rocks),
      path_(std::move(path)),
      writing_(rocks.writeoptions_create()),
      reading_(rocks.readoptions_create()) {
  // What a process that is gone had is in no snapshot, and is not looked for.
  rocks.writeoptions_disable_WAL(writing_, 1);
}

Result<std::unique_ptr<Database>> Database::make(std::string path, std::uint64_t memory) {
  const auto rocks = Rocks::load();
  if (!rocks) return rocks.error();
  const Rocks& r = **rocks;
  std::unique_ptr<Database> made(new Database(r, std::move(path)));

  rocksdb_options_t* const options = r.options_create();
  rocksdb_block_based_table_options_t* const tables = r.block_based_options_create();
  // Half for what is read, filters and indexes included, and half for what is not written yet: one
  // buffer that fills and one that is being written.
  rocksdb_cache_t* const cache = r.cache_create_lru(static_cast<std::size_t>(memory / 2));
  r.block_based_options_set_block_cache(tables, cache);
  r.block_based_options_set_cache_index_and_filter_blocks(tables, 1);
  // In pieces: one of a large file would not fit into a small cache, and be read at each look.
  r.block_based_options_set_index_type(tables, two_level_index);
  r.block_based_options_set_partition_filters(tables, 1);
  r.block_based_options_set_filter_policy(tables, r.filterpolicy_create_bloom_full(filter_bits));
  r.options_set_block_based_table_factory(options, tables);
  r.options_set_write_buffer_size(options, static_cast<std::size_t>(memory / 4));
  r.options_set_create_if_missing(options, 1);
  r.options_set_error_if_exists(options, 1);
  r.options_set_level_compaction_dynamic_level_bytes(options, 1);
  r.options_set_max_open_files(options, open_files_max);
  r.options_set_info_log_level(options, log_fatal_only);
  char* error = nullptr;
  made->database_ = r.open(options, made->path_.c_str(), &error);
  r.cache_destroy(cache);
  r.block_based_options_destroy(tables);
  r.options_destroy(options);
  if (error != nullptr) {
    Error failed{Errc::io, concat(made->path_, ": ", error)};
    r.free(error);
    return failed;
  }
  return made;
}

Database::~Database() {
  if (database_ != nullptr) rocks_.close(database_);
  rocks_.readoptions_destroy(reading_);
  rocks_.writeoptions_destroy(writing_);
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void Database::check(char* error) const {
  if (error == nullptr) return;
  const std::string why = error;
  rocks_.free(error);
  throw engine::StateError(concat(path_, ": ", why));
}

bool Database::get(Bytes key, Buffer& value, const Snapshot* at) const {
  char* error = nullptr;
  rocksdb_pinnableslice_t* const found = rocks_.get_pinned(
      database_, at != nullptr ? at->options_ : reading_, chars(key), key.size(), &error);
  check(error);
  value.clear();
  if (found == nullptr) return false;
  std::size_t size = 0;
  const char* const bytes = rocks_.pinnableslice_value(found, &size);
  value.append(bytes, size);
  rocks_.pinnableslice_destroy(found);
  return true;
}

void Database::write(Batch& batch) {
  char* error = nullptr;
  rocks_.write(database_, writing_, batch.batch_, &error);
  rocks_.writebatch_clear(batch.batch_);
  check(error);
}

}  // namespace piracema::state
