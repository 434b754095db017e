use core::cell::Cell;
use core::ffi::CStr;
use core::time::Duration;
use std::string::String;
use std::sync::Mutex;
use std::vec::Vec;

use super::hooks::{Wait, acquired, unlocked, unlocks, waits};
use super::table::{BUCKETS, bucket_of, end_of, enter};
use super::*;

std::thread_local! {
    /// The time of this thread's events, in nanoseconds.
    pub(super) static NOW: Cell<Option<u64>> = const { Cell::new(None) };
}

fn at(nanos: u64) {
    // Once: from then on no thread's holds are forgotten.
    static ON: std::sync::Once = std::sync::Once::new();
    ON.call_once(enable);
    NOW.set(Some(nanos));
}

fn lock(address: usize, name: &'static CStr) -> Lock {
    Lock { address, kind: LockKind::Mutex, name: name.as_ptr() }
}

/// Makes the place of a call in this file.
#[track_caller]
fn here() -> Option<Site> {
    Site::source(Location::caller())
}

fn numbers(address: usize) -> LockStats {
    let mut all = snapshot().into_iter().filter(|lock| lock.address == address);
    let found = all.next().expect("it has an entry");
    assert!(all.next().is_none(), "it has one entry");
    found
}

fn take(lock: Lock, wait: Option<Wait>) {
    acquired(lock, true, None, wait);
}

fn release(lock: Lock) {
    unlocked(unlocks(lock, true).expect("it is held"), true);
}

/// As of programs in C that are not compiled for statistics.
#[cfg(feature = "internals")]
#[test]
fn a_call_of_an_unknown_instruction_has_no_place() {
    let lock = lock(0x7001, c"a call of an unknown instruction");
    at(0);
    take(lock, waits(lock, Site::code(0)));
    release(lock);
    let numbers = numbers(lock.address);
    assert_eq!((numbers.waits, numbers.site), (1, None));
    assert_eq!(Site::code(7).and_then(Site::address), Some(7));
}

#[test]
fn a_bucket_ends_where_the_next_begins_and_has_an_eighth() {
    for bucket in 0..BUCKETS - 1 {
        let (end, begin) = (end_of(bucket), if bucket == 0 { 0 } else { end_of(bucket - 1) });
        assert_eq!(
            (bucket_of(begin), bucket_of(end - 1), bucket_of(end)),
            (bucket, bucket, bucket + 1)
        );
        assert!(begin < 8 || (end - begin) * 8 <= begin, "{begin} to {end}");
    }
    assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
}

#[test]
fn waits_are_counted_summed_and_ranked() {
    let it = lock(0x1000, c"waits");
    for micros in 1..=100 {
        at(5_000);
        let wait = waits(it, None);
        at(5_000 + micros * 1_000);
        take(it, wait);
        release(it);
    }
    let found = numbers(it.address);
    assert_eq!((found.waits, found.gave_up, found.waiting, found.name), (100, 0, 0, c"waits"));
    assert_eq!(found.waited, Duration::from_micros(5_050));
    assert_eq!(found.longest_wait, Duration::from_micros(100));
    for (part, right) in [(0.0, 1), (0.495, 50), (0.5, 50), (0.9, 90), (0.99, 99), (1.0, 100)] {
        let right = Duration::from_micros(right);
        let told = found.quantile(part);
        assert!((right..=right * 9 / 8).contains(&told), "{part}: {told:?}, not {right:?}");
    }
    assert_eq!((found.p50(), found.p99()), (found.quantile(0.5), found.quantile(0.99)));
    // 8.192 and 65.536 µs.
    assert_eq!([3, 13, 16, 35].map(|power| found.shorter_than(power)), [0, 8, 65, 100]);
}

#[test]
fn a_wait_beyond_the_histogram_is_its_longest() {
    let it = lock(0x1100, c"");
    at(0);
    let (short, long) = (waits(it, None), waits(it, None));
    for (nanos, wait) in [(7, short), (100 * NANOS_PER_SECOND, long)] {
        at(nanos);
        take(it, wait);
        release(it);
    }
    let found = numbers(it.address);
    assert_eq!([found.p50(), found.p99()], [Duration::from_nanos(7), Duration::from_secs(100)]);
}

