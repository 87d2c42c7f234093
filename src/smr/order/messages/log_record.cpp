#include "smr/order/messages/log_record.h"

#include <utility>

#include "smr/order/messages/record_format.h"

namespace piracema::smr {

namespace {

void write_record(ProposalTaken& r, RecordWriter& out) {
  out.number(r.instance);
  out.number(r.regency);
  out.body(r.batch);
}
void write_record(InstanceDecided& r, RecordWriter& out) {
  out.number(r.instance);
  out.fields(r.digest);
  out.number(static_cast<std::uint8_t>(r.batch != nullptr));
  out.body(r.batch);
}
template <class R>
void write_record(R& r, RecordWriter& out) {
  out.fields(r);
}

void read_record(ProposalTaken& r, RecordReader& in) {
  r.instance = in.number<Instance>();
  r.regency = in.number<Regency>();
  r.batch = in.batch();
}
void read_record(InstanceDecided& r, RecordReader& in) {
  r.instance = in.number<Instance>();
  in.fields(r.digest);
  if (in.number<std::uint8_t>() != 0) r.batch = in.batch();
}
template <class R>
void read_record(R& r, RecordReader& in) {
  in.fields(r);
}

Instance place(const RegencyEntered&) { return 0; }
Instance place(const StopSaid&) { return 0; }
Instance place(const MemoryRegained&) { return 0; }
Instance place(const ViewSigned&) { return never_truncated; }
// The log is truncated up to the place of the checkpoint, not with it.
Instance place(const CheckpointStable& r) { return r.proof.checkpoint.instance + 1; }
Instance place(const ViewScheduled& r) { return r.from; }
// A checkpoint does not replace it: without it a leader may not go on (unproven_max).
Instance place(const ProofKept&) { return 0; }
template <class R>
Instance place(const R& r) {
  return r.instance;
}

}  // namespace

EncodedMessage encode(const LogRecord& record) {
  return encode_variant(record, [](auto& r, RecordWriter& out) { write_record(r, out); });
}

Result<LogRecord> decode_record(Bytes in) {
  return decode_variant<LogRecord>(in, [](auto& r, RecordReader& from) { read_record(r, from); });
}

Instance instance_of(const LogRecord& record) {
  return std::visit([](const auto& r) { return place(r); }, record);
}

}  // namespace piracema::smr
