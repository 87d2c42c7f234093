"""Waiting for what nobody tells a test of."""

import time


def wait_until(right, seconds):
    """What `right` finds as soon as that is something; nothing after so many seconds. Looking takes a third of the
    time at most: the rest is for those who are looked at."""
    until = time.monotonic() + seconds
    while True:
        began = time.monotonic()
        if found := right():
            return found
        looked = time.monotonic()
        if looked > until:
            return None
        time.sleep(max(0.01, 2 * (looked - began)))
