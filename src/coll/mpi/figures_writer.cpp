#include "coll/mpi/figures_writer.h"

#include <pthread.h>

#include <algorithm>
#include <bit>

#include "base/hint.h"
#include "base/log.h"
#include "base/no_signals.h"
#include "base/text.h"
#include "coll/figures/figures_file.h"
#include "coll/mpi/probe/seen.h"
#include "topology/trees/sites.h"

namespace piracema::coll::mpi {

namespace {

constexpr std::chrono::seconds figures_every{1};
/// A part of the time that may go into finding sites.
constexpr int sites_take_one_of = 100;

double seconds_of(Time time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

FiguresWriter::FiguresWriter(std::string file, JobFigures first)
    : file_(std::move(file)), begun_(now()), figures_(std::move(first)) {
  const NoSignals no_signals;
  thread_ = std::thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), "piracema_shows");
}

FiguresWriter::~FiguresWriter() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void FiguresWriter::look_at(const ProbeThread* probes, const MstRunner* mst, const TreeNews* news) {
  const std::lock_guard lock(mutex_);
  probes_ = probes;
  mst_ = mst;
  news_ = news;
}

bool FiguresWriter::on_calls(const void* group, const WindowCosts& spent,
                             const std::bitset<call_classes>& ours) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock) groups_[group] = {spent, ours};
  return lock.owns_lock();
}

bool FiguresWriter::on_mst(std::uint64_t along_rounds, std::uint64_t binomial,
                           std::uint64_t own_view, std::uint64_t fallen_back) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return false;
  mst_calls_.along_rounds = along_rounds;
  mst_calls_.binomial = binomial;
  mst_calls_.own_view = own_view;
  mst_calls_.fallen_back = fallen_back;
  return true;
}

void FiguresWriter::on_end_of(const void* group, const WindowCosts& spent,
                              const std::bitset<call_classes>& ours) {
  const std::lock_guard lock(mutex_);
  spent_before_.add(spent);
  ours_before_ = ours;
  groups_.erase(group);
}

void FiguresWriter::on_tree(const Tree& tree, std::uint64_t bytes, double expected, double binomial,
                            Time at) {
  JobFigures::UsedTree used{seconds_of(at - begun_),
                            bytes,
                            expected,
                            binomial,
                            tree.parent,
                            std::vector<double>(tree.parent.size(), -1)};
  const std::lock_guard lock(mutex_);
  trees_made_ += 1;
  trees_[static_cast<int>(std::bit_width(bytes))] = std::move(used);
}

void FiguresWriter::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    write(false);
    lock.lock();
    changed_.wait_for(lock, figures_every, [&] { return stopping_; });
  }
  lock.unlock();
  write(true);
}

void FiguresWriter::write(bool is_over) {
  JobFigures& figures = figures_;
  figures.number += 1;
  figures.is_over = is_over;
  figures.ran = seconds_of(now() - begun_);
  // In this order none is more than the next one: they are counted in the other one.
  figures.ours = seen.ours;
  figures.intercepted = seen.intercepted;
  figures.calls = seen.calls;
  add_calls(figures);
  const ProbeThread* probes = nullptr;
  const MstRunner* mst = nullptr;
  const TreeNews* news = nullptr;
  {
    const std::lock_guard lock(mutex_);
    probes = probes_;
    mst = mst_;
    news = news_;
  }
  if (probes) add_links(figures, *probes);
  if (mst) add_mst(figures, *mst);
  if (news) add_mst_tree(figures, *probes, *news);
  const auto written = write_figures(file_, figures);
  if (written || has_failed_) return;
  has_failed_ = true;
  log(Level::warning,
      with_hint(concat("nothing is shown of this job: ", written.error().message),
                "--figures FILE names a place that this host and piracema coll --http see"));
}

void FiguresWriter::add_calls(JobFigures& figures) {
  const std::lock_guard lock(mutex_);
  WindowCosts spent = spent_before_;
  // By the model of the links a class may go our way that was never called.
  std::bitset<call_classes> go_ours = groups_.empty() ? ours_before_ : decltype(ours_before_){};
  for (const auto& [group, calls] : groups_) {
    spent.add(calls.spent);
    go_ours |= calls.ours;
  }
  figures.gained = spent.gained();
  figures.by_class.clear();
  for (unsigned call_class = 0; call_class < call_classes; ++call_class) {
    const Cost& ours = spent.total(call_class, Way::ours);
    const Cost& native = spent.total(call_class, Way::theirs);
    if (ours.calls + native.calls == 0) continue;
    figures.by_class.push_back(
        {call_class, ours.calls, native.calls, ours.seconds, native.seconds, go_ours[call_class]});
  }
  figures.mst.along_rounds = mst_calls_.along_rounds;
  figures.mst.binomial = mst_calls_.binomial;
  figures.mst.own_view = mst_calls_.own_view;
  figures.mst.fallen_back = mst_calls_.fallen_back;
  figures.trees_made = trees_made_;
  figures.trees.clear();
  for (const auto& [digits, tree] : trees_) figures.trees.push_back(tree);
  std::sort(figures.trees.begin(), figures.trees.end(),
            [](const auto& a, const auto& b) { return a.at < b.at; });
  if (figures.trees.size() > JobFigures::trees_max) {
    figures.trees.erase(figures.trees.begin(), figures.trees.end() - JobFigures::trees_max);
  }
}

