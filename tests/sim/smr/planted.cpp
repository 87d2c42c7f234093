#include "sim/smr/planted.h"

#include <chrono>

namespace piracema::smr_sim {

namespace {

using smr::FaultModel;

Plan troubled_crash(std::uint64_t seed) { return troubled(seed, FaultModel::crash); }
/// Disks are lost often, and replicas fall behind.
Plan forgetful(std::uint64_t seed) {
  Plan plan = troubled(seed, FaultModel::crash);
  plan.lose_disk = std::chrono::milliseconds(400);
  plan.crash = std::chrono::milliseconds(400);
  return plan;
}
Plan liars_behind(std::uint64_t seed) {
  Plan plan = troubled(seed, FaultModel::byzantine);
  plan.lose_disk = {};
  plan.crash = plan.partition = std::chrono::milliseconds(300);
  plan.liars = plan.f;
  plan.lies = false_chunk;
  return plan;
}
Plan reading(std::uint64_t seed) {
  Plan plan = troubled(seed, FaultModel::crash);
  plan.reads = 0.5;
  plan.partition = std::chrono::milliseconds(400);
  return plan;
}

Plan lossy_crash(std::uint64_t seed) { return lossy(seed, FaultModel::crash); }
/// Who is cut off for long comes by a checkpoint, in the middle of places where none is taken.
Plan spaced_crash(std::uint64_t seed) {
  Plan plan = troubled(seed, FaultModel::crash);
  plan.crash = plan.lose_disk = {};
  plan.partition = std::chrono::milliseconds(600);
  plan.operations = 150;
  plan.think = {};
  plan.settings.checkpoint_interval = smr::view_delay;
  plan.state_bytes = 1 << 15;
  return plan;
}
Plan splitting(std::uint64_t seed) {
  Plan plan = lying(seed);
  plan.lies = equivocate | double_vote;
  return plan;
}
Plan stuffing(std::uint64_t seed) {
  Plan plan = troubled(seed, FaultModel::byzantine);
  plan.lose_disk = {};
  plan.crash = plan.partition = std::chrono::milliseconds(300);
  plan.liars = plan.f;
  plan.lies = stuff_write_set | old_collects | false_stop | equivocate;
  return plan;
}
Plan forging(std::uint64_t seed) {
  Plan plan = lying(seed);
  plan.lies = forge;
  return plan;
}

/// All lose power at once, and disks are slow: what was said too early is not there any more.
Plan powerless(std::uint64_t seed) {
  Plan plan = lossy(seed, FaultModel::crash);
  plan.power = std::chrono::milliseconds(200);
  plan.sync_most = std::chrono::milliseconds(30);
  return plan;
}
/// Leaders are cut off as soon as there is one.
Plan leaderless(std::uint64_t seed) {
  Plan plan = lossy(seed, FaultModel::crash);
  plan.n = 3;
  plan.f = 1;
  plan.trouble_until = std::chrono::seconds(8);
  plan.cut_leader = std::chrono::milliseconds(500);
  plan.crash = std::chrono::milliseconds(150);
  plan.operations = 100;
  return plan;
}
/// The first ones get no proposal through.
Plan mute(std::uint64_t seed) {
  Plan plan = calm(seed, FaultModel::crash);
  plan.n = 3;
  plan.f = 1;
  plan.mute_regencies = 3;
  return plan;
}
Plan behind_with(std::uint64_t seed, std::uint32_t lies) {
  Plan plan = liars_behind(seed);
  plan.lies = lies;
  return plan;
}
/// There are many checkpoints.
Plan false_states(std::uint64_t seed) {
  Plan plan = behind_with(seed, false_state);
  plan.operations = 150;
  plan.settings.checkpoint_interval = smr::view_delay;
  return plan;
}
Plan overruling(std::uint64_t seed) { return behind_with(seed, overrule | false_stop); }
Plan proposing_twice(std::uint64_t seed) {
  return behind_with(seed, two_proposals | double_vote | stuff_write_set);
}
Plan telling(std::uint64_t seed) {
  Plan plan = lossy(seed, FaultModel::byzantine);
  plan.liars = plan.f;
  plan.lies = false_decided;
  return plan;
}
Plan running_ahead(std::uint64_t seed) {
  Plan plan = calm(seed, FaultModel::byzantine);
  plan.liars = plan.f;
  plan.lies = fast_clock;
  return plan;
}
Plan rotten_crash(std::uint64_t seed) { return rotten(seed, FaultModel::crash); }
/// One disk of three fails again and again, and all lose power.
Plan refusing(std::uint64_t seed) {
  Plan plan = rotten(seed, FaultModel::crash);
  plan.n = 3;
  plan.f = 1;
  plan.bad_disk = std::chrono::milliseconds(60);
  plan.power = std::chrono::milliseconds(300);
  return plan;
}
Plan rotten_byzantine(std::uint64_t seed) { return rotten(seed, FaultModel::byzantine); }
Plan moving_crash(std::uint64_t seed) { return moving(seed, FaultModel::crash); }
Plan moving_byzantine(std::uint64_t seed) { return moving(seed, FaultModel::byzantine); }
/// Leaders of old views are asked.
Plan moving_reading(std::uint64_t seed) {
  Plan plan = moving(seed, FaultModel::crash);
  plan.reads = 0.5;
  return plan;
}
Plan locking_crash(std::uint64_t seed) { return locking(seed, FaultModel::crash); }
Plan hoarding_crash(std::uint64_t seed) { return hoarding(seed, FaultModel::crash); }
Plan hoarding_byzantine(std::uint64_t seed) { return hoarding(seed, FaultModel::byzantine); }
Plan crowded_crash(std::uint64_t seed) { return crowded(seed, FaultModel::crash); }

/// Liars answer clients, and that is all that goes wrong.
Plan answering(std::uint64_t seed) {
  Plan plan = calm(seed, FaultModel::byzantine);
  plan.liars = plan.f;
  return plan;
}
Plan false_views(std::uint64_t seed) {
  Plan plan = answering(seed);
  plan.lies = false_view;
  return plan;
}
/// Replicas are behind when they answer.
Plan reading_byzantine(std::uint64_t seed) {
  Plan plan = troubled(seed, FaultModel::byzantine);
  plan.reads = 0.8;
  plan.leases = 0;
  plan.keys = 1;
  plan.partition = std::chrono::milliseconds(300);
  return plan;
}

const Planted planted[] = {
    {"decided_before_proposed", lossy_crash, 20},
    {"never_say_again", lossy_crash, 200},
    {"sessions_not_restored", troubled_crash, 20},
    {"spacing_not_restarted", spaced_crash, 50},
    {"accept_quorum_short", lossy_crash, 200},
    {"nothing_is_regency_0", troubled_crash, 50},
    {"bind_nothing", troubled_crash, 200},
    {"propose_over_bound", troubled_crash, 20},
    {"sync_of_too_few", troubled_crash, 200},
    {"write_quorum_short", splitting, 50},
    {"bind_without_writers", stuffing, 20},
    {"unsigned_collects", stuffing, 50},
    {"unchecked_chunk", liars_behind, 50},
    {"clock_goes_back", running_ahead, 50},
    {"send_before_sync", powerless, 20},
    {"accept_before_log", powerless, 50},
    {"forget_regency", leaderless, 400},
    {"vote_over_bound", overruling, 200},
    {"believe_one", telling, 20},
    {"believe_the_clock", running_ahead, 20},
    {"unproven_suffix", liars_behind, 50},
    {"unproven_checkpoint", false_states, 400},
    {"checkpoint_any_digest", false_states, 100},
    {"silent_eviction", crowded_crash, 100},
    {"votes_without_memory", forgetful, 50},
    {"sync_error_ignored", refusing, 100},
    {"fence_ignored", locking_crash, 50},
    {"leases_not_restored", locking_crash, 50},
    {"no_high_water_mark", hoarding_crash, 50},
    {"keep_all_instances", hoarding_byzantine, 20},
    {"newcomers_wait", moving_crash, 200},
    {"view_small_quorum", moving_byzantine, 50},
    {"view_at_once", moving_crash, 100},
    {"each_its_own_leader", moving_crash, 20},
    {"checkpoint_small_quorum", false_states, 50},
    {"no_dedup", crowded_crash, 400},
    {"answers_of_f", answering, 20},
    {"answer_of_an_older", lossy_crash, 50},
    {"another_number_each_time", lossy_crash, 50},
    {"asks_again_in_a_new_session", crowded_crash, 200},
    {"view_of_one", false_views, 20},
    {"proofs_of_an_old_view", moving_byzantine, 400},
    {"leaders_of_any_view", moving_reading, 600},
};

const Planted sought[] = {
    {"ask_again_at_once", moving_byzantine, 2'000},  // log_fetch_test.cpp has it.
    {"enter_alone", troubled_crash, 400},
    {"read_unconfirmed", reading, 400},
    {"amnesia_few_answers", forgetful, 400},
    {"amnesia_no_margin", forgetful, 400},
    {"second_proposal", proposing_twice, 400},
    {"proposed_is_gone", mute, 20},
    {"join_late", leaderless, 400},
    {"no_proof_of_checkpoints", rotten_byzantine, 400},
    {"truncate_kinds", rotten_crash, 400},
    {"wait_for_what_nobody_votes_for", troubled_crash, 400},
    {"trust_the_leader", forging, 200},
    {"answers_of_f_and_one", reading_byzantine, 400},
    {"reads_of_few", reading_byzantine, 400},
};

}  // namespace

std::span<const Planted> planted_mistakes() { return planted; }
std::span<const Planted> sought_mistakes() { return sought; }

}  // namespace piracema::smr_sim
