#pragma once

/// Planted mistakes, for the gate that asks whether the simulator would find them.
///
///     if (votes >= view.quorum() - (SMR_MUTANT("small_quorum") ? 1 : 0)) decide();
///
/// In the library this is the constant false and leaves no trace. The simulator's own build of the
/// room (PIRACEMA_MUTANTS) asks at run time which one is on: `smr::mutant_on` is defined there.
#ifdef PIRACEMA_MUTANTS
namespace piracema::smr {
bool mutant_on(const char* name);
}
#define SMR_MUTANT(name) (::piracema::smr::mutant_on(name))
#else
#define SMR_MUTANT(name) false
#endif