#[test]
fn the_time_is_that_of_the_counter() {
    at(0);
    NOW.set(None);
    let second = Native::ticks_per_second();
    let nanos = || u128::from(Native::ticks()) * u128::from(NANOS_PER_SECOND) / u128::from(second);
    let (before, told, after) = (nanos(), u128::from(now()), nanos());
    // The scale is rounded.
    assert!((before * 999 / 1_000..=after * 1_001 / 1_000).contains(&told), "{told}, not {before}");
}

#[test]
fn the_text_of_a_lock_says_what_is_known() {
    let it = lock(0x1600, c"text");
    let [first, holds] = [here(), here()].map(Option::unwrap);
    at(0);
    let (wait, gives_up, _waits) = (waits(it, Some(first)), waits(it, None), waits(it, None));
    gives_up.unwrap().gave_up();
    at(7);
    acquired(it, true, Some(holds), wait);
    let is_told = |state: String| {
        let waits = "1 waits of 7.0ns, p50 7.0ns, p99 7.0ns, longest 7.0ns; 1 gave up";
        let text = std::format!("Mutex 0x1600 \"text\", first awaited at {first}: {waits}{state}");
        assert_eq!(std::format!("{}", numbers(it.address)), text);
    };
    at(12);
    let thread = Native::thread_pointer();
    let has = std::format!("; 1 wait now; thread {thread:#x} has it for 5.0ns, from {holds} on");
    is_told(has);
    release(it);
    is_told(std::format!("; held for 5.0ns at most, from {holds} on; 1 wait now"));
}

#[test]
fn a_thread_waits_until_it_has_the_lock_or_gives_up() {
    let it = lock(0x1200, c"");
    at(1);
    let (first, second, third) = (waits(it, None), waits(it, None), waits(it, None));
    assert_eq!(numbers(it.address).waiting, 3);
    second.unwrap().gave_up();
    take(it, first);
    let found = numbers(it.address);
    assert_eq!((found.waits, found.gave_up, found.waiting), (1, 1, 1));
    // Statistics were switched off meanwhile.
    drop(third);
    let found = numbers(it.address);
    assert_eq!((found.waits, found.gave_up, found.waiting), (1, 1, 0));
    release(it);
}

#[test]
fn the_end_of_a_wait_for_a_once_is_a_wait() {
    let it = Lock { kind: LockKind::Once, ..lock(0x1300, c"") };
    at(10);
    let wait = waits(it, None);
    at(17);
    drop(wait);
    let found = numbers(it.address);
    assert_eq!((found.waits, found.waited), (1, Duration::from_nanos(7)));
}

#[test]
fn the_longest_hold_has_its_place_and_the_holder_is_known() {
    let it = lock(0x1400, c"");
    let sites = [here(), here(), here()];
    assert_ne!(sites[0], None);
    // The first wait comes during the first hold.
    at(100);
    acquired(it, true, sites[0], None);
    at(150);
    let wait = waits(it, sites[1]);
    assert_eq!(numbers(it.address).holder, None, "it was not known before");
    at(160);
    release(it);
    let found = numbers(it.address);
    assert_eq!((found.longest_hold.as_nanos(), found.longest_hold_site), (60, sites[0]));
    assert_eq!(found.site, sites[1]);
    acquired(it, true, sites[1], wait);
    at(170);
    let holder = numbers(it.address).holder.expect("it is held");
    assert_eq!((holder.time.as_nanos(), holder.site), (10, sites[1]));
    assert_eq!(holder.thread, crate::platform::Native::thread_pointer().get());
    release(it);
    assert_eq!(numbers(it.address).longest_hold_site, sites[0], "that was a shorter one");
    acquired(it, true, sites[2], None);
    at(231);
    release(it);
    let found = numbers(it.address);
    assert_eq!((found.longest_hold.as_nanos(), found.longest_hold_site), (61, sites[2]));
    assert_eq!(found.holder, None);
}

#[test]
fn a_thread_that_is_not_alone_is_no_holder_but_its_hold_counts() {
    let it = Lock { kind: LockKind::RwLock, ..lock(0x1500, c"") };
    at(1);
    drop(waits(it, None));
    acquired(it, false, None, None);
    assert_eq!(numbers(it.address).holder, None);
    // A read within a read ends first.
    at(3);
    acquired(it, false, here(), None);
    at(4);
    let inner = unlocks(it, false).unwrap();
    unlocked(inner, true);
    assert_eq!(numbers(it.address).longest_hold.as_nanos(), 1);
    at(8);
    unlocked(unlocks(it, false).unwrap(), true);
    assert_eq!(numbers(it.address).longest_hold.as_nanos(), 7);
    assert!(unlocks(it, false).is_none());
}

