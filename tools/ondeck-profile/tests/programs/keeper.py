"""A threading.Lock: one thread holds it for long, two others wait for it."""
import threading
import time

lock = threading.Lock()


def keeper():
    for _ in range(400):
        with lock:
            time.sleep(0.003)
        time.sleep(0.001)


def victim(keeping):
    while keeping.is_alive():
        with lock:
            pass
        time.sleep(0.0002)


keeping = threading.Thread(target=keeper)
victims = [threading.Thread(target=victim, args=(keeping,)) for _ in range(2)]
for thread in [keeping, *victims]:
    thread.start()
for thread in [keeping, *victims]:
    thread.join()
