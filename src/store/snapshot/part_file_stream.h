#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "store/disk/files.h"
#include "store/snapshot/snapshot_store.h"

namespace piracema::store {

/// A part with states by key, as it is written into a file that gets its name when it is finished.
class PartFileStream final : public PartStream {
 public:
  /// `may_finish` is asked before that, and its error is that of `finish`.
  static Result<std::unique_ptr<PartStream>> begin(const std::string& path, const PartFile& of,
                                                   std::function<Result<Done>()> may_finish);

  Result<Done> append(Bytes data) override;
  Result<Part> finish(const PartIndex& content) override;

 private:
  PartFileStream(const PartFile& of, std::function<Result<Done>()> may_finish, NewFile file)
      : of_(of), may_finish_(std::move(may_finish)), file_(std::move(file)) {}

  Result<Done> put(Bytes first, Bytes second);

  const PartFile of_;
  const std::function<Result<Done>()> may_finish_;
  NewFile file_;
  std::uint64_t bytes_ = 0;
  std::optional<Error> failed_;
};

}  // namespace piracema::store
