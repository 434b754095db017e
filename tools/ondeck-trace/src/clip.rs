//! The parts of a run to draw: the surroundings of its longest idles and waits.

use ondeck_lab::results::trace::{Clip, ClipCpu, ClipSlice, ClipSpan, ClipThread, Episode, Owned};

use super::timeline::{Cpu, Nanos, Ran, Timeline, Turn};

/// The margin before and after, as a share of the length.
const MARGIN: f64 = 0.25;
const LEAST_MARGIN: Nanos = 20_000;

/// The finest zoom, in parts of a clip: shorter times are joined with their neighbours.
const GRAINS: Nanos = 2_000;

/// The clips of a run that show these episodes, in order; overlapping clips are joined.
pub(super) fn cut<'a>(
    timeline: &Timeline,
    run: usize,
    run_began: Nanos,
    episodes: impl Iterator<Item = &'a Episode>,
) -> Vec<Clip> {
    let mut windows: Vec<(Nanos, Nanos)> = episodes
        .map(|episode| {
            let length = episode.to - episode.from;
            let margin = ((length as f64 * MARGIN) as Nanos).max(LEAST_MARGIN);
            (episode.from.saturating_sub(margin), episode.to + margin)
        })
        .collect();
    windows.sort_unstable();
    let mut joined: Vec<(Nanos, Nanos)> = Vec::new();
    for (from, to) in windows {
        match joined.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => joined.push((from, to)),
        }
    }
    let turns = timeline.turns();
    let clip = |(from, to)| Clip { run_began, ..clip(timeline, &turns, run, (from, to)) };
    joined.into_iter().map(clip).collect()
}

fn clip(timeline: &Timeline, turns: &[Turn], run: usize, (from, to): (Nanos, Nanos)) -> Clip {
    let grain = ((to - from) / GRAINS).max(1);
    let threads = timeline
        .threads
        .iter()
        .map(|thread| {
            let spans = thread.spans.iter().filter_map(|span| {
                let (from, to) = within(span.from, span.to.min(timeline.seen_until), from, to)?;
                Some((from, to, (span.state, span.cpu)))
            });
            let waits = thread.pairs.iter().filter_map(|pair| {
                within(pair.wanted, pair.acquired, from, to).filter(|(from, to)| to - from >= grain)
            });
            let span = |(from, to, (state, cpu))| ClipSpan { from, to, state, cpu };
            ClipThread {
                spans: thinned(spans, grain).into_iter().map(span).collect(),
                waits: waits.collect(),
            }
        })
        .collect();
    let slice = |(from, to, (thread, other))| ClipSlice { from, to, thread, other };
    let cpus = timeline
        .cpus
        .iter()
        .map(|cpu| ClipCpu {
            number: cpu.number,
            slices: thinned(slices(timeline, cpu, from, to), grain)
                .into_iter()
                .map(slice)
                .collect(),
        })
        .collect();
    let owners = owners(turns, from, to, grain);
    Clip { run, run_began: 0, from, to, threads, cpus, owners }
}

/// The threads that had a CPU in a window; its idle times are gaps.
fn slices(
    timeline: &Timeline,
    cpu: &Cpu,
    from: Nanos,
    to: Nanos,
) -> impl Iterator<Item = (Nanos, Nanos, (Option<usize>, String))> {
    cpu.slices.iter().filter_map(move |slice| {
        let (from, to) = within(slice.from, slice.to.min(timeline.seen_until), from, to)?;
        let ran = match &slice.ran {
            Ran::Thread(thread) => (Some(*thread), String::new()),
            Ran::Other(name) => (None, name.clone()),
            Ran::Nothing => return None,
        };
        Some((from, to, ran))
    })
}

/// Joins equal neighbours. A time that is too short to be seen joins its longer neighbour: a lock
/// whose waiters yield switches some hundred thousand times in a run.
fn thinned<T: PartialEq>(
    bars: impl Iterator<Item = (Nanos, Nanos, T)>,
    grain: Nanos,
) -> Vec<(Nanos, Nanos, T)> {
    let mut kept: Vec<(Nanos, Nanos, T)> = Vec::new();
    // The longest single time within the last joined one.
    let mut longest = 0;
    for (from, to, what) in bars {
        match kept.last_mut() {
            Some((begin, end, last))
                if from.saturating_sub(*end) < grain && (*last == what || to - *begin < grain) =>
            {
                *end = to;
                if to - from > longest {
                    (longest, *last) = (to - from, what);
                }
            }
            _ => {
                kept.push((from, to, what));
                longest = to - from;
            }
        }
    }
    kept
}

