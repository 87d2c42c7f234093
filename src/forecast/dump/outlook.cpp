#include "forecast/dump/outlook.h"

#include <tuple>

#include "store/document.h"

namespace piracema::ckpt {

namespace {

constexpr const char* outlook_format = "piracema outlook";

}  // namespace

std::string encode_outlook(const Outlook& outlook) {
  nlohmann::json known = nlohmann::json::array(), factors = nlohmann::json::array();
  DumpFeatures features = outlook.features;
  std::apply([&](auto... number) { (known.push_back(number), ...); }, features.fields());
  for (const auto& factor : outlook.forecast.factors) {
    factors.push_back({{"name", factor.name}, {"value", factor.value}});
  }
  const DumpForecast& forecast = outlook.forecast;
  return seal(outlook_format,
              {{"known", std::move(known)},
               {"learnt", outlook.learnt},
               {"sampling", outlook.sampling},
               {"quantiles", {forecast.p50, forecast.p95, forecast.p99, forecast.tail}},
               {"factors", std::move(factors)}});
}

Result<Outlook> decode_outlook(const std::string& text) {
  Outlook outlook;
  const auto read =
      read_document("keeper", outlook_format, as_bytes(text), [&](const nlohmann::json& content) {
        std::size_t at = 0;
        const auto& known = member(content, "known");
        std::apply([&](auto&... number) { ((number = known.at(at++).get<double>()), ...); },
                   outlook.features.fields());
        outlook.learnt = number_in(content, "learnt");
        outlook.sampling = member(content, "sampling").get<bool>();
        const auto& quantiles = member(content, "quantiles");
        DumpForecast& forecast = outlook.forecast;
        forecast.p50 = quantiles.at(0).get<double>();
        forecast.p95 = quantiles.at(1).get<double>();
        forecast.p99 = quantiles.at(2).get<double>();
        forecast.tail = quantiles.at(3).get<double>();
        for (const auto& factor : member(content, "factors")) {
          forecast.factors.push_back(
              {text_in(factor, "name"), member(factor, "value").get<double>()});
        }
      });
  if (!read) return read.error();
  return outlook;
}

}  // namespace piracema::ckpt
