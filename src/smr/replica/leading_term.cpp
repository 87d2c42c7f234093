#include "smr/replica/leading_term.h"

namespace piracema::smr {

// Regencies begin anew with each view. Who leads in the next one, too, has not ceased to.
void LeadingTerm::see(bool leads, ViewId view, Regency regency) {
  constexpr int regency_bits = 32;
  std::optional<std::uint64_t> term;
  if (leads) term = std::uint64_t{view} << regency_bits | regency;
  if (term == term_) return;
  const bool leads_on = term && term_ && *term >> regency_bits != *term_ >> regency_bits;
  if (term_ && !leads_on && leads_no_longer_) leads_no_longer_();
  term_ = term;
  if (term && leads_) leads_(*term);
}

}  // namespace piracema::smr