/// The part of a time that is in a window, if any.
fn within(from: Nanos, to: Nanos, first: Nanos, last: Nanos) -> Option<(Nanos, Nanos)> {
    let (from, to) = (from.max(first), to.min(last));
    (from < to).then_some((from, to))
}

/// Which thread had the lock when. Neighbours are joined if they belong to one thread, or are too
/// short to be seen.
fn owners(turns: &[Turn], from: Nanos, to: Nanos, grain: Nanos) -> Vec<Owned> {
    let mut owners: Vec<Owned> = Vec::new();
    for turn in turns {
        let pair = turn.pair;
        let Some((begin, end)) =
            within(pair.acquired, pair.released.max(pair.acquired + 1), from, to)
        else {
            continue;
        };
        match owners.last_mut() {
            Some(last)
                if begin.saturating_sub(last.to) < grain
                    && (last.thread == Some(turn.thread)
                        || (last.to - last.from < grain && end - begin < grain)) =>
            {
                if last.thread != Some(turn.thread) {
                    last.thread = None;
                }
                last.to = last.to.max(end);
                last.pairs += 1;
            }
            _ => {
                let from = begin.max(owners.last().map_or(begin, |last| last.to));
                // The clocks of two CPUs may differ slightly, so that a turn lies within the
                // previous one: then nothing of it remains.
                let to = end.max(from);
                owners.push(Owned { from, to, thread: Some(turn.thread), pairs: 1 });
            }
        }
    }
    owners.retain(|owned| owned.from < owned.to);
    owners
}

#[cfg(test)]
mod tests {
    use super::super::timeline::{Pair, State};
    use super::*;

    #[test]
    fn a_hundred_yields_are_a_few_spans_and_long_ones_stay() {
        let mut spans = vec![(0, 500, State::Asleep)];
        spans.extend((0..100).map(|place| {
            let state = if place % 2 == 0 { State::Running } else { State::Queued };
            let length = if place % 2 == 0 { 7 } else { 3 };
            let from = 500 + place / 2 * 10 + if place % 2 == 0 { 0 } else { 7 };
            (from, from + length, state)
        }));
        spans.push((1_000, 2_000, State::Queued));
        let thin = thinned(spans.into_iter(), 100);
        assert!(thin.len() < 10, "{thin:?}");
        assert_eq!((thin[0].1, thin[0].2), (500, State::Asleep));
        assert_eq!(thin[1].2, State::Running, "it ran most of that time");
        assert!(thin.windows(2).all(|pair| pair[0].1 == pair[1].0), "{thin:?}");
        let last = thin[thin.len() - 1];
        assert_eq!((last.1, last.2), (2_000, State::Queued));
    }

    fn turn(thread: usize, acquired: Nanos, released: Nanos) -> Turn {
        let pair = Pair { wanted: acquired, acquired, released, freed: released, cpu: 0 };
        Turn { thread, pair }
    }

    #[test]
    fn one_thread_s_turns_are_one_and_long_ones_stay_apart() {
        let turns = [
            turn(0, 0, 10),
            turn(0, 12, 20),
            turn(1, 500, 900),
            turn(0, 901, 1_400),
            turn(0, 3_000, 3_001),
        ];
        let owned = |from, to, thread, pairs| Owned { from, to, thread: Some(thread), pairs };
        assert_eq!(
            owners(&turns, 5, 2_000, 50),
            [owned(5, 20, 0, 2), owned(500, 900, 1, 1), owned(901, 1_400, 0, 1)]
        );
    }

    #[test]
    fn a_turn_within_another_leaves_nothing_to_draw() {
        let turns = [turn(0, 0, 100), turn(1, 50, 60), turn(0, 200, 300)];
        let owned = |from, to| Owned { from, to, thread: Some(0), pairs: 1 };
        assert_eq!(owners(&turns, 0, 1_000, 10), [owned(0, 100), owned(200, 300)]);
    }

    #[test]
    fn turns_too_short_to_be_drawn_belong_to_no_thread() {
        let turns: Vec<Turn> =
            (0..40).map(|turn_| turn((turn_ % 2) as usize, turn_ * 10, turn_ * 10 + 5)).collect();
        let owners = owners(&turns, 0, 1_000, 100);
        assert!(owners.len() <= 5, "{owners:?}");
        assert_eq!(owners.iter().map(|owned| owned.pairs).sum::<u64>(), 40);
        assert!(owners[0].thread.is_none());
    }
}
