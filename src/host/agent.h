#pragma once

namespace piracema::cluster {

/// `piracema agent PROGRAM [DESCRIPTOR]`: starts and watches processes of a job for its
/// coordinator, which is on another host, or has started this agent on its own. One line tells it
/// of the job, "ADDRESS KEY HOST ATTEMPT": on standard input, or on a socket, which then is its
/// connection to the coordinator. It ends with standard input, with that connection, when it is
/// told to, or when it has heard nothing for a while; its processes end with it. On another host
/// SIGTERM says that the host may be gone soon: the agent has the coordinator take its processes
/// elsewhere, and then ends; a second one ends it at once. Not for users.
/// `argv` begins with "agent". Returns the exit status.
int run_agent(int argc, char** argv);

}  // namespace piracema::cluster
