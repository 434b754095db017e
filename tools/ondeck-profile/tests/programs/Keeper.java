/** A monitor: one thread holds it for long, two others wait for it. */
public class Keeper {
    private static final Object LOCK = new Object();

    private static void keeper() throws InterruptedException {
        synchronized (LOCK) {
            Thread.sleep(3);
        }
    }

    private static void victim() {
        synchronized (LOCK) {
            LOCK.hashCode();
        }
    }

    public static void main(String[] arguments) {
        Thread keeping = new Thread(() -> {
            try {
                for (int i = 0; i < 600; i++) {
                    keeper();
                    Thread.sleep(1);
                }
            } catch (InterruptedException end) {
                throw new IllegalStateException(end);
            }
        });
        keeping.start();
        for (int i = 0; i < 2; i++) {
            new Thread(() -> {
                while (keeping.isAlive()) {
                    victim();
                    java.util.concurrent.locks.LockSupport.parkNanos(200_000);
                }
            }).start();
        }
    }
}
