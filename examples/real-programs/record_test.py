"""Tests of record.py: python3 -m unittest discover -s examples/real-programs -p '*_test.py'"""

import math
import unittest
from itertools import combinations

from record import compare, orders, place


class Interval(unittest.TestCase):
    def test_orders_are_those_that_there_are(self):
        for ones, others in ((1, 1), (2, 3), (5, 5), (4, 6)):
            counted = [0] * (ones * others + 1)
            for chosen in combinations(range(ones + others), ones):
                # U: how many of the others come before each of the ones.
                counted[sum(rank - index for index, rank in enumerate(chosen))] += 1
            self.assertEqual(counted, [orders(ones, others, u) for u in range(ones * others + 1)])

    def test_its_ends_are_those_of_the_tables_of_mann_and_whitney(self):
        # The greatest U that is refused at 5 %, two-sided, is 2 for 5 and 5, 23 for 10 and 10; three samples are too few.
        self.assertEqual([place(count, count) for count in (5, 10, 4, 3)], [3, 24, 1, None])

    def test_its_ends_are_counted_from_both_ends_of_all_ratios(self):
        result = compare([1, 2, 3, 4, 5], [2, 4, 6, 8, 10])
        self.assertTrue(math.isclose(result["ratio"], 2))
        # Of the smallest, 2/5, 2/4 and 2/3, it is the third.
        self.assertEqual(result["interval"], [2 / 3, 6])

    def test_few_samples_and_rates_of_nothing_have_no_ratio(self):
        rates = [1, 2, 3, 4, 5]
        for base, other in ((rates[:3], rates[:3]), ([], []), ([0, *rates], rates), (rates, [0, *rates])):
            self.assertIsNone(compare(base, other))


if __name__ == "__main__":
    unittest.main()
