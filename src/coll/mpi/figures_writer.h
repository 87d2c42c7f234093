#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "coll/figures/figures.h"
#include "coll/mpi/probe/tree_news.h"
#include "coll/mpi/report.h"
#include "coll/plan/plan.h"

namespace piracema::coll::mpi {

/// Writes what rank 0 knows of a running job to a file, once a second, from a thread of its own: a
/// file that hangs holds up neither the program nor the measuring of links. Made at rank 0, and
/// only if somebody wants to look.
class FiguresWriter {
 public:
  /// `first` has what does not change. What is given to `look_at` outlives this.
  FiguresWriter(std::string file, JobFigures first);
  /// Writes once more, of a job that is over, and waits for that: as for the report.
  ~FiguresWriter();

  /// From now on links are measured, and with engine mst trees are made, of which ranks tell; each
  /// may be null, the last one only with `mst`.
  void look_at(const ProbeThread* probes, const MstRunner* mst, const TreeNews* news);

  /// What calls have taken on a communicator of all ranks, and which way they go now. Never waits:
  /// false if the other thread just reads what was said before.
  bool on_calls(const void* group, const WindowCosts& spent, const std::bitset<call_classes>& ours);
  /// How rank 0's broadcasts went with engine mst. As above.
  bool on_mst(std::uint64_t along_rounds, std::uint64_t binomial, std::uint64_t own_view,
              std::uint64_t fallen_back);
  /// There is no such communicator any more; what its calls have taken still counts.
  void on_end_of(const void* group, const WindowCosts& spent,
                 const std::bitset<call_classes>& ours);
  /// A tree came into use for messages of that many bytes. Any thread.
  void on_tree(const Tree& tree, std::uint64_t bytes, double expected, double binomial, Time at);

 private:
  void run();
  void write(bool is_over);
  void add_calls(JobFigures& figures);
  void add_links(JobFigures& figures, const ProbeThread& probes);
  void add_sites(const ProbeThread& probes);
  void find_sites_of(const LinkTable& links, std::vector<double>& known);
  void add_mst(JobFigures& figures, const MstRunner& mst) const;
  void add_mst_tree(JobFigures& figures, const ProbeThread& probes, const TreeNews& news) const;

  const std::string file_;
  const Time begun_;
  /// The thread's own.
  JobFigures figures_;
  Time sites_at_{}, sites_took_{};
  std::uint64_t sites_version_ = ~std::uint64_t{0};
  bool has_failed_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  const ProbeThread* probes_ = nullptr;
  const MstRunner* mst_ = nullptr;
  const TreeNews* news_ = nullptr;
  struct CallsOfGroup {
    WindowCosts spent;
    std::bitset<call_classes> ours;
  };
  std::map<const void*, CallsOfGroup> groups_;
  /// Of communicators that are gone; which way calls went on the last one.
  WindowCosts spent_before_;
  std::bitset<call_classes> ours_before_;
  JobFigures::Mst mst_calls_;
  std::uint64_t trees_made_ = 0;
  /// By the number of binary digits of the message's size.
  std::map<int, JobFigures::UsedTree> trees_;
  std::thread thread_;
};

}  // namespace piracema::coll::mpi
