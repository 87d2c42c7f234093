"""Jobs whose snapshots are objects."""

from store_jobs import StoreJobs


class ObjectJobs(StoreJobs):
    def test_what_wants_files_beside_the_snapshots_is_refused(self):
        for options in (["--keep-workers", "1m"], ["--standby"], ["--coordinators", "3"]):
            self.refused("want a directory" if options[0] != "--coordinators" else
                         "want snapshots in a directory", "--snapshots", self.at, *options)
