#include "smr/service/service.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "base/text.h"
#include "wire/fields.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace piracema::smr {

Service::Service(const ServiceSettings& settings, StateMachine& machine, Executor& executor,
                 ReplySink replies, AdmissionSink admissions)
    : settings_(settings),
      machine_(machine),
      executor_(executor),
      replies_(std::move(replies)),
      tell_admissions_(std::move(admissions)),
      sessions_(settings.sessions) {}

// Three passes over the requests: sessions decide in order which are to be executed, by what was
// ordered alone; the executor executes those; sessions keep the replies, in order. How batches are
// grouped into calls differs between replicas and must not be seen in the state.
void Service::execute(std::span<const Execute> batches) {
  tasks_.clear();
  origins_.clear();
  for (const Execute& decided : batches) {
    ENSURE(decided.instance == executed_ + 1);  // The core hands out each once, without a gap.
    executed_ = decided.instance;
    const Batch& batch = *decided.batch;
    // A new leader's clock may be behind that of the one before.
    time_ = std::max(time_, batch.time);
    trail_.add(batch.requests.size());
    Context context{.instance = decided.instance, .index = 0, .time = time_, .client = 0};
    // A batch of nobody's is the machine's: so it takes no kind of request, and nobody's proof.
    if (batch.requests.empty()) {
      tasks_.push_back({.operation = {}, .context = context, .tick = true});
      origins_.emplace_back();
    }
    for (const Request& request : batch.requests) {
      context.client = request.client;
      admit(request, context);
      context.index += 1;
    }
  }
  if (!answers_.empty()) replies_(std::exchange(answers_, {}));
  executor_.run(tasks_, [this](std::span<Task* const> finished) { finish(finished); });
  for (const Task& task : tasks_) {
    if (!task.tick) trail_.note(task);
  }
  settle();
}

void Service::admit(const Request& request, const Context& context) {
  if (request.sequence == 0) return answer(request, ReplyStatus::refused);
  switch (request.kind) {
    case Kind::ordered:
    case Kind::parallel:
      return operate(request, context);
    case Kind::open:
      return open(request);
    case Kind::close:
      return close(request);
    case Kind::reconfigure:
      return;
    case Kind::admit:
      return change_clients(request);
  }
  answer(request, ReplyStatus::refused);
}

void Service::open(const Request& request) {
  if (admissions_.is_dismissed(request.client)) return answer(request, ReplyStatus::refused);
  const auto opens = wire::decode<Opens>(request.operation);
  const std::uint64_t session =
      sessions_.open(request.client, request.sequence, opens ? opens->life : 0);
  session == 0 ? refuse_open(request) : tell_opened(request, session);
}

// A copy is told the same. So is another process of this client that has drawn the same number: it
// sees by the life that this session is not its own.
void Service::tell_opened(const Request& request, std::uint64_t session) {
  const SessionOpened opened{session, Session::window,
                             sessions_.find(request.client, session)->life()};
  answer(request, ReplyStatus::done, std::make_shared<const Buffer>(wire::encode(opened)));
}

void Service::refuse_open(const Request& request) {
  const Outnumbered before{sessions_.last_open(request.client)};
  answer(request, ReplyStatus::no_session, std::make_shared<const Buffer>(wire::encode(before)));
}

// The second one finds nothing and is answered like the first.
void Service::close(const Request& request) {
  sessions_.close(request.client, request.session);
  answer(request, ReplyStatus::done);
}

// Sessions of a client that goes, or that has another key now, end here, in the order: what comes
// behind in its old name finds none.
void Service::change_clients(const Request& request) {
  const Admissions::Answer said = admissions_.change(request.sequence, request.operation);
  answer(request, said.status, std::make_shared<const Buffer>(as_bytes(said.text)));
  if (said.status != ReplyStatus::done) return;
  sessions_.close_all(admissions_.latest().client);
  if (tell_admissions_) tell_admissions_({admissions_.latest()});
}

