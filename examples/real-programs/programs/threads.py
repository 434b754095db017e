"""Threads that contend for the interpreter and for locks, processes that threads fork.

check [quick]: ends with an error if something is wrong. rate SECONDS: items a second through a bounded queue.
"""

import multiprocessing
import os
import queue
import sys
import threading
import time
import zlib


def together(count, body):
    wrong = []

    def guarded(number):
        try:
            body(number)
        except BaseException as error:  # pylint: disable=broad-exception-caught
            wrong.append(error)

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if wrong:
        raise wrong[0]


def counted(rounds):
    lock, total = threading.RLock(), [0]

    def body(_):
        for _ in range(rounds):
            with lock, lock:
                total[0] += 1

    together(8, body)
    assert total[0] == 8 * rounds, total


def turns(rounds):
    condition, turn = threading.Condition(), [0]

    def body(number):
        for _ in range(rounds):
            with condition:
                while turn[0] % 4 != number:
                    condition.wait()
                turn[0] += 1
                condition.notify_all()

    together(4, body)
    assert turn[0] == 4 * rounds, turn


def without_the_interpreter(rounds):
    """zlib works without the interpreter's lock, so that threads give it up and take it all the time."""
    data = os.urandom(50_000)

    def body(_):
        for _ in range(rounds):
            assert zlib.decompress(zlib.compress(data, 1)) == data

    together(4, body)


def square(number):
    return number * number


def pools(items):
    with multiprocessing.get_context("fork").Pool(3) as pool:
        assert pool.map(square, range(items)) == [number * number for number in range(items)]


def forks(children):
    """Children of a thread, while other threads contend. Each child locks and waits again."""
    stop = threading.Event()
    lock = threading.Lock()

    def busy():
        while not stop.is_set():
            with lock:
                zlib.compress(b"x" * 5_000)

    others = [threading.Thread(target=busy) for _ in range(3)]
    for other in others:
        other.start()
    try:
        for _ in range(children):
            child = os.fork()
            if child == 0:
                mine = threading.Lock()
                thread = threading.Thread(target=lambda: mine.acquire(timeout=5))
                thread.start()
                thread.join()
                os._exit(7 if mine.locked() else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    finally:
        stop.set()
        for other in others:
            other.join()


def rate(seconds):
    items, count = queue.Queue(8), [0, 0]
    end = time.monotonic() + seconds

    def body(number):
        if number < 2:
            while time.monotonic() < end:
                items.put(number)
            items.put(None)
            return
        while items.get() is not None:
            count[number - 2] += 1

    together(4, body)
    return sum(count) / seconds


def main():
    if sys.argv[1] == "rate":
        print(rate(int(sys.argv[2])))
        return
    part = 1 if sys.argv[2:] == ["quick"] else 5
    counted(4_000 * part)
    turns(300 * part)
    without_the_interpreter(20 * part)
    pools(500 * part)
    forks(5 * part)


if __name__ == "__main__":
    main()
