//! The checker finds each fault in a log without any other fault.

use super::checker::{Fault, OVERDUE_AFTER, PERIOD, Section, check, most_chances};

/// Two threads take turns at one lock, every microsecond, while a third waits. After `turns` turns the
/// third gets the lock.
fn taking_turns(turns: usize) -> Vec<Vec<Section>> {
    let mut logs = vec![Vec::new(), Vec::new(), Vec::new()];
    let section = |ticket| {
        let acquired = 1_000 * ticket as u64 + 1_000;
        let (attempt, unlocked) = (acquired - 900, acquired + 400);
        Section { ticket, attempt, acquired, unlocked, ..Section::default() }
    };
    for ticket in 0..turns {
        logs[ticket % 2].push(section(ticket));
    }
    logs[2].push(Section { attempt: 0, ..section(turns) });
    logs
}

fn checked(logs: &[Vec<Section>]) -> Result<(), Fault> {
    check(logs, 1, Some(most_chances(logs.len()))).map(|_| ())
}

/// Enough turns that the third thread has had too many chances.
fn too_many() -> usize {
    let periods = most_chances(3) as u64 + 4;
    ((OVERDUE_AFTER + periods * PERIOD) / 1_000) as usize
}

#[test]
fn a_log_that_is_right_passes() {
    assert_eq!(checked(&taking_turns(5_000)), Ok(()));
    assert_eq!(checked(&[Vec::new()]), Ok(()));
}

#[test]
fn a_log_of_another_lock_is_not_mixed_in() {
    let mut logs = taking_turns(10);
    logs[2][0] = Section { lock: 1, ticket: 0, ..logs[2][0] };
    let report = check(&logs, 2, None).expect("both are right");
    assert_eq!(report.sections, 11);
}

/// Each change of a log, and the ticket at which the checker finds two simultaneous sections.
#[test]
fn sections_at_once_are_found() {
    type Change = fn(&mut Vec<Vec<Section>>);
    let changes: [(&str, Change, usize); 3] = [
        ("an overlap", |logs| logs[0][3].unlocked += 601, 7),
        ("a ticket drawn twice", |logs| logs[1][2].ticket = 4, 4),
        ("a ticket that no section has", |logs| _ = logs[1].remove(2), 6),
    ];
    for (what, change, ticket) in changes {
        let mut logs = taking_turns(10);
        change(&mut logs);
        let fault = checked(&logs).expect_err(what);
        assert!(
            matches!(fault, Fault::Overlap { after, .. } if after.ticket == ticket),
            "{what}: {fault:?}"
        );
    }
}

#[test]
fn a_starved_waiter_is_found() {
    assert!(matches!(
        checked(&taking_turns(too_many())),
        Err(Fault::Starved { waiter, .. }) if waiter.attempt == 0
    ));
}

#[test]
fn a_waiter_without_a_cpu_or_for_a_condition_is_not_starved() {
    let changes: [fn(&mut Section); 2] = [
        |section| section.delayed = (10 * PERIOD / 1_000) as u32,
        |section| section.notified = true,
    ];
    for change in changes {
        let mut logs = taking_turns(too_many());
        change(&mut logs[2][0]);
        assert_eq!(checked(&logs), Ok(()));
    }
}

#[test]
fn a_waiter_is_not_starved_while_the_lock_rests() {
    // The waiter was passed over the same number of times, but the process was stopped for as long as a
    // waiter may wait.
    let mut logs = taking_turns(5_000);
    let stop = too_many() as u64 * 1_000;
    for section in logs.iter_mut().flatten().filter(|section| section.ticket > 2_500) {
        section.acquired += stop;
        section.unlocked += stop;
    }
    assert_eq!(checked(&logs), Ok(()));
}
