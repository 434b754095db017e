//! Scenarios of the other primitives, and the list of all.

use std::cell::Cell;
use std::ptr;

use ondeck::combining::{RawCombining, Request};
use ondeck::condvar::RawCondvar;
use ondeck::fair::RawFairMutex;
use ondeck::mutex::RawMutex;
use ondeck::parker::RawParker;
use ondeck::platform;
use ondeck::rwlock::RawRwLock as OndeckRwLock;
use ondeck::{Event, Latch};
use ondeck_sim::check::{Judge, Scenario};
use ondeck_sim::engine::{Job, Sim};
use ondeck_zoo::sync::{
    BarrierVisitor, OnceVisitor, RawBarrier, RawOnce, RawSemaphore, SemaphoreVisitor,
    for_each_hosted_barrier, for_each_hosted_once, for_each_hosted_semaphore,
};
use ondeck_zoo::{RawRwLock, RwVisitor, locks, rwlocks};

use super::mutexes::{Mutexes, some_work};
use super::shared::{Apart, crew, shared};

type Threads = fn(&Judge) -> Vec<Job>;

/// All scenarios: those of [`Mutexes`] for the locks of the zoo, and those of this project's other primitives.
pub fn scenarios() -> Vec<Scenario> {
    let mut mutexes = Mutexes::default();
    locks::for_each_hosted::<Sim>(&mut mutexes);
    let mut others = Others(mutexes.0);
    rwlocks::for_each_hosted::<Sim>(&mut others);
    for_each_hosted_semaphore::<Sim>(&mut others);
    for_each_hosted_once::<Sim>(&mut others);
    for_each_hosted_barrier::<Sim>(&mut others);
    let own: [(&str, Threads); 9] = [
        ("ondeck_mutex/every-way", every_way),
        ("ondeck_mutex/three-of-a-table", three_mutexes),
        ("ondeck_condvar/all", notify_all),
        ("ondeck_fair/sections", fair),
        ("ondeck_rwlock/upgrades", upgrades),
        ("ondeck_combining/sections", combining),
        ("ondeck_event/set", event),
        ("ondeck_latch/open", latch),
        ("ondeck_parker/tokens", parker),
    ];
    others.0.extend(own.map(|(name, threads)| Scenario::new(name.to_owned(), threads)));
    others.0
}

struct Others(Vec<Scenario>);

impl RwVisitor<Sim> for Others {
    fn visit<L: RawRwLock<Sim>>(&mut self) {
        self.0.push(Scenario::new(format!("{}/sections", L::INFO.name), readers_and_writers::<L>));
    }
}

impl SemaphoreVisitor<Sim> for Others {
    fn visit<S: RawSemaphore<Sim>>(&mut self) {
        self.0.push(Scenario::new(format!("{}/permits", S::INFO.name), permits::<S>));
    }
}

impl OnceVisitor<Sim> for Others {
    fn visit<O: RawOnce<Sim>>(&mut self) {
        self.0.push(Scenario::new(format!("{}/calls", O::INFO.name), calls::<O>));
    }
}

impl BarrierVisitor<Sim> for Others {
    fn visit<B: RawBarrier<Sim>>(&mut self) {
        self.0.push(Scenario::new(format!("{}/phases", B::INFO.name), phases::<B>));
    }
}

fn readers_and_writers<L: RawRwLock<Sim>>(judge: &Judge) -> Vec<Job> {
    let lock = shared(L::new());
    judge.expect_sections(5 * 4);
    crew(judge, 5, move |judge, number| {
        let (read, write) = (Apart(L::Read::default()), Apart(L::Write::default()));
        for turn in 0..4 {
            let attempts = L::INFO.has_try_lock && <Sim as platform::Threads>::once_in(3);
            // SAFETY: contexts stay here and serve one acquisition at a time, and each unlock uses the context of
            // its acquisition.
            unsafe {
                if number < 2 && turn % 2 == 0 {
                    if !(attempts && lock.try_write(&write)) {
                        lock.write(&write);
                    }
                    judge.alone(some_work);
                    lock.unlock_write(&write);
                } else {
                    if !(attempts && lock.try_read(&read)) {
                        lock.read(&read);
                    }
                    judge.among_readers(some_work);
                    lock.unlock_read(&read);
                }
            }
            some_work();
        }
    })
}

fn permits<S: RawSemaphore<Sim>>(judge: &Judge) -> Vec<Job> {
    let semaphore = shared(S::new(2));
    judge.expect_sections(5 * 3);
    crew(judge, 5, move |judge, _| {
        for _ in 0..3 {
            semaphore.acquire();
            judge.among(2, some_work);
            semaphore.release();
            some_work();
        }
    })
}

