//! A screen of its own on the terminal, and the way back from it however the program ends.

use std::io::{self, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicU8, Ordering};

use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::queue;
use crossterm::style::Print;
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen,
};

/// Nothing of ours is on the terminal.
const AWAY: u8 = 0;
/// The screen is there.
const SHOWN: u8 = 1;
/// The program ends, and the screen must not come back.
const CLOSED: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(AWAY);

/// Shows these lines, each cut where the terminal ends. The screen comes up if it is away.
pub(crate) fn show(lines: &[String], columns: usize) -> io::Result<()> {
    leave_before_a_panic_speaks();
    let mut terminal = io::stderr().lock();
    match STATE.compare_exchange(AWAY, SHOWN, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => queue!(terminal, EnterAlternateScreen, Hide)?,
        Err(CLOSED) => return Ok(()),
        Err(_) => {}
    }
    queue!(terminal, BeginSynchronizedUpdate, MoveTo(0, 0))?;
    for (index, line) in lines.iter().enumerate() {
        // The last line has no end, or the screen would scroll. The last column stays free: some
        // terminals go to the next line when it is written.
        let cut: String = line.chars().take(columns.saturating_sub(1)).collect();
        let end = if index + 1 < lines.len() { "\r\n" } else { "" };
        queue!(terminal, Print(cut), Clear(ClearType::UntilNewLine), Print(end))?;
    }
    queue!(terminal, Clear(ClearType::FromCursorDown), EndSynchronizedUpdate)?;
    terminal.flush()
}

/// Gives the terminal back as it was.
pub(crate) fn leave() {
    if STATE.compare_exchange(SHOWN, AWAY, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
        give_back();
    }
}

/// The same, for good.
pub(crate) fn close() {
    if STATE.swap(CLOSED, Ordering::Relaxed) == SHOWN {
        give_back();
    }
}

fn give_back() {
    let mut terminal = io::stderr().lock();
    // A terminal that is gone needs nothing back.
    _ = queue!(terminal, EndSynchronizedUpdate, Show, LeaveAlternateScreen);
    _ = terminal.flush();
}

/// What a panic says would be gone with the screen on which it said it.
fn leave_before_a_panic_speaks() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            leave();
            usual(panic);
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_gives_the_terminal_back_before_it_speaks() {
        leave_before_a_panic_speaks();
        STATE.store(SHOWN, Ordering::Relaxed);
        let panicked = std::panic::catch_unwind(|| panic!("a canary"));
        assert!(panicked.is_err());
        assert_eq!(STATE.load(Ordering::Relaxed), AWAY);
    }
}
