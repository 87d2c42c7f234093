#include "tools/run/snapshots_command.h"

#include "tools/options.h"

namespace piracema::tools {

void SnapshotsCommand::add() {
  snapshots_ =
      app_.add_subcommand("snapshots", "List the snapshots in a directory, a bucket or HDFS");
  snapshots_
      ->add_option("DIR", directory_,
                   "The directory, s3://BUCKET/PREFIX or webhdfs://HOST:PORT/PATH")
      ->required();
  snapshots_->add_flag("--verify", verify_, "Read every byte; exit code 1 if one is damaged");
  snapshots_->add_flag("--json", json_, "As JSON");
  auto* name = add_parsed(*snapshots_, "--name", "NAME", savepoint_.name, parse_savepoint,
                          "Make the newest snapshot a savepoint: it is kept until this\n"
                          "name is deleted");
  snapshots_->add_option("--id", savepoint_.snapshot, "With --name: snapshot N")
      ->type_name("N")
      ->needs(name);
  add_parsed(*snapshots_, "--delete", "NAME", savepoint_.deleted, parse_savepoint,
             "Delete this name; the snapshot goes if its job needs it no\n"
             "more")
      ->excludes(name);
  snapshots_->footer(std::string("Example:\n  piracema snapshots --verify /var/tmp/job\n\n") +
                     stream_exit_codes);
}

int SnapshotsCommand::run() const {
  if (savepoint_.is_wanted()) return change_savepoints(directory_, savepoint_);
  return list_snapshots(directory_, verify_, json_);
}

}  // namespace piracema::tools
