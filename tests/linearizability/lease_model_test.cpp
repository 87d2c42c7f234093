#include <doctest/doctest.h>

#include "linearizability/checker.h"
#include "linearizability/models.h"

namespace piracema::linearizability {

namespace {

using Kind = LeaseModel::Kind;
using Is = Verdict::Is;
constexpr std::uint64_t alice = 1, bob = 2;

/// One after the other, in the order in which they are written down.
class Story {
 public:
  Story& acquire(std::uint64_t client, bool granted, std::uint64_t token, std::uint64_t time) {
    return add({Kind::acquire, 1, client, 10}, {granted, token, time});
  }
  Story& renew(std::uint64_t client, bool granted, std::uint64_t token, std::uint64_t time) {
    return add({Kind::renew, 1, client, 10}, {granted, token, time});
  }
  Story& release(std::uint64_t client, bool granted, std::uint64_t token, std::uint64_t time) {
    return add({Kind::release, 1, client, 0}, {granted, token, time});
  }
  Story& never_answered(Kind kind, std::uint64_t client) {
    history_.called(client, {kind, 1, client, 10});
    return *this;
  }
  Is is() const { return check<LeaseModel>(history_.operations()).is; }

 private:
  Story& add(LeaseModel::Input input, LeaseModel::Output output) {
    history_.answered(history_.called(input.client, input), output);
    return *this;
  }
  History<LeaseModel> history_;
};

}  // namespace

TEST_CASE("a lease is lent to one, and to the next when its time is over") {
  CHECK(Story().acquire(alice, true, 1, 100).acquire(bob, false, 1, 109).is() == Is::linearizable);
  CHECK(Story().acquire(alice, true, 1, 100).acquire(bob, true, 2, 110).is() == Is::linearizable);
  CHECK(Story().acquire(alice, true, 1, 100).acquire(bob, true, 2, 109).is() == Is::impossible);
  CHECK(Story().acquire(alice, true, 1, 100).acquire(bob, false, 1, 110).is() == Is::impossible);
}

TEST_CASE("a lease that is renewed or given back") {
  const auto renewed = Story().acquire(alice, true, 1, 100).renew(alice, true, 1, 108);
  CHECK(Story(renewed).acquire(bob, false, 1, 117).is() == Is::linearizable);
  CHECK(Story(renewed).acquire(bob, true, 2, 117).is() == Is::impossible);
  CHECK(Story(renewed).release(alice, true, 1, 109).acquire(bob, true, 2, 110).is() ==
        Is::linearizable);
  CHECK(Story().acquire(alice, true, 1, 100).renew(bob, true, 1, 101).is() == Is::impossible);
  CHECK(Story().acquire(alice, true, 1, 100).renew(alice, true, 1, 110).is() == Is::impossible);
}

TEST_CASE("a token that is given twice, left out, or goes back is found") {
  CHECK(Story().acquire(alice, true, 1, 100).acquire(bob, true, 1, 110).is() == Is::impossible);
  CHECK(Story().acquire(alice, true, 2, 100).is() == Is::impossible);
  CHECK(Story()
            .acquire(alice, true, 1, 0)
            .acquire(bob, true, 2, 10)
            .acquire(alice, true, 1, 20)
            .is() == Is::impossible);
}

TEST_CASE("a service whose clock goes back is found") {
  CHECK(Story().acquire(alice, true, 1, 100).renew(alice, true, 1, 99).is() == Is::impossible);
}

TEST_CASE("a grant that nobody was told of may be there or not, and takes a token") {
  const auto asked = Story().never_answered(Kind::acquire, alice);
  CHECK(Story(asked).acquire(bob, true, 1, 5).is() == Is::linearizable);
  CHECK(Story(asked).acquire(bob, false, 1, 5).is() == Is::linearizable);
  CHECK(Story(asked).acquire(bob, true, 2, 50).is() == Is::linearizable);
  CHECK(Story(asked).acquire(bob, true, 3, 50).is() == Is::impossible);
}

}  // namespace piracema::linearizability
