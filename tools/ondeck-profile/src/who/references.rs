//! Whether a thread's stack has the address of a lock, or the instructions of the functions on it.

use std::collections::HashMap;
use std::sync::Arc;

use super::memory::Memory;
use crate::model::Location;
use crate::names::Names;

/// Functions of a stack that are searched, and bytes of each.
const FUNCTIONS: usize = 16;
const CODE: usize = 8 << 10;

/// Which functions have which addresses in their instructions, as far as it was searched.
#[derive(Default)]
pub struct References {
    known: HashMap<(u64, u64), bool>,
}

impl References {
    /// Returns whether an address is among the words of a stack, or in the instructions of one of
    /// its inner `functions`.
    pub fn are_in(
        &mut self,
        words: &[u64],
        functions: &[u64],
        address: u64,
        names: &mut Names<'_>,
        memory: &Memory,
    ) -> bool {
        words.contains(&address)
            || functions.iter().any(|start| {
                *self.known.entry((*start, address)).or_insert_with(|| {
                    let code = memory.top(*start, CODE);
                    references(&code, *start, address).any(|place| names.is_within(*start, place))
                })
            })
    }
}

/// Returns where the inner functions of a stack begin.
pub fn functions(stack: &[Arc<Location>], names: &mut Names<'_>) -> Vec<u64> {
    let inner = stack.iter().take(FUNCTIONS);
    inner.filter_map(|location| names.function_at(location.address)).collect()
}

/// Returns the places in code at `start` that have an address, relative to the next instruction or,
/// below 2 GB, absolute.
fn references(code: &[u8], start: u64, address: u64) -> impl Iterator<Item = u64> {
    let places = (start..).zip(code.windows(4));
    places.filter_map(move |(place, bytes)| {
        let value = i32::from_le_bytes(*bytes.first_chunk()?);
        let relative = cfg!(target_arch = "x86_64")
            && (place + 4).checked_add_signed(value.into()) == Some(address);
        (relative || u64::try_from(value) == Ok(address)).then_some(place)
    })
}

#[cfg(test)]
mod tests {
    use super::super::own::with_own;
    use super::*;

    #[inline(never)]
    fn recursive() {}

    #[test]
    fn of_a_deep_stack_the_inner_functions_are_searched() {
        let start = std::hint::black_box(recursive as fn()) as usize as u64;
        with_own(|names, _| {
            let stack = names.stack(&[start + 1; FUNCTIONS + 4]);
            assert_eq!(functions(&stack, names), [start; FUNCTIONS]);
        });
    }
}
