#include <piracema/operators.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <utility>

#include "cluster/operators/place.h"
#include "cluster/operators/running_plan.h"
#include "net/socket/mpi_world.h"

namespace piracema::operators {

namespace detail {

namespace {
thread_local const Context* place = nullptr;

std::mutex plan_mutex;
utility::ExecutionPlan plan;
}  // namespace

Place::Place(const Context& context) : before_(std::exchange(place, &context)) {}
Place::~Place() { place = before_; }
const Context* Place::of_this_thread() { return place; }

void set_running_plan(const GraphShape& shape) {
  std::lock_guard lock(plan_mutex);
  plan.stages.clear();
  for (const NodeShape& node : shape.nodes) {
    plan.stages.push_back({node.name, static_cast<int>(node.replicas), node.ordered});
  }
}

}  // namespace detail

void init(int, char**) {}
void finalize() {}

namespace utility {

int getRank() {
  if (const Context* context = detail::Place::of_this_thread()) {
    return static_cast<int>(context->rank);
  }
  // Under one mpirun all processes have one environment of ours; the rank is MPI's to tell.
  const char* slot = std::getenv("PIRACEMA_SLOT");
  return slot == nullptr ? static_cast<int>(net::MpiWorld::rank_in_environment()) : std::atoi(slot);
}

int getCommunicatorSize() {
  int replicas = 0;
  for (const Stage& stage : getExecutionPlan().stages) replicas += stage.replicas;
  return replicas == 0 ? 1 : replicas;
}

std::string getProcessorName() {
  char name[256] = "";
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

ExecutionPlan getExecutionPlan() {
  std::lock_guard lock(detail::plan_mutex);
  return detail::plan;
}

Node getNode() {
  Node node{.processor = getProcessorName(), .rank = getRank()};
  if (const Context* context = detail::Place::of_this_thread()) {
    node.stage = context->node;
    node.replica = static_cast<int>(context->replica);
  }
  return node;
}

}  // namespace utility
}  // namespace piracema::operators
