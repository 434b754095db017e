#!/usr/bin/env python3
"""Writes so many megabytes of text that can be compressed, the same ones each time."""

import random
import sys

MEGABYTE = 1_000_000


def main():
    chance = random.Random(1)
    words = ["".join(chance.choices("etaoinshrdlu", k=chance.randint(2, 9))) for _ in range(4000)]
    for _ in range(int(sys.argv[1])):
        line = " ".join(chance.choices(words, k=MEGABYTE // 5))
        sys.stdout.write(line[:MEGABYTE])


if __name__ == "__main__":
    main()