#[test]
fn of_many_holds_the_newest_are_timed() {
    let locks: Vec<_> = (0..17).map(|number| lock(0x2000 + number, c"")).collect();
    for (time, it) in (1..).zip(&locks) {
        at(time);
        take(*it, None);
    }
    let timed = locks.iter().map(|it| unlocks(*it, true).is_some());
    assert_eq!(timed.collect::<Vec<_>>(), [&[false][..], &[true; 16]].concat());
}

#[test]
fn a_hold_that_is_not_timed_has_no_holder() {
    let locks: Vec<_> = (0..17).map(|number| lock(0x2800 + number, c"")).collect();
    at(1);
    take(locks[0], waits(locks[0], None));
    assert!(numbers(locks[0].address).holder.is_some());
    for it in &locks[1..] {
        take(*it, None);
    }
    assert_eq!(numbers(locks[0].address).holder, None);
}

#[test]
fn another_kind_or_name_at_an_address_is_another_lock() {
    let names = [lock(0x3000, c""), lock(0x3000, c"other"), lock(0x3000, c"other")];
    let kind = Lock { kind: LockKind::FairMutex, ..names[0] };
    let of = |lock| ptr::from_ref(enter(lock, None).unwrap()).addr();
    assert_eq!(of(names[1]), of(names[2]));
    let mut all = [of(names[0]), of(names[1]), of(kind)];
    all.sort_unstable();
    assert!(all[0] < all[1] && all[1] < all[2]);
}

#[test]
fn locks_that_find_no_room_are_counted() {
    let mut entered = 0;
    let before = dropped();
    // A step of the table's size times 4 KiB, so that all have one place.
    for number in 0..40 {
        let it = lock(0x7000_0000_0000 + (number << 22), c"");
        entered += u64::from(enter(it, None).is_some());
    }
    assert_eq!((entered, dropped() - before), (32, 8));
}

static TOLD: Mutex<Vec<Event>> = Mutex::new(Vec::new());

#[test]
fn warnings_come_after_the_last_unlock_with_both_places_and_not_too_often() {
    fn told(event: &Event) {
        TOLD.lock().unwrap().push(*event);
        // A handler's own locks are neither counted nor warned of.
        let own = lock(0x4f00, c"");
        assert!(waits(own, None).is_none());
        take(own, None);
        at(NOW.get().unwrap() + 5 * NANOS_PER_SECOND);
        assert!(unlocks(own, true).is_none());
    }
    const LIMIT: u64 = 200 * NANOS_PER_SECOND;
    let told_now = || std::mem::take(&mut *TOLD.lock().unwrap());
    // Longer than the waits and holds of other tests, in this process.
    on_long_hold(Duration::from_nanos(LIMIT), told);
    on_long_wait(Duration::from_nanos(LIMIT), told);
    let (outer, inner) = (lock(0x4000, c"outer"), lock(0x4100, c"inner"));
    let [a, b, c] = [here(), here(), here()];
    let start = 1_000 * NANOS_PER_SECOND;

    at(start);
    acquired(outer, true, a, None);
    at(start + LIMIT - 1);
    release(outer);
    assert!(told_now().is_empty(), "it was short");

    // A wait of `inner` within a hold of `outer`, for a thread that has it from `a` on.
    at(start);
    drop(waits(inner, None));
    acquired(inner, true, a, None);
    let wait = waits(inner, b);
    unlocked(unlocks(inner, true).unwrap(), true);
    acquired(outer, true, c, None);
    at(start + LIMIT);
    acquired(inner, true, b, wait);
    release(inner);
    assert!(told_now().is_empty(), "it holds a lock");
    release(outer);
    // The hold of `outer`, at the same time, is the second of the two.
    let [first] = &told_now()[..] else { panic!("one warning") };
    assert_eq!((first.name, first.address, first.suppressed), (c"inner", 0x4100, 0));
    assert_eq!((first.duration.as_nanos() as u64, first.site, first.other), (LIMIT, b, a));
    assert!(NOW.get() >= Some(start + LIMIT + 5 * NANOS_PER_SECOND), "the handler ran");

    // A hold of `outer`, for which a thread waits that called at `b`; and soon another.
    let hold = |from: u64, waiting: bool, goes_on: bool| {
        at(from);
        acquired(outer, true, c, None);
        let wait = waits(outer, b).filter(|_| waiting);
        at(from + LIMIT);
        unlocked(unlocks(outer, true).unwrap(), goes_on);
        drop(wait);
    };
    hold(2 * start, true, true);
    let [second] = &told_now()[..] else { panic!("one warning") };
    assert_eq!((second.name, second.suppressed), (c"outer", 1));
    assert_eq!((second.site, second.other), (c, b));
    let soon = 2 * start + 99_999_999;
    hold(soon, false, true);
    assert!(told_now().is_empty(), "that is too soon");
    hold(soon + 1, false, true);
    let [third] = &told_now()[..] else { panic!("one warning") };
    assert_eq!((third.suppressed, third.other), (1, None));

    // Not before a wait for a condition: at the next unlock, even if that is of a hold that was not
    // timed.
    hold(3 * start, false, false);
    assert!(told_now().is_empty());
    take(inner, None);
    let others: Vec<_> = (0..16).map(|number| lock(0x4800 + number, c"")).collect();
    for it in &others {
        take(*it, None);
    }
    for it in &others {
        release(*it);
    }
    assert!(told_now().is_empty(), "it holds a lock");
    assert!(unlocks(inner, true).is_none());
    take(inner, None);
    release(inner);
    assert_eq!(told_now()[..][0].name, c"outer");
    on_long_hold(Duration::MAX, told);
    hold(4 * start, false, true);
    assert!(told_now().is_empty());
}

