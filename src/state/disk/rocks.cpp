#include "state/disk/rocks.h"

#include <dlfcn.h>

#include <mutex>
#include <type_traits>

#if __has_include(<rocksdb/c.h>)
#include <rocksdb/c.h>
// What is declared in rocks.h is held to the header where there is one.
#define PIRACEMA_SAME(name) \
  static_assert(            \
      std::is_same_v<decltype(::piracema::state::Rocks::name), decltype(&::rocksdb_##name)>)
#else
#define PIRACEMA_SAME(name) static_assert(true)
#endif

namespace piracema::state {

namespace {

// Debian 12, Ubuntu 22.04 and 24.04, and what a development package or another system has.
constexpr const char* names[] = {"librocksdb.so.7.8", "librocksdb.so.6.11", "librocksdb.so.8.9",
                                 "librocksdb.so"};

void* open_library() {
  for (const char* name : names) {
    if (void* handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return handle;
  }
  return nullptr;
}

}  // namespace

Result<const Rocks*> Rocks::load() {
  static std::mutex mutex;
  static Rocks library;
  static bool whole = false;
  const std::lock_guard lock(mutex);
  if (whole) return &library;
  void* handle = open_library();
  if (handle == nullptr) {
    return Error{Errc::config,
                 "states on disk want librocksdb: install librocksdb7.8 (Debian 12), "
                 "librocksdb6.11 or librocksdb8.9 (Ubuntu 22.04, 24.04)"};
  }
  const char* missing = nullptr;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(handle, name));
    if (function == nullptr && missing == nullptr) missing = name;
  };
#define PIRACEMA_FIND(name) \
  PIRACEMA_SAME(name);      \
  find(library.name, "rocksdb_" #name)
  PIRACEMA_FIND(options_create);
  PIRACEMA_FIND(options_destroy);
  PIRACEMA_FIND(options_set_create_if_missing);
  PIRACEMA_FIND(options_set_error_if_exists);
  PIRACEMA_FIND(options_set_write_buffer_size);
  PIRACEMA_FIND(options_set_max_open_files);
  PIRACEMA_FIND(options_set_info_log_level);
  PIRACEMA_FIND(options_set_level_compaction_dynamic_level_bytes);
  PIRACEMA_FIND(options_set_block_based_table_factory);
  PIRACEMA_FIND(block_based_options_create);
  PIRACEMA_FIND(block_based_options_destroy);
  PIRACEMA_FIND(block_based_options_set_block_cache);
  PIRACEMA_FIND(block_based_options_set_filter_policy);
  PIRACEMA_FIND(block_based_options_set_cache_index_and_filter_blocks);
  PIRACEMA_FIND(block_based_options_set_index_type);
  PIRACEMA_FIND(block_based_options_set_partition_filters);
  PIRACEMA_FIND(cache_create_lru);
  PIRACEMA_FIND(cache_destroy);
  PIRACEMA_FIND(filterpolicy_create_bloom_full);
  PIRACEMA_FIND(writeoptions_create);
  PIRACEMA_FIND(writeoptions_destroy);
  PIRACEMA_FIND(writeoptions_disable_WAL);
  PIRACEMA_FIND(readoptions_create);
  PIRACEMA_FIND(readoptions_destroy);
  PIRACEMA_FIND(readoptions_set_snapshot);
  PIRACEMA_FIND(open);
  PIRACEMA_FIND(close);
  PIRACEMA_FIND(write);
  PIRACEMA_FIND(get_pinned);
  PIRACEMA_FIND(pinnableslice_value);
  PIRACEMA_FIND(pinnableslice_destroy);
  PIRACEMA_FIND(writebatch_create);
  PIRACEMA_FIND(writebatch_destroy);
  PIRACEMA_FIND(writebatch_clear);
  PIRACEMA_FIND(writebatch_put);
  PIRACEMA_FIND(writebatch_delete);
  PIRACEMA_FIND(writebatch_delete_range);
  PIRACEMA_FIND(create_snapshot);
  PIRACEMA_FIND(release_snapshot);
  PIRACEMA_FIND(create_iterator);
  PIRACEMA_FIND(iter_destroy);
  PIRACEMA_FIND(iter_valid);
  PIRACEMA_FIND(iter_seek);
  PIRACEMA_FIND(iter_next);
  PIRACEMA_FIND(iter_key);
  PIRACEMA_FIND(iter_value);
  PIRACEMA_FIND(iter_get_error);
  PIRACEMA_FIND(free);
#undef PIRACEMA_FIND
  if (missing != nullptr) {
    return Error{
        Errc::config,
        std::string("librocksdb: want version 6.11 or later, found one without ") + missing};
  }
  whole = true;
  return &library;
}

}  // namespace piracema::state
