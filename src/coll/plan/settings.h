#pragma once

#include <piracema/error.h>

#include <functional>
#include <string>

namespace piracema::coll {

/// Which trees collectives follow.
enum class Engine {
  automatic,  ///< The fast tree where it pays, else the MPI library's own collective.
  tree,       ///< The fast tree always.
  mst,        ///< The paper's: distributed minimum spanning tree; broadcasts only.
  two_level,  ///< MagPIe's, of the sites as they are at first; never adapted.
  binomial,   ///< MPICH's, whatever the links are.
  native,     ///< The MPI library's own.
};
const char* name_of(Engine);

/// What the environment says to the preloaded library.
struct Settings {
  Engine engine = Engine::automatic;
  /// A file of link delays to emulate (`parse_delays`); empty: none.
  std::string emulate;
  /// Where rank 0 writes what it knows when the program ends; empty: nowhere.
  std::string report;
  /// Engine mst: broadcasts between two adaptations (the paper's adap II), 1 at least.
  unsigned adapt_every = 4;
  /// Engine mst: links that changed by less than this part have not changed (0.1: 10 %).
  double threshold = 0.1;
  /// Asks MPI for MPI_THREAD_MULTIPLE, whatever the program asks for: without it nonblocking
  /// collectives are the MPI library's own.
  bool nonblocking = false;
  /// Reductions combine in the order of ranks, whatever the tree: results are the same each time.
  bool fixed_order = false;
  /// With `automatic` a reduction may have other last bits than the MPI library's own, which depend
  /// on the order. Otherwise those whose bits can differ are the MPI library's.
  bool any_order = false;
  /// The interface by whose address others reach this host, by its name or address; empty: the one
  /// that routes to them.
  std::string interface;
  /// Rank 0 says at the end how much was done.
  bool summary = false;
  /// A file that each rank makes which has this library, to show that it was loaded; empty: none.
  std::string started;
  /// Where rank 0 writes what it knows, once a second, while the program runs; empty: nowhere.
  std::string figures;
};

/// Reads PIRACEMA_COLL_…; `variable` is std::getenv. Errc::config names the variable.
Result<Settings> read_settings(const std::function<const char*(const char*)>& variable);

}  // namespace piracema::coll