#[cfg(all(unix, not(miri)))]
#[test]
fn the_child_of_a_fork_does_not_wait_for_a_thread_of_its_parent() {
    let mut status = -1;
    // SAFETY: the child allocates nothing, and ends; the parent waits for its own child.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            table::CHANGING.store(libc::getppid().cast_unsigned(), Relaxed);
            libc::_exit(i32::from(enter(lock(0x6000, c"child"), None).is_none()));
        }
        assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
    }
    assert_eq!(status, 0);
}

#[test]
fn a_thread_that_does_not_see_the_scale_yet_has_the_time() {
    enable();
    SCALE.store(0, Relaxed);
    assert_ne!(now(), 0);
}

#[test]
fn locks_of_one_name_are_one_series() {
    at(0);
    for (address, nanos) in [(0x5000, 1_000), (0x5100, 2_000), (0x5200, 5_000_000)] {
        let it = lock(address, if address == 0x5200 { c"a \"b\"\\\n" } else { c"series" });
        at(0);
        let wait = waits(it, here());
        at(nanos);
        take(it, wait);
        at(nanos + 7);
        release(it);
    }
    let unnamed = lock(0x5300, c"");
    let site = here();
    drop(waits(unnamed, site));
    let mut text = String::new();
    write_prometheus(&mut text).unwrap();
    let labels = "name=\"series\",kind=\"Mutex\",site=\"\"";
    for line in [
        "# TYPE ondeck_lock_wait_seconds histogram",
        &std::format!("ondeck_lock_wait_seconds_bucket{{{labels},le=\"0.000001024\"}} 1"),
        &std::format!("ondeck_lock_wait_seconds_bucket{{{labels},le=\"0.000002048\"}} 2"),
        &std::format!("ondeck_lock_wait_seconds_bucket{{{labels},le=\"+Inf\"}} 2"),
        &std::format!("ondeck_lock_wait_seconds_sum{{{labels}}} 0.000003"),
        &std::format!("ondeck_lock_wait_seconds_count{{{labels}}} 2"),
        &std::format!("ondeck_lock_wait_seconds_max{{{labels}}} 0.000002"),
        &std::format!("ondeck_lock_hold_seconds_max{{{labels}}} 0.000000007"),
        &std::format!("ondeck_lock_waiting{{{labels}}} 0"),
        "ondeck_lock_gave_up_total{name=\"a \\\"b\\\"\\\\\\n\",kind=\"Mutex\",site=\"\"} 0",
        &std::format!(
            "ondeck_lock_waiting{{name=\"\",kind=\"Mutex\",site=\"{}\"}} 0",
            site.unwrap()
        ),
    ] {
        assert_eq!(text.lines().filter(|it| *it == line).count(), 1, "{line}\n{text}");
    }
}
