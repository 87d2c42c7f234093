#include "ckpt/network/loopback.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <vector>

#include "base/fd.h"
#include "base/text.h"
#include "ckpt/network/netlink_message.h"

namespace piracema::ckpt {

namespace {

constexpr std::string_view table = "piracema", chain = "held";
// The kernel gives it to the first device of every network namespace, its loopback.
constexpr std::uint32_t loopback_index = 1;
// The ends of half-closed connections: criu makes them by packets of its own (soccr.h).
constexpr std::uint32_t mark_of_criu = 0xC114;

std::uint16_t nested(int type) { return static_cast<std::uint16_t>(type | NLA_F_NESTED); }

/// What is carried out all together or not at all.
class Batch {
 public:
  NetlinkMessage message(int type, unsigned flags) {
    NetlinkMessage made(static_cast<std::uint16_t>(NFNL_SUBSYS_NFTABLES << 8 | type), flags);
    const nfgenmsg head{NFPROTO_INET, NFNETLINK_V0, 0};
    made.append(&head, sizeof head);
    return made;
  }
  void add(NetlinkMessage message) {
    const Bytes bytes = message.bytes();
    all_.insert(all_.end(), bytes.begin(), bytes.end());
  }
  void add_border(int type) {
    NetlinkMessage border(static_cast<std::uint16_t>(type), 0);
    border.header().nlmsg_flags = NLM_F_REQUEST;
    const nfgenmsg head{AF_UNSPEC, NFNETLINK_V0, htons(NFNL_SUBSYS_NFTABLES)};
    border.append(&head, sizeof head);
    add(std::move(border));
  }
  /// Made first, so that it is there to be removed.
  void remove_table() {
    for (const int type : {NFT_MSG_NEWTABLE, NFT_MSG_DELTABLE}) {
      NetlinkMessage one = message(type, type == NFT_MSG_NEWTABLE ? NLM_F_CREATE : 0u);
      one.text(NFTA_TABLE_NAME, table);
      add(std::move(one));
    }
  }
  const std::vector<std::byte>& bytes() const { return all_; }

 private:
  std::vector<std::byte> all_;
};

void number(NetlinkMessage& message, int type, std::uint32_t value) {
  const std::uint32_t in_order = htonl(value);
  message.attribute(static_cast<std::uint16_t>(type), &in_order, sizeof in_order);
}

/// An expression of a rule: its name, and attributes by what `fill` puts in.
template <class Fill>
void expression(NetlinkMessage& rule, std::string_view name, Fill fill) {
  const std::size_t element = rule.begin(nested(NFTA_LIST_ELEM));
  rule.text(NFTA_EXPR_NAME, name);
  const std::size_t data = rule.begin(nested(NFTA_EXPR_DATA));
  fill();
  rule.end(data);
  rule.end(element);
}

// The rule goes on only if the packet's property compares so with the value.
void want(NetlinkMessage& rule, nft_meta_keys key, nft_cmp_ops how, std::uint32_t value) {
  expression(rule, "meta", [&] {
    number(rule, NFTA_META_KEY, key);
    number(rule, NFTA_META_DREG, NFT_REG_1);
  });
  expression(rule, "cmp", [&] {
    number(rule, NFTA_CMP_SREG, NFT_REG_1);
    number(rule, NFTA_CMP_OP, how);
    const std::size_t data = rule.begin(nested(NFTA_CMP_DATA));
    rule.attribute(NFTA_DATA_VALUE, &value, sizeof value);
    rule.end(data);
  });
}

void drop(NetlinkMessage& rule) {
  expression(rule, "immediate", [&] {
    number(rule, NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
    const std::size_t data = rule.begin(nested(NFTA_IMMEDIATE_DATA));
    const std::size_t verdict = rule.begin(nested(NFTA_DATA_VERDICT));
    number(rule, NFTA_VERDICT_CODE, NF_DROP);
    rule.end(verdict);
    rule.end(data);
  });
}

// The kernel answers each message, or the first that it refuses.
Result<Done> carry_out(const Batch& batch) {
  const auto failed = [](std::string_view what) {
    return Error{Errc::config, with_errno(concat("nf_tables of the kernel: ", what))};
  };
  const Fd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER));
  if (!socket) return failed("cannot be asked");
  if (::send(socket.get(), batch.bytes().data(), batch.bytes().size(), 0) < 0) {
    return failed("cannot be asked");
  }
  alignas(nlmsghdr) std::array<std::byte, 4096> answer;
  for (;;) {
    const ssize_t bytes = ::recv(socket.get(), answer.data(), answer.size(), MSG_DONTWAIT);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0 && errno == EAGAIN) return Done{};
    if (bytes < 0) return failed("does not answer");
    const auto& head = *reinterpret_cast<const nlmsghdr*>(answer.data());
    if (head.nlmsg_type != NLMSG_ERROR) continue;
    errno = -static_cast<const nlmsgerr*>(NLMSG_DATA(&head))->error;
    if (errno != 0) return failed("the loopback cannot be held");
  }
}

}  // namespace

// At the way out, where what is dropped stays the sender's: it is sent at the first sign of the
// other end, and not when a timer runs out.
Result<Done> hold_loopback() {
  Batch batch;
  batch.add_border(NFNL_MSG_BATCH_BEGIN);
  batch.remove_table();
  NetlinkMessage made = batch.message(NFT_MSG_NEWTABLE, NLM_F_CREATE);
  made.text(NFTA_TABLE_NAME, table);
  batch.add(std::move(made));
  NetlinkMessage way_out = batch.message(NFT_MSG_NEWCHAIN, NLM_F_CREATE);
  way_out.text(NFTA_CHAIN_TABLE, table);
  way_out.text(NFTA_CHAIN_NAME, chain);
  const std::size_t hook = way_out.begin(nested(NFTA_CHAIN_HOOK));
  number(way_out, NFTA_HOOK_HOOKNUM, NF_INET_LOCAL_OUT);
  number(way_out, NFTA_HOOK_PRIORITY, 0);
  way_out.end(hook);
  way_out.text(NFTA_CHAIN_TYPE, "filter");
  batch.add(std::move(way_out));
  NetlinkMessage rule = batch.message(NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND);
  rule.text(NFTA_RULE_TABLE, table);
  rule.text(NFTA_RULE_CHAIN, chain);
  const std::size_t all = rule.begin(nested(NFTA_RULE_EXPRESSIONS));
  want(rule, NFT_META_OIF, NFT_CMP_EQ, loopback_index);
  want(rule, NFT_META_MARK, NFT_CMP_NEQ, mark_of_criu);
  drop(rule);
  rule.end(all);
  batch.add(std::move(rule));
  batch.add_border(NFNL_MSG_BATCH_END);
  return carry_out(batch);
}

Result<Done> release_loopback() {
  Batch batch;
  batch.add_border(NFNL_MSG_BATCH_BEGIN);
  batch.remove_table();
  batch.add_border(NFNL_MSG_BATCH_END);
  return carry_out(batch);
}

}  // namespace piracema::ckpt
