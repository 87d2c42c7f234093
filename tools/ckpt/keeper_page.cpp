#include "tools/ckpt/keeper_page.h"

#include <tuple>
#include <vector>

#include "base/clock.h"
#include "tools/ckpt/keeper_site.h"
#include "tools/ckpt/store_look.h"
#include "wire/fields.h"

namespace piracema::tools {

namespace {

struct KeeperNews {
  ckpt::KeeperFigures figures;
  std::vector<PageLine> lines;
  auto fields() { return std::tie(figures, lines); }
};

/// In the page's process.
PageProcess::Parts keeper_parts() {
  const auto board = std::make_shared<KeeperBoard>();
  const auto store = std::make_shared<StoreLook>(board);
  return {.site =
              [board](observe::Guard guard) {
                return std::make_unique<KeeperSite>(board, std::move(guard));
              },
          .hear =
              [board, store](Bytes bytes) {
                auto news = wire::decode<KeeperNews>(bytes);
                if (!news) return;
                store->look_at(news->figures.directory, news->figures.saved);
                board->show(std::move(news->figures), logged_lines_of(std::move(news->lines)),
                            now());
              }};
}

}  // namespace

Result<std::unique_ptr<KeeperPage>> KeeperPage::start(const observe::HttpOptions& options) {
  auto process = PageProcess::start(options, keeper_parts);
  if (!process) return process.error();
  return std::unique_ptr<KeeperPage>(new KeeperPage(*std::move(process)));
}

void KeeperPage::show(const ckpt::KeeperFigures& figures) {
  process_->tell(wire::encode(KeeperNews{figures, page_lines()}));
}

}  // namespace piracema::tools
