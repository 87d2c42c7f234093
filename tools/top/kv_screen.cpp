#include "tools/top/kv_screen.h"

#include "base/text.h"

namespace piracema::tools {

void put_kv_replica(TerminalPage& page, const JsonView& all) {
  const JsonView one = all["replica"];
  const bool takes_part = one.flag("takes_part");
  page.line(concat("replica ", one.count("id"), " of ", one.text("group"), "  ",
                   !takes_part         ? "takes no part"
                   : one.flag("leads") ? "leads"
                                       : "follows " + one.count("leader"),
                   "  ", human_seconds(one.number("leader_for")), "  ", one.count("here"), " of ",
                   one.list("members").size(), " members here"),
            Paint::strong);
  if (!takes_part) page.line(one.text("trouble"), Paint::bad);
  page.line(concat(short_number(one.number("ordered_per_second")), "/s ordered, ",
                   short_number(one.number("reads_per_second")), "/s reads, ", one.count("waiting"),
                   " wait; ", one.count("clients"), " clients; ", one.count("leader_changes"),
                   " changes of the leader"));
  if (const JsonView checkpoints = one["checkpoints"]; checkpoints.has("last")) {
    const JsonView last = checkpoints["last"];
    page.line(concat("checkpoint ", human_seconds(last.number("age")),
                     " ago: ", short_bytes(last.number("bytes")), " in ",
                     short_seconds(last.number("took"))));
  }
  if (one.number("pieces_of") > 0) {
    page.line(concat("fetches a checkpoint: ", one.count("pieces"), " of ", one.count("pieces_of"),
                     " pieces"),
              Paint::warn);
  }
  TerminalPage::Rows rows = {{"MEMBER", "BEHIND", "DOES", "ADDRESS"}};
  for (const JsonView& member : one.list("members")) {
    rows.push_back({member.count("id"), member.has("behind") ? member.count("behind") : "-",
                    !member.flag("connected") ? "not connected"
                    : member.flag("leads")    ? "leads"
                                              : "follows",
                    member.text("address")});
  }
  page.table(rows, 0, true);
}

}  // namespace piracema::tools
