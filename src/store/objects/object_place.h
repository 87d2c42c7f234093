#pragma once

#include <string>

#include "store/snapshot/part_index.h"

namespace piracema::store {

/// Where the objects of a store are, and how they are called.
struct ObjectPlace {
  /// What a user calls it: "s3://bucket/prefix".
  std::string name;
  /// What all of their names begin with, without a slash at either end; empty: nothing.
  std::string prefix;
  /// What is before such a name where people look for it: "s3://bucket/".
  std::string root;

  // Names of objects on their server.
  std::string key(const std::string& rest) const {
    return prefix.empty() ? rest : prefix + "/" + rest;
  }
  std::string lock() const;
  /// What all objects of a snapshot begin with.
  std::string folder(SnapshotId) const;
  std::string manifest(SnapshotId) const;
  std::string part(const PartFile&) const;
  /// There if its job needs the snapshot no more, and only a name may keep it.
  std::string released(SnapshotId) const;
  /// Of no name: what all of them begin with.
  std::string savepoint(const std::string& of) const;

  /// An object's name as people may look for it.
  std::string path(const std::string& key) const { return root + key; }
};

}  // namespace piracema::store
