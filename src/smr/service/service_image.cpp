#include <algorithm>
#include <utility>

#include "base/text.h"
#include "smr/service/service.h"
#include "wire/reader.h"
#include "wire/writer.h"

/// A service's state as bytes, and from bytes (docs/formats/replica.md).
namespace piracema::smr {

namespace {

constexpr std::uint32_t image_magic = 0x53524D53;  // "SMRS"
constexpr std::uint32_t image_version = 3;
/// There the length of the machine's part stands before it, so it had to be there as a whole; now
/// it stands behind.
constexpr std::uint32_t image_version_before = 2;

}  // namespace

std::function<Checkpoint()> Service::snapshot(Pieces pieces) {
  WriteImage write = [write_sessions = sessions_.snapshot(),
                      write_admissions = admissions_.snapshot(),
                      write_machine = machine_.snapshot(), instance = executed_,
                      time = time_](const Checkpoint::Use& use) {
    Buffer ours;
    wire::Writer out(ours);
    out.number(image_magic);
    out.number(image_version);
    out.number(instance);
    out.number(time);
    write_sessions(out);
    write_admissions(out);
    use(ours);
    std::uint64_t length = 0;
    write_machine([&](Bytes some) {
      length += some.size();
      use(some);
    });
    Buffer end;
    wire::Writer(end).number(length);
    use(end);
  };
  return [write = std::move(write), instance = executed_, time = time_,
          chunk_bytes = settings_.chunk_bytes,
          pieces] { return make_checkpoint(instance, time, chunk_bytes, write, pieces); };
}

Result<Done> Service::restore(Instance instance, Bytes image) {
  const auto error = [instance](Errc code, const auto&... why) {
    return Error{code, concat("checkpoint at ", instance, ": ", why...)};
  };
  const auto refuse = [&error](const auto&... why) { return error(Errc::corrupt, why...); };
  wire::Reader in(image);
  if (in.number<std::uint32_t>() != image_magic) return refuse("want a service's image");
  const auto version = in.number<std::uint32_t>();
  if (version != image_version && version != image_version_before) {
    return error(Errc::refused, "want version ", image_version_before, " or ", image_version,
                 ", found ", version);
  }
  if (const auto found = in.number<Instance>(); found != instance) {
    return refuse("found the image of ", found);
  }
  const auto time = in.number<std::uint64_t>();
  Sessions sessions(settings_.sessions);
  sessions.read(in);
  Admissions admissions;
  admissions.read(in);
  Bytes machine;
  if (version == image_version_before) {
    machine = in.bytes();
  } else {
    machine = in.raw(in.left() - std::min(in.left(), sizeof(std::uint64_t)));
    if (in.number<std::uint64_t>() != machine.size()) in.fail("the length of the machine's part");
  }
  if (auto finished = in.finish(); !finished) return refuse(finished.error().message);
  if (!machine_.restore(machine)) return refuse("the state machine does not know its image");
  sessions_ = std::move(sessions);
  admissions_ = std::move(admissions);
  if (tell_admissions_) tell_admissions_(admissions_.all());
  executed_ = instance;
  time_ = time;
  trail_.restart_after(instance);
  spacing_.restart();
  return Done{};
}

}  // namespace piracema::smr
