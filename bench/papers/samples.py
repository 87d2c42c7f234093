#!/usr/bin/env python3
"""What is said of several runs: mean, deviation, and whether two ways differ (Mann-Whitney).

Called by itself it tests itself.
"""

import functools
import math
import statistics
import unittest


def deviation(values):
    """Of the sample; 0 of a single run."""
    return statistics.stdev(values) if len(values) > 1 else 0.0


def ranks(values):
    """Of each value, from 1; equal ones share the mean of theirs."""
    order = sorted(range(len(values)), key=values.__getitem__)
    found = [0.0] * len(values)
    first = 0
    while first < len(order):
        last = first
        while last + 1 < len(order) and values[order[last + 1]] == values[order[first]]:
            last += 1
        for place in order[first:last + 1]:
            found[place] = (first + last) / 2 + 1
        first = last + 1
    return found


@functools.cache
def ways(n, m, u):
    """How many orders of n and m values have the statistic u."""
    if u < 0 or n < 0 or m < 0:
        return 0
    if n == 0 or m == 0:
        return int(u == 0)
    return ways(n - 1, m, u - m) + ways(n, m - 1, u)


def mann_whitney(a, b):
    """The two-sided p-value that both are of one population: exact for up to 20 values each that all
    differ, else by the normal distribution, corrected for ties and continuity."""
    n, m = len(a), len(b)
    if n == 0 or m == 0:
        raise ValueError("mann_whitney: want at least one value on either side")
    both = list(a) + list(b)
    u = sum(ranks(both)[:n]) - n * (n + 1) / 2
    less = min(u, n * m - u)
    counts = [both.count(value) for value in set(both)]
    if max(counts) == 1 and max(n, m) <= 20:
        under = sum(ways(n, m, k) for k in range(int(less) + 1))
        return min(1.0, 2 * under / math.comb(n + m, n))
    ties = sum(count ** 3 - count for count in counts)
    variance = n * m / 12 * (n + m + 1 - ties / ((n + m) * (n + m - 1)))
    if variance == 0:
        return 1.0
    z = max(0.0, n * m / 2 - less - 0.5) / math.sqrt(variance)
    return math.erfc(z / math.sqrt(2))


class Samples(unittest.TestCase):
    def test_ranks_of_equal_values_are_shared(self):
        self.assertEqual([1, 2.5, 2.5, 4], ranks([3, 7, 7, 9]))

    def test_p_is_exact_for_few_values(self):
        self.assertAlmostEqual(2 / 252, mann_whitney([1, 2, 3, 4, 5], [6, 7, 8, 9, 10]))
        self.assertAlmostEqual(1.0, mann_whitney([1, 4], [2, 3]))
        # A table of the statistic: n = m = 10, U = 23 is the last one below 5 %.
        a = [1, 2, 3, 4, 5, 6, 7, 11, 12, 14]
        b = [8, 9, 10, 13, 15, 16, 17, 18, 19, 20]
        self.assertLess(mann_whitney(a, b), 0.05)
        self.assertAlmostEqual(mann_whitney(a, b), mann_whitney(b, a))
        at_most = lambda u: 2 * sum(ways(10, 10, k) for k in range(u + 1)) / math.comb(20, 10)
        self.assertLess(at_most(23), 0.05)
        self.assertGreater(at_most(24), 0.05)

    def test_p_of_ties_is_by_the_normal_distribution(self):
        self.assertEqual(1.0, mann_whitney([1, 1, 1], [1, 1]))
        # By hand: U = 2.5 of 16, variance 16/12 (9 - 36/56), so z = 5 / 3.338.
        self.assertAlmostEqual(0.1342, mann_whitney([1, 2, 2, 3], [2, 3, 4, 4]), places=3)

    def test_one_run_deviates_by_nothing(self):
        self.assertEqual(0.0, deviation([4.2]))
        self.assertAlmostEqual(1.0, deviation([1, 2, 3]))


if __name__ == "__main__":
    unittest.main()
