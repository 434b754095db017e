import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads, monitors, conditions, parked threads and garbage.
 *
 * check: says `ok` for each part, or throws. rate SECONDS: items a second through a bounded queue while the collector
 * has much to do.
 */
public final class Threads {
    private static int counter;
    private static volatile Object garbage;

    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("rate")) {
            System.out.println(rate(Integer.parseInt(arguments[1])));
            return;
        }
        boolean quick = arguments[1].equals("quick");
        monitors(quick ? 20_000 : 100_000);
        waits(quick ? 2_000 : 6_000);
        conditions(quick ? 2_000 : 6_000);
        parked(quick ? 1_000 : 6_000);
        shortLived(quick ? 500 : 2_000);
        queue(quick ? 20_000 : 60_000);
        timeouts();
        collected(quick ? 50 : 400);
        System.out.println("ok");
    }

    interface Body {
        void run(int number) throws Exception;
    }

    static void together(int threads, Body body) throws Exception {
        List<Throwable> wrong = new ArrayList<>();
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            int number = i;
            Thread thread = new Thread(() -> {
                try {
                    body.run(number);
                } catch (Throwable error) {
                    synchronized (wrong) {
                        wrong.add(error);
                    }
                }
            });
            all.add(thread);
            thread.start();
        }
        for (Thread thread : all) {
            thread.join();
        }
        if (!wrong.isEmpty()) {
            throw new AssertionError(wrong.get(0));
        }
    }

    static void same(long is, long wanted, String what) {
        if (is != wanted) {
            throw new AssertionError(what + " is " + is + " and not " + wanted);
        }
    }

    static void monitors(int rounds) throws Exception {
        Object monitor = new Object();
        counter = 0;
        together(16, number -> {
            for (int i = 0; i < rounds; i++) {
                synchronized (monitor) {
                    counter++;
                }
            }
        });
        same(counter, 16L * rounds, "the counter under a monitor");
    }

    /** Two threads take turns by wait and notifyAll. */
    static void waits(int rounds) throws Exception {
        Object monitor = new Object();
        counter = 0;
        together(2, number -> {
            for (int i = 0; i < rounds; i++) {
                synchronized (monitor) {
                    while (counter % 2 != number) {
                        monitor.wait();
                    }
                    counter++;
                    monitor.notifyAll();
                }
            }
        });
        same(counter, 2L * rounds, "the turns taken by wait");
    }

    static void conditions(int rounds) throws Exception {
        ReentrantLock lock = new ReentrantLock(true);
        Condition[] turn = {lock.newCondition(), lock.newCondition(), lock.newCondition(), lock.newCondition()};
        counter = 0;
        together(4, number -> {
            for (int i = 0; i < rounds; i++) {
                lock.lock();
                try {
                    while (counter % 4 != number) {
                        turn[number].await();
                    }
                    counter++;
                    turn[(number + 1) % 4].signal();
                } finally {
                    lock.unlock();
                }
            }
        });
        same(counter, 4L * rounds, "the turns taken by conditions");
    }

    /** A thread that parks is unparked by its neighbour; the permit may come first. */
    static void parked(int rounds) throws Exception {
        AtomicLong turns = new AtomicLong();
        Thread[] threads = new Thread[4];
        CyclicBarrier ready = new CyclicBarrier(4);
        together(4, number -> {
            threads[number] = Thread.currentThread();
            ready.await();
            for (int i = 0; i < rounds; i++) {
                while (turns.get() % 4 != number) {
                    LockSupport.park();
                }
                turns.incrementAndGet();
                LockSupport.unpark(threads[(number + 1) % 4]);
            }
        });
        same(turns.get(), 4L * rounds, "the turns taken by park");
    }

    static void shortLived(int threads) throws Exception {
        AtomicLong ran = new AtomicLong();
        for (int i = 0; i < threads; i += 50) {
            together(50, number -> ran.incrementAndGet());
        }
        same(ran.get(), threads, "the number of threads that ran");
    }

    static void queue(int items) throws Exception {
        ArrayBlockingQueue<Integer> queue = new ArrayBlockingQueue<>(8);
        ConcurrentHashMap<Integer, Boolean> seen = new ConcurrentHashMap<>();
        together(8, number -> {
            for (int i = 0; i < items / 4; i++) {
                if (number < 4) {
                    queue.put(number * items + i);
                } else if (seen.put(queue.take(), true) != null) {
                    throw new AssertionError("an item came twice");
                }
            }
        });
        same(seen.size(), items / 4 * 4, "the number of items");
    }

    /** Waits that nothing ends come back, and not before their time. */
    static void timeouts() throws Exception {
        together(8, number -> {
            long start = System.nanoTime();
            boolean notified = new java.util.concurrent.Semaphore(0).tryAcquire(20, TimeUnit.MILLISECONDS);
            if (notified || System.nanoTime() - start < 20_000_000) {
                throw new AssertionError("a wait ended before its time");
            }
        });
    }

    static void collected(int rounds) throws Exception {
        together(4, number -> {
            for (int i = 0; i < rounds; i++) {
                byte[][] live = new byte[50][];
                for (int j = 0; j < 500; j++) {
                    live[j % 50] = new byte[5_000];
                    live[j % 50][j] = (byte) j;
                }
                for (int j = 450; j < 500; j++) {
                    same(live[j % 50][j], (byte) j, "a byte of a live object");
                }
                garbage = live;
                if (number == 0 && i % 50 == 0) {
                    System.gc();
                }
            }
        });
    }

    static long rate(int seconds) throws Exception {
        ArrayBlockingQueue<byte[]> queue = new ArrayBlockingQueue<>(16);
        AtomicLong items = new AtomicLong();
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        together(4, number -> {
            while (System.nanoTime() < end) {
                if (number % 2 == 0) {
                    queue.offer(new byte[2_000], 10, TimeUnit.MILLISECONDS);
                } else if (queue.poll(10, TimeUnit.MILLISECONDS) != null) {
                    items.incrementAndGet();
                }
            }
        });
        return items.get() / seconds;
    }
}
