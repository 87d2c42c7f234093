#include "coll/mpi/probe/report.h"

#include <cstdio>
#include <fstream>

#include "base/text.h"

namespace piracema::coll::mpi {

namespace {

std::string ms(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4f", seconds * 1e3);
  return text;
}

std::string calls_of(const WindowCosts& calls) {
  std::string out;
  for (unsigned call_class = 0; call_class < call_classes; ++call_class) {
    const Cost& ours = calls.total(call_class, Way::ours);
    const Cost& native = calls.total(call_class, Way::theirs);
    if (ours.calls + native.calls == 0) continue;
    const std::uint64_t bytes = class_bytes_max[call_class % call_sizes];
    out += concat(out.empty() ? "\n" : ",\n", " {\"call\": \"", call_names[call_class / call_sizes],
                  "\", \"bytes_max\": ", bytes, ", \"ours\": ", ours.calls,
                  ", \"ours_ms\": ", ms(ours.seconds), ", \"native\": ", native.calls,
                  ", \"native_ms\": ", ms(native.seconds), "}");
  }
  return out;
}

}  // namespace

Result<Done> write_report(const Settings& settings, Rank size, const ProbeThread* probes,
                          const Totals& totals, const std::string& trees) {
  std::string out = concat("{\"engine\": \"", name_of(settings.engine), "\", \"ranks\": ", size);
  out += concat(",\n\"probes\": ", totals.probes, ", \"rounds\": ", totals.rounds,
                ", \"letters\": ", totals.letters);
  out += concat(",\n\"calls\": [", calls_of(totals.calls), "]");
  if (probes) {
    std::size_t measured = 0;
    const LinkTable links = probes->links(&measured);
    out += concat(",\n\"pairs_measured\": ", measured, ",\n\"latency_ms\": [");
    for (Rank a = 0; a < size; ++a) {
      out += a == 0 ? "\n [" : ",\n [";
      for (Rank b = 0; b < size; ++b) {
        out += concat(b == 0 ? "" : ", ", a == b ? "0" : ms(links.at(a, b).latency));
      }
      out += "]";
    }
    out += "],\n\"forecasts_of_rank_0\": [";
    bool first = true;
    for (Rank rank = 1; rank < size; ++rank) {
      const Forecaster forecaster = probes->forecaster(rank);
      if (!forecaster.knows()) continue;
      out += concat(first ? "\n" : ",\n", " {\"to\": ", rank,
                    ", \"forecast_ms\": ", ms(forecaster.forecast()),
                    ", \"error_ms\": ", ms(forecaster.error()), ", \"by\": \"", forecaster.speaks(),
                    "\"}");
      first = false;
    }
    out += "]";
  }
  // Each line ends in a comma and a new line.
  out += ",\n\"trees\": [\n" + trees.substr(0, trees.size() - (trees.empty() ? 0 : 2)) + "]}\n";
  std::ofstream file(settings.report);
  file << out;
  file.close();
  if (!file) return Error{Errc::io, "cannot write the report to " + settings.report};
  return Done{};
}

}  // namespace piracema::coll::mpi
