#include "observe/http/site.h"

#include <cstddef>
#include <string_view>

#include "base/text.h"
#include "observe/page/page_files.h"
#include "observe/status/status_json.h"

namespace piracema::observe {

Response Site::get(const Request& request, Time now) const {
  if (request.path == "/") return page(request, page_html);
  if (request.path == "/app.js") return script(page_script);
  return pages_->get(request, now);
}

Response Site::post(const Request& request) const { return pages_->post(request); }

std::string report_page(const JobStatus& status) {
  std::string data = all_json(status);
  // In a script of a page "</" could end it, and "<!--" begin a comment.
  for (std::size_t at = 0; (at = data.find('<', at)) != data.npos; at += 6) {
    data.replace(at, 1, "\\u003c");
  }
  std::string page(page_html);
  const auto put = [&page](std::string_view what, const std::string& with) {
    const std::size_t at = page.find(what);
    if (at != page.npos) page.replace(at, what.size(), with);
  };
  put("<link rel=\"stylesheet\" href=\"/style.css\">", concat("<style>", page_style, "</style>"));
  put("<link rel=\"icon\" href=\"/icon.svg\">", "");
  put("<script src=\"/common.js\" defer></script>\n", "");
  put("<script src=\"/app.js\" defer></script>",
      concat("<script type=\"application/json\" id=\"recorded\">", data, "</script>\n"));
  put("</body>", concat("<script>", page_common, page_script, "</script>\n</body>"));
  return page;
}

}  // namespace piracema::observe
