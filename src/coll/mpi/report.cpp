#include "coll/mpi/report.h"

#include <cstdio>
#include <fstream>
#include <utility>

#include "base/text.h"
#include "coll/mpi/probe/seen.h"

namespace piracema::coll::mpi {

namespace {

/// Since MPI_Init.
double since(const Job& job, Time time) {
  return std::chrono::duration<double>(time - job.begun).count();
}

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

/// Lines that end in a comma and a new line, without the last ones.
std::string lines_of(const std::string& text) {
  return text.substr(0, text.size() - (text.empty() ? 0 : 2));
}

std::string mst_of(const Job& job, const Totals& totals) {
  const Rank size = job.size;
  const MstTree& mst = totals.mst;
  std::string out = concat(",\n\"mst_broadcasts\": [\n", lines_of(totals.mst_uses), "]");
  out += ",\n\"mst_rounds\": [";
  bool first = true;
  for (const auto& one : totals.mst_times) {
    out += concat(std::exchange(first, false) ? "" : ", ", "{\"round\": ", one.round,
                  ", \"began_s\": ", since(job, one.began), ", \"over_s\": ", since(job, one.over),
                  "}");
  }
  out += "]";
  if (!mst.known) return out;
  out += concat(",\n\"mst\": {\"round\": ", mst.round, ", \"parents\": [");
  for (Rank rank = 0; rank < size; ++rank) {
    const Rank parent = mst.tree.parent[rank];
    out += concat(rank == 0 ? "" : ", ", parent == no_rank ? "-1" : std::to_string(parent));
  }
  out += "], \"costs_ms\": [";
  for (Rank a = 0; a < size; ++a) {
    out += a == 0 ? "\n [" : ",\n [";
    for (Rank b = 0; b < size; ++b) {
      char text[32];
      std::snprintf(text, sizeof text, "%s%.17g", b == 0 ? "" : ", ",
                    mst.costs[std::size_t{a} * size + b] * 1e3);
      out += text;
    }
    out += "]";
  }
  return out + "]}";
}

}  // namespace

Result<Done> write_report(const Job& job, const ProbeThread* probes, const Totals& totals,
                          const std::string& trees) {
  const Settings& settings = job.settings;
  const Rank size = job.size;
  std::string out = concat("{\"engine\": \"", name_of(settings.engine), "\", \"ranks\": ", size);
  if (!job.left_alone.empty()) out += concat(", \"left_alone\": \"", job.left_alone, "\"");
  out += concat(",\n\"calls_of_rank_0\": ", seen.calls.load(),
                ", \"intercepted\": ", seen.intercepted.load(), ", \"ours\": ", seen.ours.load());
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
  if (settings.engine == Engine::mst) out += mst_of(job, totals);
  out += ",\n\"trees\": [\n" + lines_of(trees) + "]}\n";
  std::ofstream file(settings.report);
  file << out;
  file.close();
  if (!file) return Error{Errc::io, with_errno("cannot write the report to " + settings.report)};
  return Done{};
}

}  // namespace piracema::coll::mpi
