#include "coll/figures/figures.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "coll/plan/call.h"
#include "topology/measure/link_map.h"
#include "wire/fields.h"

namespace piracema::coll {

namespace {

// "PCF1", and the version.
constexpr std::uint64_t figures_magic = 0x1'3146'4350;
constexpr double seconds_max = 1e9;

Error no_figures(std::string_view what) {
  return {Errc::corrupt, concat("figures of a job: ", what, " makes no sense")};
}

// False for NaN.
bool is_time(double value) { return value >= -1 && value <= seconds_max; }
bool is_sum(double value) { return value >= -seconds_max && value <= seconds_max; }

bool all_times(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), is_time);
}

bool is_tree(const std::vector<Rank>& parents, const std::vector<double>& latencies, Rank size) {
  if (parents.size() != size || latencies.size() != size || size == 0) return false;
  if (parents[0] != no_rank || !all_times(latencies)) return false;
  // Ranks that are known to hang from rank 0; a circle would not.
  std::vector<bool> hangs(size, false);
  hangs[0] = true;
  std::vector<Rank> way;
  for (Rank rank = 1; rank < size; ++rank) {
    way.clear();
    for (Rank at = rank; !hangs[at]; at = parents[at]) {
      if (parents[at] >= size || way.size() == size) return false;
      way.push_back(at);
    }
    for (const Rank one : way) hangs[one] = true;
  }
  return true;
}

bool is_used_tree(const JobFigures::UsedTree& tree, Rank size) {
  return is_tree(tree.parents, tree.latencies, size) && is_time(tree.at) &&
         is_time(tree.expected) && is_time(tree.binomial);
}

Result<Done> check_lists(const JobFigures& figures) {
  const Rank size = figures.ranks;
  for (const auto& one : figures.by_class) {
    if (one.call_class >= call_classes) return no_figures("a class of calls");
    if (!is_time(one.ours_took) || !is_time(one.native_took)) return no_figures("what calls took");
  }
  if (figures.by_class.size() > call_classes) return no_figures("the number of classes");
  for (const auto& link : figures.links) {
    if (link.to >= size || !is_time(link.latency) || !is_time(link.error) || !is_time(link.age) ||
        !is_time(link.megabyte_to) || !is_time(link.megabyte_from)) {
      return no_figures("a link");
    }
  }
  if (figures.links.size() >= size && !figures.links.empty())
    return no_figures("the number of links");
  if (figures.trees.size() > JobFigures::trees_max) return no_figures("the number of trees");
  for (const auto& tree : figures.trees) {
    if (!is_used_tree(tree, size)) return no_figures("a tree");
  }
  const auto& mst = figures.mst;
  if (mst.neighbours.size() != mst.costs.size() || mst.neighbours.size() > size ||
      !all_times(mst.costs) ||
      std::any_of(mst.neighbours.begin(), mst.neighbours.end(),
                  [&](Rank rank) { return rank >= size; })) {
    return no_figures("a neighbour");
  }
  if (!(mst.parents.empty() && mst.latencies.empty()) &&
      !is_tree(mst.parents, mst.latencies, size)) {
    return no_figures("the distributed tree");
  }
  return Done{};
}

Result<Done> check_figures(const JobFigures& figures) {
  const Rank size = figures.ranks;
  if (size == 0) return no_figures("the number of ranks");
  // Of more there is nothing but their number.
  const bool has_lists = !figures.host_of.empty() || !figures.links.empty() ||
                         !figures.site_of.empty() || !figures.trees.empty() ||
                         !figures.mst.parents.empty() || !figures.mst.neighbours.empty();
  if (has_lists && size > link_map_ranks_max) return no_figures("the number of ranks");
  for (const std::string* text :
       {&figures.engine, &figures.mpi, &figures.host, &figures.left_alone}) {
    if (text->size() > JobFigures::text_bytes_max) return no_figures("a text");
  }
  if (figures.hosts.size() > size) return no_figures("the number of hosts");
  for (const std::string& host : figures.hosts) {
    if (host.size() > JobFigures::text_bytes_max) return no_figures("a host");
  }
  const auto fits = [&](const std::vector<std::uint32_t>& place_of, std::size_t places) {
    if (place_of.empty()) return true;
    return place_of.size() == size &&
           std::all_of(place_of.begin(), place_of.end(),
                       [&](std::uint32_t place) { return place < places; });
  };
  if (!fits(figures.host_of, figures.hosts.size())) return no_figures("the host of a rank");
  if (!fits(figures.site_of, size)) return no_figures("the site of a rank");
  const std::size_t sites =
      figures.site_of.empty()
          ? 0
          : *std::max_element(figures.site_of.begin(), figures.site_of.end()) + std::size_t{1};
  if (!figures.site_latencies.empty() &&
      (sites > JobFigures::sites_shown_max || figures.site_latencies.size() != sites * sites ||
       !all_times(figures.site_latencies))) {
    return no_figures("a latency between sites");
  }
  if (!is_time(figures.ran) || !is_sum(figures.gained)) return no_figures("a time");
  if (figures.intercepted > figures.calls || figures.ours > figures.intercepted) {
    return no_figures("the number of calls");
  }
  if (figures.pairs_measured > figures.pairs) return no_figures("the number of links");
  return check_lists(figures);
}

}  // namespace

Buffer encode(const JobFigures& figures) {
  Buffer out;
  wire::FieldWriter writer(out);
  std::uint64_t magic = figures_magic;
  JobFigures copy = figures;
  writer.put(magic);
  writer.put(copy);
  return out;
}

Result<JobFigures> decode_figures(Bytes in) {
  wire::FieldReader reader(in);
  std::uint64_t magic = 0;
  reader.get(magic);
  if (magic != figures_magic) {
    return Error{Errc::corrupt, "figures of a job: these are none, or those of another version"};
  }
  JobFigures figures;
  reader.get(figures);
  if (auto finished = reader.finish(); !finished) {
    return Error{Errc::corrupt, concat("figures of a job: ", finished.error().message)};
  }
  if (auto checked = check_figures(figures); !checked) return checked.error();
  return figures;
}

}  // namespace piracema::coll
