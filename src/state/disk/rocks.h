#pragma once

#include <piracema/error.h>

#include <cstddef>

// The types of RocksDB's C interface (rocksdb/c.h), which need not be installed to build this.
struct rocksdb_t;
struct rocksdb_options_t;
struct rocksdb_block_based_table_options_t;
struct rocksdb_cache_t;
struct rocksdb_filterpolicy_t;
struct rocksdb_writeoptions_t;
struct rocksdb_readoptions_t;
struct rocksdb_writebatch_t;
struct rocksdb_iterator_t;
struct rocksdb_snapshot_t;
struct rocksdb_pinnableslice_t;

namespace piracema::state {

/// The functions of RocksDB that are used here, as rocksdb/c.h has them. Linked at its first use
/// and not with every program: most keep their states in memory. From version 6.11 on.
struct Rocks {
  rocksdb_options_t* (*options_create)();
  void (*options_destroy)(rocksdb_options_t*);
  void (*options_set_create_if_missing)(rocksdb_options_t*, unsigned char);
  void (*options_set_error_if_exists)(rocksdb_options_t*, unsigned char);
  void (*options_set_write_buffer_size)(rocksdb_options_t*, std::size_t);
  void (*options_set_max_open_files)(rocksdb_options_t*, int);
  void (*options_set_info_log_level)(rocksdb_options_t*, int);
  void (*options_set_level_compaction_dynamic_level_bytes)(rocksdb_options_t*, unsigned char);
  void (*options_set_block_based_table_factory)(rocksdb_options_t*,
                                                rocksdb_block_based_table_options_t*);
  rocksdb_block_based_table_options_t* (*block_based_options_create)();
  void (*block_based_options_destroy)(rocksdb_block_based_table_options_t*);
  void (*block_based_options_set_block_cache)(rocksdb_block_based_table_options_t*,
                                              rocksdb_cache_t*);
  void (*block_based_options_set_filter_policy)(rocksdb_block_based_table_options_t*,
                                                rocksdb_filterpolicy_t*);
  void (*block_based_options_set_cache_index_and_filter_blocks)(
      rocksdb_block_based_table_options_t*, unsigned char);
  void (*block_based_options_set_index_type)(rocksdb_block_based_table_options_t*, int);
  void (*block_based_options_set_partition_filters)(rocksdb_block_based_table_options_t*,
                                                    unsigned char);
  rocksdb_cache_t* (*cache_create_lru)(std::size_t);
  void (*cache_destroy)(rocksdb_cache_t*);
  rocksdb_filterpolicy_t* (*filterpolicy_create_bloom_full)(double);
  rocksdb_writeoptions_t* (*writeoptions_create)();
  void (*writeoptions_destroy)(rocksdb_writeoptions_t*);
  void (*writeoptions_disable_WAL)(rocksdb_writeoptions_t*, int);
  rocksdb_readoptions_t* (*readoptions_create)();
  void (*readoptions_destroy)(rocksdb_readoptions_t*);
  void (*readoptions_set_snapshot)(rocksdb_readoptions_t*, const rocksdb_snapshot_t*);
  rocksdb_t* (*open)(const rocksdb_options_t*, const char*, char**);
  void (*close)(rocksdb_t*);
  void (*write)(rocksdb_t*, const rocksdb_writeoptions_t*, rocksdb_writebatch_t*, char**);
  rocksdb_pinnableslice_t* (*get_pinned)(rocksdb_t*, const rocksdb_readoptions_t*, const char*,
                                         std::size_t, char**);
  const char* (*pinnableslice_value)(const rocksdb_pinnableslice_t*, std::size_t*);
  void (*pinnableslice_destroy)(rocksdb_pinnableslice_t*);
  rocksdb_writebatch_t* (*writebatch_create)();
  void (*writebatch_destroy)(rocksdb_writebatch_t*);
  void (*writebatch_clear)(rocksdb_writebatch_t*);
  void (*writebatch_put)(rocksdb_writebatch_t*, const char*, std::size_t, const char*, std::size_t);
  void (*writebatch_delete)(rocksdb_writebatch_t*, const char*, std::size_t);
  void (*writebatch_delete_range)(rocksdb_writebatch_t*, const char*, std::size_t, const char*,
                                  std::size_t);
  const rocksdb_snapshot_t* (*create_snapshot)(rocksdb_t*);
  void (*release_snapshot)(rocksdb_t*, const rocksdb_snapshot_t*);
  rocksdb_iterator_t* (*create_iterator)(rocksdb_t*, const rocksdb_readoptions_t*);
  void (*iter_destroy)(rocksdb_iterator_t*);
  unsigned char (*iter_valid)(const rocksdb_iterator_t*);
  void (*iter_seek)(rocksdb_iterator_t*, const char*, std::size_t);
  void (*iter_next)(rocksdb_iterator_t*);
  const char* (*iter_key)(const rocksdb_iterator_t*, std::size_t*);
  const char* (*iter_value)(const rocksdb_iterator_t*, std::size_t*);
  void (*iter_get_error)(const rocksdb_iterator_t*, char**);
  void (*free)(void*);

  /// Errc::config if there is none, or another thing of that name. Any thread.
  static Result<const Rocks*> load();
};

}  // namespace piracema::state
