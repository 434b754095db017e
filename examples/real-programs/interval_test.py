"""Tests of interval.py: python3 -m unittest discover -s examples/real-programs -p '*_test.py'"""

import math
import unittest
from itertools import combinations

from interval import compare, place, ways


class Ways(unittest.TestCase):
    def test_are_those_of_every_order(self):
        for ones, others in ((1, 1), (2, 3), (5, 5), (4, 6)):
            counted = [0] * (ones * others + 1)
            for chosen in combinations(range(ones + others), ones):
                # U: how many of the others come before each of the ones.
                counted[sum(rank - index for index, rank in enumerate(chosen))] += 1
            self.assertEqual(counted, ways(ones, others))
            self.assertEqual(sum(counted), math.comb(ones + others, ones))


class Place(unittest.TestCase):
    def test_is_that_of_the_tables_of_mann_and_whitney(self):
        # The greatest U that is refused at 5 %, two-sided, is 2 for 5 and 5, 23 for 10 and 10.
        self.assertEqual(place(5, 5), 3)
        self.assertEqual(place(10, 10), 24)

    def test_too_few_samples_have_none(self):
        self.assertIsNone(place(3, 3))
        self.assertEqual(place(4, 4), 1)


class Compare(unittest.TestCase):
    def test_twice_the_rate_is_a_ratio_of_two(self):
        result = compare([10, 10.1, 10.2, 9.9, 9.8], [20, 20.1, 20.2, 19.9, 19.8])
        self.assertAlmostEqual(result["ratio"], 2, places=2)
        low, high = result["interval"]
        self.assertTrue(1.9 < low < 2 < high < 2.1)

    def test_equal_samples_have_one_in_the_interval(self):
        low, high = compare([1, 2, 3, 4, 5], [1, 2, 3, 4, 5])["interval"]
        self.assertTrue(low < 1 < high)

    def test_few_samples_and_rates_of_nothing_have_no_ratio(self):
        self.assertIsNone(compare([1, 2, 3], [1, 2, 3]))
        self.assertIsNone(compare([], []))
        self.assertIsNone(compare([0, 1, 2, 3, 4], [1, 2, 3, 4, 5]))


if __name__ == "__main__":
    unittest.main()
