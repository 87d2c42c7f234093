#include "tools/ckpt/keeper_site.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/text.h"
#include "observe/status/json_numbers.h"
#include "observe/status/status_json.h"
#include "tools/ckpt/page/page_files.h"

namespace piracema::tools {

namespace {

using ckpt::Keeper;
using ckpt::KeeperFigures;
using observe::json_seconds;
using observe::MetricsWriter;
using observe::Response;
using Json = nlohmann::ordered_json;
using Checkpoint = KeeperFigures::Checkpoint;

// The keeper shows itself every second, but for when it reads an image or waits for its store.
constexpr Time keeper_silent_for = std::chrono::seconds(30);
constexpr const char* silent_text =
    "the keeper has shown nothing for a while: it reads an image, "
    "waits for its store, or stands still";

/// Points of the keeper's clock, as a clock on the wall has them.
struct WallClock {
  Time now{};
  double unix = 0;

  double operator()(Time at) const { return observe::json_unix(unix - to_seconds(now - at)); }
};

const Checkpoint* last_saved(const KeeperFigures& figures) {
  for (auto one = figures.checkpoints.rbegin(); one != figures.checkpoints.rend(); ++one) {
    if (one->outcome == KeeperFigures::Outcome::saved) return &*one;
  }
  return nullptr;
}

void write_times(MetricsWriter& out, const KeeperFigures& figures, const WallClock& wall) {
  const auto time = [&](const char* name, const char* help, std::optional<Time> at) {
    if (!at) return;
    out.gauge(name, help);
    out.put({}, wall(*at));
  };
  time("piracema_ckpt_window_opens_timestamp_seconds", "When the next window opens, since 1970.",
       figures.opens);
  time("piracema_ckpt_window_closes_timestamp_seconds",
       "When the machine has to be free, since 1970.", figures.closes);
  time("piracema_ckpt_stop_timestamp_seconds",
       "When the last checkpoint of the window is begun at the latest, since 1970.",
       figures.stop_at);
  time("piracema_ckpt_next_checkpoint_timestamp_seconds",
       "When the next checkpoint is due that the job survives, since 1970.", figures.save_at);
}

void write_forecast(MetricsWriter& out, const KeeperFigures& figures) {
  if (!figures.forecast) return;
  out.gauge("piracema_ckpt_forecast_seconds",
            "How long a checkpoint takes that is begun now, by percentile.");
  out.put({{"percentile", "50"}}, figures.forecast->p50);
  out.put({{"percentile", "95"}}, figures.forecast->p95);
  out.put({{"percentile", "99"}}, figures.forecast->p99);
  out.gauge("piracema_ckpt_learnt_checkpoints", "Checkpoints that forecasts were learnt from.");
  out.put({}, figures.learnt);
}

void write_checkpoints(MetricsWriter& out, const KeeperFigures& figures, const WallClock& wall) {
  out.counter("piracema_ckpt_checkpoints", "Checkpoints by their outcome.");
  out.put({{"outcome", "saved"}}, figures.saved);
  out.put({{"outcome", "failed"}}, figures.failed);
  out.put({{"outcome", "given_up"}}, figures.given_up);
  out.counter("piracema_ckpt_checkpoint_time_seconds", "How long all took that were saved.");
  out.put({}, to_seconds(figures.saved_took));
  out.counter("piracema_ckpt_checkpoint_written_bytes", "Bytes of all that were saved.");
  out.put({}, figures.saved_bytes);
  out.counter("piracema_ckpt_checkpoints_over_forecast",
              "Checkpoints that took longer than was forecast, by percentile.");
  out.put({{"percentile", "50"}}, figures.over_p50);
  out.put({{"percentile", "95"}}, figures.over_p95);
  const Checkpoint* const last = last_saved(figures);
  if (last == nullptr) return;
  out.gauge("piracema_ckpt_last_checkpoint_timestamp_seconds", "When it was begun, since 1970.");
  out.put({}, wall(last->at));
  out.gauge("piracema_ckpt_last_checkpoint_age_seconds",
            "How long ago that was: what a failure now would go back by.");
  out.put({}, to_seconds(wall.now - last->at));
  out.gauge("piracema_ckpt_last_checkpoint_duration_seconds", "How long it took.");
  out.put({}, to_seconds(last->took));
  out.gauge("piracema_ckpt_last_checkpoint_frozen_seconds", "How long the job stood still for it.");
  out.put({}, to_seconds(last->frozen));
  out.gauge("piracema_ckpt_last_checkpoint_size_bytes", "Bytes of its image.");
  out.put({}, last->bytes);
  out.gauge("piracema_ckpt_last_checkpoint_forecast_seconds",
            "How long it would take, as it was forecast when it was begun, by percentile.");
  out.put({{"percentile", "50"}}, last->forecast.p50);
  out.put({{"percentile", "95"}}, last->forecast.p95);
}

void write_store(MetricsWriter& out, const StoreSight& store) {
  out.gauge("piracema_ckpt_images", "Images that are complete.");
  out.put({}, std::uint64_t{store.images.size()});
  std::uint64_t bytes = 0;
  for (const auto& image : store.images) bytes += image.bytes;
  out.gauge("piracema_ckpt_images_bytes", "Bytes of all of them.");
  out.put({}, bytes);
  out.gauge("piracema_ckpt_store_free_bytes", "Room for more where images lie.");
  out.put({}, store.free);
  out.gauge("piracema_ckpt_store_size_bytes", "Of the file system where images lie.");
  out.put({}, store.size);
}

Json window_json(const KeeperFigures& figures, Time now, const WallClock& wall) {
  if (figures.opens) {
    return {{"opens_in", json_seconds(*figures.opens - now)},
            {"opens_at_unix", wall(*figures.opens)}};
  }
  if (!figures.closes) return nullptr;
  return {{"open_for", figures.opened ? Json(json_seconds(now - *figures.opened)) : Json(nullptr)},
          {"closes_in", json_seconds(*figures.closes - now)},
          {"closes_at_unix", wall(*figures.closes)},
          {"closes_why", figures.closes_why}};
}

Json forecast_json(const KeeperFigures& figures) {
  if (!figures.forecast) return nullptr;
  const bool is_planned = figures.planned > Time{};
  return {{"p50", json_seconds(figures.forecast->p50)},
          {"p95", json_seconds(figures.forecast->p95)},
          {"p99", json_seconds(figures.forecast->p99)},
          {"planned", is_planned ? Json(json_seconds(figures.planned)) : Json(nullptr)},
          {"ending", is_planned ? Json(json_seconds(figures.ending)) : Json(nullptr)},
          {"learnt", figures.learnt},
          {"sampling", figures.sampling}};
}

Json checkpoint_json(const Checkpoint& one, Time now, const WallClock& wall) {
  const bool is_saved = one.outcome == KeeperFigures::Outcome::saved;
  const bool is_forecast = one.forecast.p50 > 0;
  const Time took = one.outcome == KeeperFigures::Outcome::under_way ? now - one.at : one.took;
  return {{"at_unix", wall(one.at)},
          {"ago", json_seconds(now - one.at)},
          {"outcome", name_of(one.outcome)},
          {"stops", one.stops},
          {"tries", one.tries},
          {"forecast_p50", is_forecast ? Json(json_seconds(one.forecast.p50)) : Json(nullptr)},
          {"forecast_p95", is_forecast ? Json(json_seconds(one.forecast.p95)) : Json(nullptr)},
          {"took", json_seconds(took)},
          {"frozen", is_saved ? Json(json_seconds(one.frozen)) : Json(nullptr)},
          {"image", is_saved ? Json(one.image) : Json(nullptr)},
          {"bytes", is_saved ? Json(one.bytes) : Json(nullptr)},
          {"why", one.why}};
}

Json store_json(const KeeperSight& sight, Time now) {
  if (!sight.store) return nullptr;
  Json images = Json::array();
  for (const auto& image : sight.store->images) {
    images.push_back(
        {{"image", image.image}, {"bytes", image.bytes}, {"created_at_unix", image.created}});
  }
  return {{"free_bytes", sight.store->free},
          {"size_bytes", sight.store->size},
          {"seen_ago", json_seconds(now - sight.store->at)},
          {"images", std::move(images)}};
}

Json seconds_until(std::optional<Time> at, Time now) {
  return at ? Json(json_seconds(*at - now)) : Json(nullptr);
}

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string metrics(const KeeperSight& sight, Time now, double unix,
                    observe::MetricsFormat format) {
  const KeeperFigures& figures = sight.figures;
  const WallClock wall{now, unix};
  MetricsWriter out(format);
  const std::string& program = figures.command.empty() ? std::string() : figures.command.front();
  out.gauge("piracema_ckpt_job_info", "What runs; always 1.");
  out.put({{"program", program.substr(program.rfind('/') + 1)},
           {"directory", figures.directory},
           {"version", PIRACEMA_VERSION}},
          std::uint64_t{1});
  out.gauge("piracema_ckpt_ready", "1 if the job runs, as of /readyz.");
  out.put({}, std::uint64_t{sight.trouble().empty()});
  out.gauge("piracema_ckpt_shown_age_seconds", "How long ago the keeper has shown itself.");
  out.put({}, to_seconds(now - sight.at));
  out.gauge("piracema_ckpt_state", "1 for the state that the job is in.");
  for (int i = 0; i <= static_cast<int>(Keeper::State::over); ++i) {
    const auto state = static_cast<Keeper::State>(i);
    out.put({{"state", name_of(state)}}, std::uint64_t{state == figures.state});
  }
  out.gauge("piracema_ckpt_paused", "1 if the job stands still for lack of room for its output.");
  out.put({}, std::uint64_t{figures.paused});
  out.gauge("piracema_ckpt_start_timestamp_seconds", "When the keeper began, since 1970.");
  out.put({}, wall(figures.began));
  out.gauge("piracema_ckpt_hosts", "Hosts that the job runs on.");
  out.put({}, std::uint64_t{figures.hosts.size()});
  out.gauge("piracema_ckpt_processes", "Processes of the job.");
  out.put({}, figures.processes);
  out.gauge("piracema_ckpt_resident_bytes", "Memory of the job's processes.");
  out.put({}, figures.resident);
  out.gauge("piracema_ckpt_swapped_bytes", "Of the job, in swap.");
  out.put({}, figures.swapped);
  write_times(out, figures, wall);
  write_forecast(out, figures);
  write_checkpoints(out, figures, wall);
  out.counter("piracema_ckpt_launches", "How often the job was launched, by outcome.");
  out.put({{"outcome", "launched"}}, figures.launched);
  out.put({{"outcome", "failed"}}, figures.launches_failed);
  out.counter("piracema_ckpt_windows_left",
              "Windows that were left, with an image of the job as it was and without.");
  out.put({{"saved", "yes"}}, figures.left_saved);
  out.put({{"saved", "no"}}, figures.left_unsaved);
  if (sight.store) write_store(out, *sight.store);
  return out.end();
}

std::string keeper_json(const KeeperSight& sight, Time now, double unix) {
  const KeeperFigures& figures = sight.figures;
  const WallClock wall{now, unix};
  Json past = Json::array(), troubles = Json::array();
  for (auto one = figures.checkpoints.rbegin(); one != figures.checkpoints.rend(); ++one) {
    past.push_back(checkpoint_json(*one, now, wall));
  }
  for (auto one = figures.troubles.rbegin(); one != figures.troubles.rend(); ++one) {
    troubles.push_back({{"at_unix", wall(one->at)}, {"text", one->text}});
  }
  const std::string trouble = sight.trouble();
  return text_of(
      {{"version", PIRACEMA_VERSION},
       {"command", figures.command},
       {"directory", figures.directory},
       {"hosts", figures.hosts},
       {"pid", figures.process},
       {"began_at_unix", wall(figures.began)},
       {"state", name_of(figures.state)},
       {"state_for", json_seconds(now - figures.state_since)},
       {"ready", trouble.empty()},
       {"trouble", trouble},
       {"paused", figures.paused},
       {"processes", figures.processes},
       {"resident_bytes", figures.resident},
       {"swapped_bytes", figures.swapped},
       {"from_image", figures.image ? Json(*figures.image) : Json(nullptr)},
       {"window", window_json(figures, now, wall)},
       {"every", figures.every ? Json(json_seconds(*figures.every)) : Json(nullptr)},
       {"save_in", seconds_until(figures.save_at, now)},
       {"stop_in", seconds_until(figures.stop_at, now)},
       {"forecast", forecast_json(figures)},
       {"checkpoints",
        {{"saved", figures.saved},
         {"failed", figures.failed},
         {"given_up", figures.given_up},
         {"over_p50", figures.over_p50},
         {"over_p95", figures.over_p95},
         {"past", std::move(past)}}},
       {"launches", {{"launched", figures.launched}, {"failed", figures.launches_failed}}},
       {"windows_left", {{"saved", figures.left_saved}, {"unsaved", figures.left_unsaved}}},
       {"troubles", std::move(troubles)},
       {"store", store_json(sight, now)},
       {"seen_ago", json_seconds(now - sight.at)}});
}

Response KeeperSite::get(const observe::Request& request, Time now) const {
  const std::string& path = request.path;
  if (path == "/") return page(request, ckpt_html);
  if (path == "/ckpt.js") return script(ckpt_script);
  const auto latest = board_->latest();
  const bool answers = latest != nullptr && now - latest->at < keeper_silent_for;
  if (latest == nullptr) return text(503, "nothing is known of the job yet\n");
  if (path == "/healthz" || path == "/livez") {
    return answers ? text(200, "ok\n") : text(503, concat(silent_text, "\n"));
  }
  const double unix = to_seconds(
      std::chrono::duration_cast<Time>(std::chrono::system_clock::now().time_since_epoch()));
  if (path == "/readyz") {
    const std::string trouble = answers ? latest->trouble() : silent_text;
    return trouble.empty() ? text(200, "ok\n") : text(503, trouble + "\n");
  }
  if (path == "/metrics") {
    const auto format = observe::metrics_format(request.accept);
    return {200, observe::content_type(format), metrics(*latest, now, unix, format)};
  }
  if (path == "/api/v1/job") return json(keeper_json(*latest, now, unix));
  if (path == "/api/v1/log") return json(observe::log_json(latest->lines));
  if (path == "/api/v1/all") {
    return all("ckpt", {{"job", keeper_json(*latest, now, unix)},
                        {"log", observe::log_json(latest->lines)}});
  }
  return text(
      404, "nothing here; /, /metrics, /healthz, /readyz, /api/v1/job, /api/v1/log, /api/v1/all\n");
}

Response KeeperSite::post(const observe::Request&) const { return not_allowed(methods()); }

}  // namespace piracema::tools