void Service::operate(const Request& request, const Context& context) {
  Session* session = sessions_.use(request.client, request.session);
  if (session == nullptr) return answer(request, ReplyStatus::no_session);
  const auto standing = session->standing(request.sequence);
  switch (standing) {
    case Session::Standing::fresh:
      session->begin(request.sequence);
      tasks_.push_back({.operation = request.operation,
                        .context = context,
                        .group = request.group,
                        .grouped = request.kind == Kind::parallel});
      origins_.push_back({.request = &request});
      return;
    case Session::Standing::under_way:
      return;
    case Session::Standing::answered:
      return answer(request, ReplyStatus::done, session->reply(request.sequence));
    case Session::Standing::forgotten:
      return answer(request, ReplyStatus::forgotten);
  }
}

bool Service::answer_again(const Request& request) {
  // Its reply may have been lost before its session was evicted: without a word the client would
  // ask for ever, as what was ordered is not ordered again.
  const bool open = request.kind == Kind::open;
  const bool operates = request.kind == Kind::ordered || request.kind == Kind::parallel;
  const bool gone = (open && sessions_.open_is_gone(request.client, request.sequence)) ||
                    (operates && sessions_.is_gone(request.client, request.session));
  if (gone) {
    open ? refuse_open(request) : answer(request, ReplyStatus::no_session);
  } else if (open) {
    const std::uint64_t session = sessions_.opened_by(request.client, request.sequence);
    if (session == 0) return false;
    tell_opened(request, session);
  } else if (request.kind == Kind::admit) {
    const Admissions::Answer& last = admissions_.last();
    if (last.sequence != request.sequence) return false;
    answer(request, last.status, std::make_shared<const Buffer>(as_bytes(last.text)));
  } else {
    const Session* session = sessions_.find(request.client, request.session);
    if (session == nullptr || request.sequence == 0 ||
        session->standing(request.sequence) != Session::Standing::answered) {
      return false;
    }
    answer(request, ReplyStatus::done, session->reply(request.sequence));
  }
  replies_(std::exchange(answers_, {}));
  return true;
}

void Service::answer(const Request& request, ReplyStatus status,
                     std::shared_ptr<const Buffer> result) {
  answers_.push_back(
      {request.client, request.session, request.sequence, status, std::move(result)});
}

// Any thread, for different tasks.
void Service::finish(std::span<Task* const> finished) {
  std::vector<Reply> replies;
  replies.reserve(finished.size());
  for (Task* task : finished) {
    if (task->tick) continue;
    Origin& origin = origins_[static_cast<std::size_t>(task - tasks_.data())];
    origin.result = std::make_shared<const Buffer>(std::move(task->reply));
    const Request& request = *origin.request;
    replies.push_back(
        {request.client, request.session, request.sequence, ReplyStatus::done, origin.result});
  }
  if (!replies.empty()) replies_(std::move(replies));
}

void Service::settle() {
  for (Origin& origin : origins_) {
    if (origin.request == nullptr) continue;
    const Request& request = *origin.request;
    Session* session = sessions_.find_to_settle(request.client, request.session);
    // Closed, or evicted, by a request after this one.
    if (session == nullptr) continue;
    session->end(request.sequence, std::move(origin.result));
  }
}

// ---- its state as bytes, and from bytes (docs/formats/replica.md)

namespace {

constexpr std::uint32_t image_magic = 0x53524D53;  // "SMRS"
constexpr std::uint32_t image_version = 4;
/// Sessions have no lives there.
constexpr std::uint32_t image_version_without_lives = 3;
/// There, besides, the length of the machine's part stands before it, so it had to be there as a
/// whole; now it stands behind.
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
  if (version < image_version_before || version > image_version) {
    return error(Errc::refused, "want version ", image_version_before, " to ", image_version,
                 ", found ", version);
  }
  if (const auto found = in.number<Instance>(); found != instance) {
    return refuse("found the image of ", found);
  }
  const auto time = in.number<std::uint64_t>();
  Sessions sessions(settings_.sessions);
  sessions.read(in, version > image_version_without_lives);
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
