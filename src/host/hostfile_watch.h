#pragma once

#include <piracema/error.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "host/host_names.h"

namespace piracema::cluster {

/// A host that a file names, and how many processes it is to have there; none: as many as others.
struct ListedHost {
  HostOptions host;
  std::optional<std::uint32_t> places;
};

/// Looks now and then at a file of hosts that somebody changes while a job runs, on a thread of its
/// own: file systems of several machines tell nobody of a change, and names are looked up, which
/// may take seconds. What is being written counts once it stays as it is from one look to the next.
class HostfileWatch {
 public:
  struct Events {
    /// All that it names now, each host once; first what it names at the beginning. From the thread
    /// of the watch.
    std::function<void(std::vector<ListedHost>)> changed;
    /// It cannot be read, or says nothing that can be used, and why: all stays as it is. Told once;
    /// a name that is not known is looked up again.
    std::function<void(const std::string& why)> unusable;
  };

  /// `known` are the hosts of the job so far, whose names are not looked up again.
  HostfileWatch(std::string file, std::vector<HostOptions> known, Events events);
  /// Waits for a look that is under way.
  ~HostfileWatch();

 private:
  void run();
  void look();
  void complain(const std::string& why);
  Result<HostOptions> find(const HostName& name);

  const std::string file_;
  const Events events_;
  std::vector<HostOptions> known_;
  /// As it was at the last look, and as it was told of.
  std::optional<std::string> seen_, told_;
  std::string complaint_;
  std::mutex mutex_;
  std::condition_variable ends_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace piracema::cluster
