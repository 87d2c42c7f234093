#include "observe/http/metrics_writer.h"

#include <charconv>
#include <string_view>

#include "base/text.h"

namespace piracema::observe {

namespace {

std::string number(double value) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}
std::string number(std::uint64_t value) { return std::to_string(value); }

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) >= 0x20) {
      out += c;
    }
  }
  return out;
}

}  // namespace

MetricsFormat metrics_format(const std::string& accept) {
  return accept.find("application/openmetrics-text") != accept.npos ? MetricsFormat::openmetrics
                                                                    : MetricsFormat::prometheus;
}

const char* content_type(MetricsFormat format) {
  return format == MetricsFormat::openmetrics
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

void MetricsWriter::counter(const std::string& name, const std::string& help) {
  suffix_ = "_total";
  head(name, format_ == MetricsFormat::openmetrics ? name : name + suffix_, "counter", help);
}

void MetricsWriter::gauge(const std::string& name, const std::string& help) {
  suffix_ = "";
  head(name, name, "gauge", help);
}

void MetricsWriter::put(const Labels& labels, std::uint64_t value) {
  line(suffix_, labels, number(value));
}
void MetricsWriter::put(const Labels& labels, double value) {
  line(suffix_, labels, number(value));
}

void MetricsWriter::histogram(const std::string& name, const std::string& help,
                              const SecondsHistogram& what) {
  head(name, name, "histogram", help);
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < what.counts.size(); ++i) {
    below += what.counts[i];
    const bool last = i == SecondsHistogram::bounds.size();
    line("_bucket", {{"le", last ? "+Inf" : number(SecondsHistogram::bounds[i])}}, number(below));
  }
  line("_sum", {}, number(what.sum));
  line("_count", {}, number(what.count));
}

std::string MetricsWriter::end() {
  if (format_ == MetricsFormat::openmetrics) text_ += "# EOF\n";
  return std::move(text_);
}

void MetricsWriter::head(const std::string& name, const std::string& shown, const char* type,
                         const std::string& help) {
  name_ = name;
  text_ += concat("# HELP ", shown, " ", help, "\n# TYPE ", shown, " ", type, "\n");
}

void MetricsWriter::line(const char* suffix, const Labels& labels, const std::string& value) {
  text_ += concat(name_, suffix);
  const char* before = "{";
  for (const auto& [label, content] : labels) {
    text_ += concat(before, label, "=\"", escaped(content), "\"");
    before = ",";
  }
  text_ += concat(labels.empty() ? "" : "}", " ", value, "\n");
}

}  // namespace piracema::observe
