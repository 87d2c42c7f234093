#!/usr/bin/env python3
"""Jobs whose snapshots are in a directory of a real GlusterFS, of which each file is in three bricks."""

import contextlib
import os
import signal
import sys

import store_jobs
import gluster


class Gluster(store_jobs.StoreJobs):
    def where(self):
        return str(self.server.place)

    def test_one_brick_of_three_is_lost_and_no_snapshot_is(self):
        job = self.run_stream()
        job.wait_for("snapshot", 2)
        self.server.kill(bricks=1)
        try:
            job.wait_for("snapshot", 5)
            self.assertNotIn("snapshot_failed", job.names())
            os.kill(self.running("worker")[0], signal.SIGKILL)
            job.wait_for("recovering")
            job.wait_for("snapshot")
        finally:
            self.server.start()
        job.finish()
        self.check_output()

    def test_a_job_is_not_begun_twice_by_another_host(self):
        elsewhere = self.server.folder / "elsewhere"
        elsewhere.mkdir()
        self.server.mount(elsewhere)
        job = self.run_stream()
        job.wait_for("snapshot", 2)
        self.refused("found it in use", "--snapshots", f"{elsewhere}/{self.id()}", "--resume")
        job.kill()
        self.until(lambda: not self.running())
        self.at = f"{elsewhere}/{self.id()}"
        again = self.run_stream("--resume")
        again.wait_for("snapshot")
        again.finish()
        self.check_output()

    def test_bricks_without_room_cost_snapshots_until_there_is_some(self):
        heap = self.server.place / "heap"

        def fill():
            file = os.open(heap, os.O_WRONLY | os.O_CREAT)
            with self.assertRaisesRegex(OSError, "No space left"):
                for _ in range(256):
                    os.write(file, bytes(1 << 20))
            with contextlib.suppress(OSError):
                os.close(file)

        self.check_a_store_without_room(fill, heap.unlink, "No space left on device")


if __name__ == "__main__":
    sys.exit(store_jobs.main(Gluster, gluster))
