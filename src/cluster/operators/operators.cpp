#include <piracema/operators.h>
#include <unistd.h>

#include <cstdlib>

#include "cluster/operators/place.h"
#include "cluster/operators/running_plan.h"
#include "net/socket/mpi_world.h"

namespace piracema::operators {

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

ExecutionPlan getExecutionPlan() { return detail::running_plan(); }

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
