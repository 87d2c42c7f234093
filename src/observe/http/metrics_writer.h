#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "observe/status/seconds_histogram.h"

namespace piracema::observe {

enum class MetricsFormat {
  prometheus,   ///< Text, version 0.0.4.
  openmetrics,  ///< Version 1.0.0.
};
/// What a scraper accepts, by its header.
MetricsFormat metrics_format(const std::string& accept);
const char* content_type(MetricsFormat);

/// Figures as Prometheus reads them: families, each with its help and type first, as both formats
/// want them.
class MetricsWriter {
 public:
  using Labels = std::vector<std::pair<const char*, std::string>>;

  explicit MetricsWriter(MetricsFormat format) : format_(format) {}

  /// Begins a family. A counter is named without "_total".
  void counter(const std::string& name, const std::string& help);
  void gauge(const std::string& name, const std::string& help);
  /// A figure of the family that was begun last.
  void put(const Labels& labels, std::uint64_t value);
  void put(const Labels& labels, double value);
  /// A family of its own.
  void histogram(const std::string& name, const std::string& help, const SecondsHistogram& what);
  /// All of it.
  std::string end();

 private:
  void head(const std::string& name, const std::string& shown, const char* type,
            const std::string& help);
  void line(const char* suffix, const Labels& labels, const std::string& value);

  const MetricsFormat format_;
  std::string text_, name_;
  const char* suffix_ = "";
};

}  // namespace piracema::observe
