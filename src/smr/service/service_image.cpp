#include <utility>

#include "base/text.h"
#include "smr/mutant.h"
#include "smr/service/service.h"
#include "wire/reader.h"
#include "wire/writer.h"

/// A service's state as bytes, and from bytes (docs/formats/replica.md).
namespace piracema::smr {

namespace {

constexpr std::uint32_t image_magic = 0x53524D53;  // "SMRS"
constexpr std::uint32_t image_version = 2;

}  // namespace

std::function<Checkpoint()> Service::snapshot() {
  return [write_sessions = sessions_.snapshot(), write_admissions = admissions_.snapshot(),
          write_machine = machine_.snapshot(), instance = executed_, time = time_,
          chunk_bytes = settings_.chunk_bytes] {
    Buffer image;
    wire::Writer out(image);
    out.number(image_magic);
    out.number(image_version);
    out.number(instance);
    out.number(time);
    write_sessions(out);
    write_admissions(out);
    out.bytes(write_machine());
    return make_checkpoint(instance, time, image, chunk_bytes);
  };
}

Result<Done> Service::restore(Instance instance, Bytes image) {
  const auto refuse = [instance](const auto&... why) {
    return Error{Errc::corrupt, concat("checkpoint at ", instance, ": ", why...)};
  };
  wire::Reader in(image);
  if (in.number<std::uint32_t>() != image_magic) return refuse("want a service's image");
  if (const auto version = in.number<std::uint32_t>(); version != image_version) {
    return refuse("want version ", image_version, ", found ", version);
  }
  if (const auto found = in.number<Instance>(); found != instance) {
    return refuse("found the image of ", found);
  }
  const auto time = in.number<std::uint64_t>();
  Sessions sessions(settings_.sessions);
  sessions.read(in);
  Admissions admissions;
  admissions.read(in);
  const Bytes machine = in.bytes();
  if (auto finished = in.finish(); !finished) return refuse(finished.error().message);
  if (!machine_.restore(machine)) return refuse("the state machine does not know its image");
  if (!SMR_MUTANT("sessions_not_restored")) sessions_ = std::move(sessions);
  admissions_ = std::move(admissions);
  if (tell_admissions_) tell_admissions_(admissions_.all());
  executed_ = instance;
  time_ = time;
  trail_.restart_after(instance);
  return Done{};
}

}  // namespace piracema::smr
