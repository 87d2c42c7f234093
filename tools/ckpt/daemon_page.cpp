#include "tools/ckpt/daemon_page.h"

#include <tuple>
#include <vector>

#include "base/clock.h"
#include "tools/ckpt/daemon_site.h"
#include "wire/fields.h"

namespace piracema::tools {

namespace {

struct DaemonNews {
  ckpt::DaemonFigures figures;
  std::vector<PageLine> lines;
  auto fields() { return std::tie(figures, lines); }
};

/// In the page's process.
PageProcess::Parts daemon_parts() {
  const auto board = std::make_shared<DaemonBoard>();
  return {
      .site =
          [board](observe::Guard guard) {
            return std::make_unique<DaemonSite>(board, std::move(guard));
          },
      .hear =
          [board](Bytes bytes) {
            auto news = wire::decode<DaemonNews>(bytes);
            if (!news) return;
            board->show({std::move(news->figures), logged_lines_of(std::move(news->lines)), now()});
          }};
}

}  // namespace

Result<std::unique_ptr<DaemonPage>> DaemonPage::start(const observe::HttpOptions& options) {
  auto process = PageProcess::start(options, daemon_parts);
  if (!process) return process.error();
  return std::unique_ptr<DaemonPage>(new DaemonPage(*std::move(process)));
}

void DaemonPage::show(const ckpt::DaemonFigures& figures) {
  process_->tell(wire::encode(DaemonNews{figures, page_lines()}));
}

}  // namespace piracema::tools
