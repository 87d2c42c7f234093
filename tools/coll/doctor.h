#pragma once

namespace piracema::tools {

/// `piracema coll doctor`: prints which MPIs this machine has, with which launcher and compiler,
/// and whether there is a library for them. The exit code: 1 if there is none that can be used.
/// Their launchers are run to say their version.
int coll_doctor(bool as_json);

}  // namespace piracema::tools
