"""threads.py SECONDS: prints the items a second that two threads pass to two others through a bounded queue."""

import queue
import sys
import threading
import time


def main():
    seconds = int(sys.argv[1])
    items, count = queue.Queue(8), [0, 0]
    end = time.monotonic() + seconds

    def produce():
        while time.monotonic() < end:
            items.put(None)
        items.put("end")

    def consume(number):
        while items.get() is None:
            count[number] += 1

    threads = [threading.Thread(target=produce) for _ in range(2)]
    threads += [threading.Thread(target=consume, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(sum(count) / seconds)


if __name__ == "__main__":
    main()
