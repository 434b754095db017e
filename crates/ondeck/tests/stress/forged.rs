//! The checker finds each fault in a log that has no other fault.

use super::checker::{Fault, OVERDUE_AFTER, PERIOD, check, most_chances};
use super::log::{How, Log, Section};

/// Two threads take turns at one lock, every microsecond, while a third waits. After `turns` turns the
/// third gets the lock.
fn taking_turns(turns: u32) -> Vec<Vec<Section>> {
    let mut logs = vec![Vec::new(), Vec::new(), Vec::new()];
    let section = |ticket: u32| {
        let acquired = 1_000 * u64::from(ticket) + 1_000;
        Section {
            ticket,
            found: if ticket == 0 { 0 } else { u64::from(ticket) + 99 },
            left: u64::from(ticket) + 100,
            attempt: acquired - 900,
            acquired,
            unlocked: acquired + 400,
            ..Section::default()
        }
    };
    for ticket in 0..turns {
        logs[ticket as usize % 2].push(section(ticket));
    }
    logs[2].push(Section { attempt: 0, ..section(turns) });
    logs
}

fn checked(logs: Vec<Vec<Section>>) -> Result<(), Fault> {
    let logs: Vec<Log> = logs.into_iter().map(Log::from).collect();
    check(&logs, 1, Some(most_chances(logs.len()))).map(|_| ())
}

/// So many turns that the third thread has had too many chances.
fn too_many() -> u32 {
    let periods = most_chances(3) as u64 + 4;
    ((OVERDUE_AFTER + periods * PERIOD) / 1_000) as u32
}

#[test]
fn a_log_that_is_right_passes() {
    assert_eq!(checked(taking_turns(5_000)), Ok(()));
    assert_eq!(checked(vec![Vec::new()]), Ok(()));
}

#[test]
fn a_log_of_another_lock_is_not_mixed_in() {
    let mut logs = taking_turns(10);
    logs[2][0] = Section { lock: 1, ticket: 0, found: 0, ..logs[2][0] };
    let logs: Vec<Log> = logs.into_iter().map(Log::from).collect();
    let report = check(&logs, 2, None).expect("both are right");
    assert_eq!(report.sections, 11);
}

#[test]
fn an_overlap_is_found() {
    let mut logs = taking_turns(10);
    logs[0][3].unlocked += 601;
    assert!(matches!(checked(logs), Err(Fault::Overlap { before, .. }) if before.ticket == 6));
}

#[test]
fn a_ticket_drawn_twice_is_found() {
    let mut logs = taking_turns(10);
    logs[1][2].ticket = 4;
    assert!(matches!(checked(logs), Err(Fault::Twice { one, .. }) if one.ticket == 4));
}

#[test]
fn a_ticket_that_no_section_has_is_found() {
    let mut logs = taking_turns(10);
    logs[1].remove(2);
    assert_eq!(checked(logs), Err(Fault::Gap { lock: 0, ticket: 5 }));
}

#[test]
fn a_section_that_does_not_see_the_one_before_is_found() {
    let mut logs = taking_turns(10);
    logs[1][2].found -= 1;
    assert!(matches!(checked(logs), Err(Fault::Unseen { after, .. }) if after.ticket == 5));
}

#[test]
fn a_thread_in_two_sections_at_once_is_found() {
    let mut logs = taking_turns(10);
    logs[0][1].attempt = logs[0][0].unlocked - 1;
    assert!(matches!(checked(logs), Err(Fault::Backwards { .. })));
}

#[test]
fn a_lock_acquired_before_it_was_wanted_is_found() {
    let mut logs = taking_turns(10);
    logs[2][0].attempt = logs[2][0].acquired + 1;
    assert!(matches!(checked(logs), Err(Fault::Backwards { .. })));
}

#[test]
fn a_starved_waiter_is_found() {
    assert!(matches!(
        checked(taking_turns(too_many())),
        Err(Fault::Starved { waiter, .. }) if waiter.attempt == 0
    ));
}

#[test]
fn a_waiter_without_a_cpu_is_not_starved() {
    let mut logs = taking_turns(too_many());
    logs[2][0].delayed = (10 * PERIOD / 1_000) as u32;
    assert_eq!(checked(logs), Ok(()));
}

#[test]
fn a_waiter_for_a_condition_is_not_starved() {
    let mut logs = taking_turns(too_many());
    logs[2][0].how = How::Condition;
    assert_eq!(checked(logs), Ok(()));
}

#[test]
fn a_waiter_is_not_starved_while_the_lock_rests() {
    // The waiter was passed over as often, but the process was stopped for as long as a waiter may wait.
    let mut logs = taking_turns(5_000);
    let stop = u64::from(too_many()) * 1_000;
    for section in logs.iter_mut().flatten().filter(|section| section.ticket > 2_500) {
        section.acquired += stop;
        section.unlocked += stop;
    }
    for section in logs[..2].iter_mut().flatten().filter(|section| section.ticket > 2_502) {
        section.attempt += stop;
    }
    assert_eq!(checked(logs), Ok(()));
}