fn calls<O: RawOnce<Sim>>(judge: &Judge) -> Vec<Job> {
    let once = shared((O::new(), Cell::new(0)));
    crew(judge, 5, move |judge, _| {
        some_work();
        let (once, done) = &**once;
        once.call(|| {
            judge.alone(|| {
                some_work();
                done.set(done.get() + 1);
            });
        });
        judge.holds(done.get() == 1, "a call returned, and the closure has not run once");
    })
}

fn phases<B: RawBarrier<Sim>>(judge: &Judge) -> Vec<Job> {
    const THREADS: usize = 4;
    const PHASES: usize = 3;
    let barrier = shared((B::new(THREADS as u32), Cell::new(0), Cell::new(0)));
    {
        let barrier = barrier.clone();
        judge.at_the_end(move |_| {
            let leaders = barrier.2.get();
            (leaders != PHASES).then(|| format!("{leaders} leaders of {PHASES} phases"))
        });
    }
    crew(judge, THREADS, move |judge, _| {
        let (barrier, came, leaders) = &**barrier;
        for phase in 1..=PHASES {
            some_work();
            came.set(came.get() + 1);
            let is_leader = barrier.wait();
            leaders.set(leaders.get() + usize::from(is_leader));
            let all = came.get() >= phase * THREADS;
            judge.holds(all, "a thread went on before all had come");
        }
    })
}

/// Threads lock and unlock in every way that the mutex supports.
fn every_way(judge: &Judge) -> Vec<Job> {
    let lock = shared(RawMutex::<Sim>::new());
    judge.expect_sections(6 * 4);
    crew(judge, 6, move |judge, number| {
        for turn in 0..4 {
            if !(turn == number % 4 && lock.try_lock()) {
                lock.lock();
            }
            judge.alone(some_work);
            // SAFETY: acquired above.
            unsafe {
                match (turn + number) % 3 {
                    0 => lock.unlock_fair(),
                    1 => {
                        lock.bump();
                        lock.unlock();
                    }
                    _ => lock.unlock(),
                }
            }
            if turn == 1 {
                some_work();
            }
        }
    })
}

/// Adjacent mutexes on a line, some of which share buckets of the table; half of the threads hold two at a
/// time.
fn three_mutexes(judge: &Judge) -> Vec<Job> {
    let locks = shared([0_u32; 3].map(|owners| (RawMutex::<Sim>::new(), Cell::new(owners))));
    crew(judge, 6, move |judge, number| {
        for turn in 0..3 {
            let first = (number + turn) % 3;
            let second = first.checked_sub(1).filter(|_| number % 2 == 0);
            // In one order, so that threads cannot deadlock.
            for index in second.into_iter().chain([first]) {
                let (lock, owners) = &locks[index];
                lock.lock();
                judge.holds(owners.replace(1) == 0, "two threads own one mutex");
            }
            some_work();
            for index in [first].into_iter().chain(second) {
                let (lock, owners) = &locks[index];
                judge.holds(owners.replace(0) == 1, "two threads own one mutex");
                // SAFETY: acquired above.
                unsafe { lock.unlock() };
            }
        }
    })
}

/// All threads but one meet by notify_all, and one by notify_one.
fn notify_all(judge: &Judge) -> Vec<Job> {
    const THREADS: usize = 4;
    struct Meeting {
        lock: RawMutex<Sim>,
        all: RawCondvar<Sim>,
        came: Cell<usize>,
    }
    let meeting =
        shared(Meeting { lock: RawMutex::new(), all: RawCondvar::new(), came: Cell::new(0) });
    crew(judge, THREADS, move |judge, _| {
        for phase in 1..=3 {
            meeting.lock.lock();
            judge.alone(|| meeting.came.set(meeting.came.get() + 1));
            if meeting.came.get() == phase * THREADS {
                meeting.all.notify_all();
            }
            while meeting.came.get() < phase * THREADS {
                // SAFETY: locked above.
                unsafe { meeting.all.wait(&meeting.lock, None) };
            }
            judge.alone(some_work);
            // SAFETY: locked above.
            unsafe { meeting.lock.unlock() };
            some_work();
        }
    })
}