// Asks for one link after the other: whoever wants to know a tree waits for that, and no longer.
void FiguresWriter::add_links(JobFigures& figures, const ProbeThread& probes) {
  const Rank size = figures.ranks;
  const Time at = now();
  figures.links.clear();
  for (Rank to = 1; to < size; ++to) {
    const auto link = probes.own_link(to);
    figures.links.push_back({to, link.latency, link.error, link.megabyte_to, link.megabyte_from,
                             link.answered == Time{} ? -1 : seconds_of(at - link.answered)});
  }
  for (auto& tree : figures.trees) {
    for (Rank rank = 1; rank < size; ++rank) {
      tree.latencies[rank] = probes.known_latency(tree.parents[rank], rank);
    }
  }
  add_sites(probes);
}

void FiguresWriter::add_sites(const ProbeThread& probes) {
  const std::uint64_t version = probes.version();
  const Time began = now();
  if (version == sites_version_ || began - sites_at_ < sites_take_one_of * sites_took_) return;
  const Rank size = figures_.ranks;
  LinkTable links(size);
  std::vector<double> known;
  for (Rank a = 1; a < size; ++a) {
    const auto row = probes.known_latencies(a);
    for (Rank b = 0; b < a; ++b) {
      links.set_both(a, b, {row[b], 0});
      if (row[b] >= 0) known.push_back(row[b]);
    }
  }
  figures_.pairs = std::uint64_t{size} * (size - 1) / 2;
  figures_.pairs_measured = known.size();
  figures_.site_of.clear();
  figures_.site_latencies.clear();
  if (!known.empty()) find_sites_of(links, known);
  sites_version_ = version;
  sites_at_ = now();
  sites_took_ = sites_at_ - began;
}

// What was not measured is taken to be as most are, and is no latency between sites.
void FiguresWriter::find_sites_of(const LinkTable& links, std::vector<double>& known) {
  const auto middle = known.begin() + static_cast<std::ptrdiff_t>(known.size() / 2);
  std::nth_element(known.begin(), middle, known.end());
  const Rank size = links.size();
  LinkTable guessed = links;
  for (Rank a = 0; a < size; ++a) {
    for (Rank b = 0; b < size; ++b) {
      if (guessed.at(a, b).latency < 0) guessed.at(a, b).latency = *middle;
    }
  }
  figures_.site_of = find_sites(TableCosts(guessed, 0, 0));
  const std::size_t sites =
      *std::max_element(figures_.site_of.begin(), figures_.site_of.end()) + std::size_t{1};
  if (sites > JobFigures::sites_shown_max) return;
  figures_.site_latencies.assign(sites * sites, -1);
  for (Rank a = 0; a < size; ++a) {
    for (Rank b = 0; b < size; ++b) {
      const double latency = links.at(a, b).latency;
      if (a == b || latency < 0) continue;
      double& least = figures_.site_latencies[figures_.site_of[a] * sites + figures_.site_of[b]];
      if (least < 0 || latency < least) least = latency;
    }
  }
}

void FiguresWriter::add_mst(JobFigures& figures, const MstRunner& mst) const {
  figures.mst.letters = mst.letters();
  const auto round = mst.round();
  if (!round) return;
  figures.mst.rounds = std::uint64_t{*round} + 1;
  const auto part = mst.part(*round);
  if (!part) return;
  figures.mst.neighbours = part->neighbours;
  figures.mst.costs.assign(part->neighbours.size(), -1);
  for (std::size_t i = 0; i < part->neighbours.size(); ++i) {
    for (const auto& [to, cost] : part->costs) {
      if (to == part->neighbours[i]) figures.mst.costs[i] = cost;
    }
  }
}

void FiguresWriter::add_mst_tree(JobFigures& figures, const ProbeThread& probes,
                                 const TreeNews& news) const {
  const auto tree = news.tree();
  // While a round spreads the one before is shown.
  if (!tree) return;
  figures.mst.parents = tree->parent;
  figures.mst.latencies.assign(figures.ranks, -1);
  for (Rank rank = 1; rank < figures.ranks; ++rank) {
    figures.mst.latencies[rank] = probes.known_latency(tree->parent[rank], rank);
  }
}

}  // namespace piracema::coll::mpi
