#pragma once

#include <piracema/error.h>

#include <memory>
#include <string>
#include <utility>

#include "observe/http/server.h"
#include "tools/coll/coll_board.h"

namespace piracema::tools {

/// Shows an MPI job by HTTP, from the file that its rank 0 writes, for as long as this lives. The
/// file is looked at by a thread that nobody waits for: where it lies may hang.
class CollPage {
 public:
  /// `figures`: where rank 0 is to write; empty: in a folder of its own in the folder for temporary
  /// files, which goes with this object. As HttpServer::start; messages begin with "--http: ". A
  /// file that is there already is taken away: it is of another job.
  static Result<std::unique_ptr<CollPage>> start(const observe::HttpOptions& options,
                                                 const std::string& figures, CollStart start);
  ~CollPage();

  /// For a browser, with the token: for the eyes of whoever started it.
  std::string entrance() const { return server_->entrance(); }
  /// Where rank 0 writes; absolute.
  const std::string& figures() const { return figures_; }

 private:
  struct Look;
  CollPage(std::unique_ptr<observe::HttpServer> server, std::string figures, std::string folder,
           std::shared_ptr<CollBoard> board);

  const std::unique_ptr<observe::HttpServer> server_;
  const std::string figures_;
  /// To be removed; empty: none.
  const std::string folder_;
  const std::shared_ptr<Look> look_;
};

}  // namespace piracema::tools
