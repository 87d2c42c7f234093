#include "ckpt/store_state.h"

#include <fstream>
#include <string>

#include "base/log.h"
#include "store/files.h"

namespace piracema::ckpt {

namespace {

std::string path_in(const JobDirectory& directory) { return directory.path() + "/predictor.json"; }

}  // namespace

double dirty_bytes() {
  std::ifstream file("/proc/meminfo");
  double sum = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("Dirty:") || line.starts_with("Writeback:")) {
      sum += std::stod(line.substr(line.find(':') + 1)) * 1024;
    }
  }
  return sum;
}

Predictor read_predictor(const JobDirectory& directory) {
  const auto text = store::read_file(path_in(directory), document_bytes_max);
  if (!text) {
    if (text.error().code != Errc::not_found) log(Level::warning, text.error().message);
    return {};
  }
  auto predictor = Predictor::decode(path_in(directory), *text);
  if (predictor) return *std::move(predictor);
  log(Level::warning, predictor.error().message);
  return {};
}

Result<Done> write_predictor(const JobDirectory& directory, const Predictor& predictor) {
  const std::string text = predictor.encode();
  const Bytes piece = as_bytes(text);
  return store::replace_file(path_in(directory), {&piece, 1});
}

}  // namespace piracema::ckpt
