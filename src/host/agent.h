#pragma once

namespace piracema::cluster {

/// `piracema agent PROGRAM`: starts and watches processes of a job for its coordinator, who is on
/// another host. Reads one line from standard input, "ADDRESS KEY HOST ATTEMPT", and ends with
/// standard input, with its connection to the coordinator, when it is told to, or when it has heard
/// nothing for a while; its processes end with it. Not for users. `argv` begins with "agent".
/// Returns the exit status.
int run_agent(int argc, char** argv);

}  // namespace piracema::cluster