fn fair(judge: &Judge) -> Vec<Job> {
    let lock = shared(RawFairMutex::<Sim>::new());
    judge.expect_sections(5 * 3);
    crew(judge, 5, move |judge, number| {
        for turn in 0..3 {
            if !(turn == number % 3 && lock.try_lock()) {
                lock.lock();
            }
            judge.alone(some_work);
            // SAFETY: acquired above.
            unsafe {
                if turn == 1 {
                    lock.bump();
                }
                lock.unlock();
            }
            some_work();
        }
    })
}

fn upgrades(judge: &Judge) -> Vec<Job> {
    let lock = shared(OndeckRwLock::<Sim>::new());
    crew(judge, 5, move |judge, number| {
        for turn in 0..3 {
            // SAFETY: each unlock matches an earlier acquisition of the same kind.
            unsafe {
                match (number + turn) % 4 {
                    0 => {
                        lock.lock_upgradable();
                        judge.among_readers(some_work);
                        lock.upgrade();
                        judge.alone(some_work);
                        lock.downgrade_to_upgradable();
                        judge.among_readers(some_work);
                        lock.unlock_upgradable();
                    }
                    1 => {
                        lock.lock_exclusive();
                        judge.alone(some_work);
                        let held = lock.downgrade();
                        judge.among_readers(some_work);
                        lock.unlock_shared(held);
                    }
                    _ => {
                        let held = lock.lock_shared();
                        judge.among_readers(some_work);
                        lock.unlock_shared(held);
                    }
                }
            }
            some_work();
        }
    })
}

fn combining(judge: &Judge) -> Vec<Job> {
    unsafe fn section(job: *mut ()) {
        // SAFETY: `perform` receives the judge of its caller, which waits for the end of this.
        unsafe { &*job.cast::<Judge>() }.alone(some_work);
    }
    let lock = shared(RawCombining::<Sim>::new());
    judge.expect_sections(5 * 3);
    crew(judge, 5, move |judge, number| {
        for turn in 0..3 {
            let job = ptr::from_ref(judge).cast_mut().cast();
            let request = Apart(Request::new(section, job));
            let request =
                if turn == number % 3 { Apart(request.0.without_others()) } else { request };
            // SAFETY: the request is new, and any thread may run its section while this one waits.
            unsafe { lock.perform(&request) };
            some_work();
        }
    })
}

/// Waiters of two events; the last waiter of the first event sets the second.
fn event(judge: &Judge) -> Vec<Job> {
    const WAITERS: usize = 3;
    struct Events {
        set: Event<Sim>,
        seen: Apart<Event<Sim>>,
        was_set: Cell<bool>,
        count: Cell<usize>,
    }
    let events = shared(Events {
        set: Event::on_platform(),
        seen: Apart(Event::on_platform()),
        was_set: Cell::new(false),
        count: Cell::new(0),
    });
    crew(judge, WAITERS + 1, move |judge, number| {
        some_work();
        if number == 0 {
            events.was_set.set(true);
            events.set.set();
        } else {
            events.set.wait();
            judge.holds(events.was_set.get(), "a wait ended before the event was set");
            events.count.set(events.count.get() + 1);
            if events.count.get() == WAITERS {
                events.seen.set();
            }
        }
        events.seen.wait();
        judge.holds(events.count.get() == WAITERS, "a wait ended before the event was set");
    })
}

fn latch(judge: &Judge) -> Vec<Job> {
    let latch = shared((Latch::<Sim>::on_platform(3), Cell::new(0)));
    crew(judge, 5, move |judge, number| {
        let (latch, counted) = &**latch;
        some_work();
        match number {
            0 | 1 => {
                counted.set(counted.get() + 1);
                latch.count_down();
            }
            2 => {
                counted.set(counted.get() + 1);
                latch.arrive_and_wait();
            }
            _ => latch.wait(),
        }
        if number >= 2 {
            judge.holds(counted.get() == 3, "a wait ended before all had counted");
        }
    })
}

/// Two threads pass tokens to each other.
fn parker(judge: &Judge) -> Vec<Job> {
    let parkers = shared([0; 2].map(|tokens| (RawParker::<Sim>::new(), Cell::new(tokens))));
    crew(judge, 2, move |judge, number| {
        let ((own, came), (other, gave)) = (&parkers[number], &parkers[1 - number]);
        for turn in 1..=6 {
            if number == 1 {
                gave.set(turn);
                other.unpark();
            }
            // SAFETY: each thread parks at its own parker.
            judge.holds(
                unsafe { own.park(None) },
                "a park without a deadline ended without a token",
            );
            judge.holds(came.get() == turn, "a park ended without its token");
            some_work();
            if number == 0 {
                gave.set(turn);
                other.unpark();
            }
        }
    })
}
