//! The stack of a thread that is asleep in the kernel, without stopping it.
//!
//! The kernel shows two of its registers, the stack pointer and the instruction. Call frame
//! information leads from there to the callers. It may need a register that the kernel does not
//! show, most often the frame pointer, or be missing, as in musl and in code that was compiled at
//! run time. Then the return address is searched on the stack: the first word before which a call
//! of the function stands.

use std::sync::Arc;

use gimli::{EvaluationResult, Expression, Location as Piece, Value};

use super::calls::{self, Callee};
use super::memory::Memory;
use super::thread::Call;
use crate::model::Location;
use crate::names::Names;
use crate::symbols::{Bytes, REGISTERS, Rule, Rules};

/// DWARF's numbers of x86-64's registers.
const RBP: usize = 6;
const RSP: usize = 7;
const RETURN: usize = 16;

/// Stacks of goroutines that a stack leads to, its own included. One may say that it leads to
/// itself.
const GOROUTINES: usize = 8;
/// Deeper stacks are cut off.
const MOST: usize = 256;
/// Steps of an expression of call frame information.
const STEPS: u32 = 1000;
/// Words that are searched for a return address.
const SEARCHED: u64 = 2048;

/// The registers of a frame, as far as they are known. The return address is the instruction.
type Registers = [Option<u64>; REGISTERS];

/// A stack, innermost first.
#[derive(Default)]
pub struct Stack {
    pub locations: Vec<Arc<Location>>,
    /// Whether a return address had to be searched: a frame may be wrong or missing.
    pub is_searched: bool,
}

pub fn stack(names: &mut Names<'_>, memory: &Memory, call: &Call) -> Stack {
    let mut locations = vec![names.location(call.pc)];
    let is_searched = walk(names, memory, call, |names, inner, caller| {
        // A function that ended with a tail call has left no frame.
        if let Some(Callee::At(called)) = calls::before(memory, caller.pc)
            && names.function_at(called) == Some(called)
            && !names.is_within(called, inner.pc - 1)
        {
            let location = names.location(called);
            if !location.frames[0].is_offset() {
                locations.push(location);
            }
        }
        locations.push(names.location(caller.pc - 1));
        locations.len() < MOST
    });
    Stack { locations, is_searched }
}

/// A stack as return addresses.
#[derive(Debug, Default)]
pub struct Returns {
    /// Innermost first, the instruction after the system call included. Of a thread that has left a
    /// goroutine, because that cannot go on, the addresses of the goroutine.
    pub addresses: Vec<u64>,
    /// Places in memory, with the words that make it this stack.
    pub places: Vec<(u64, u64)>,
}

/// Returns the addresses of a stack, at most `most`. Goes from the stack of Go's scheduler to the
/// goroutine that called it.
pub fn addresses(names: &mut Names<'_>, memory: &Memory, call: Call, most: usize) -> Returns {
    let mut stack = Returns { addresses: vec![call.pc], places: Vec::new() };
    let mut next = Some(call);
    for _ in 0..GOROUTINES {
        let Some(call) = next.take() else { break };
        walk(names, memory, &call, |names, _, caller| {
            stack.push(caller.sp - 8, caller.pc);
            let crossed = goroutine(names, memory, caller);
            next = crossed.map(|goroutine| {
                stack.places.extend(goroutine.links);
                if goroutine.has_left {
                    stack.addresses.clear();
                }
                stack.push(goroutine.call.sp.wrapping_sub(8), goroutine.call.pc);
                goroutine.call
            });
            next.is_none() && stack.addresses.len() < most
        });
        next = next.filter(|_| stack.addresses.len() < most);
    }
    stack
}

impl Returns {
    fn push(&mut self, place: u64, address: u64) {
        self.places.push((place, address));
        self.addresses.push(address);
    }
}

/// A goroutine that called Go's scheduler.
struct Goroutine {
    call: Call,
    /// The places and words that say where it is.
    links: Vec<(u64, u64)>,
    /// Whether the thread is looking for another one.
    has_left: bool,
}

/// Returns the goroutine that called the function of Go's scheduler with this frame.
///
/// Two functions of Go's runtime change the stack (`asm_amd64.s`). `systemstack` is called for a
/// function that needs a large one: its frame pointer is the first that this function saves.
/// `mcall` leaves the goroutine: its argument, which is in front of the return address, has the
/// registers.
fn goroutine(names: &mut Names<'_>, memory: &Memory, frame: &Framed) -> Option<Goroutine> {
    /// In Go's `g`: the bounds of the stack, and `sched.sp`, `sched.pc`.
    const FIELDS: [u64; 4] = [0, 8, 56, 64];
    let function = names.function_at(frame.pc - 1)?;
    let read = |address: u64| Some((address, memory.word(address)?));
    let (pc, sp, links, has_left) = match names.function_name(function)? {
        "runtime.systemstack" | "runtime.systemstack.abi0" => {
            let link = read(frame.sp.checked_sub(16)?)?;
            let address = memory.word(link.1.checked_add(8)?)?;
            if calls::before(memory, address) != Some(Callee::At(function)) {
                return None;
            }
            (address, link.1 + 16, vec![link], false)
        }
        "runtime.mcall" => {
            let g = read(frame.sp)?;
            let [low, high, sp, pc] = FIELDS.map(|offset| read(g.1.wrapping_add(offset)));
            let (sp, pc) = (sp?, pc?);
            if !(low?.1..high?.1).contains(&sp.1) {
                return None;
            }
            (pc.1, sp.1, vec![g, sp, pc], true)
        }
        _ => return None,
    };
    let call = Call { sp, pc, ..Call::default() };
    names.is_code(pc).then_some(Goroutine { call, links, has_left })
}

/// A frame that is on the stack.
struct Framed {
    /// The instruction to which the inner function returns.
    pc: u64,
    /// The stack pointer after that.
    sp: u64,
}

/// Calls `each` with each frame and its caller, until it returns false. Returns whether a return
/// address was searched.
fn walk<'n>(
    names: &mut Names<'n>,
    memory: &Memory,
    call: &Call,
    mut each: impl FnMut(&mut Names<'n>, &Framed, &Framed) -> bool,
) -> bool {
    if !cfg!(target_arch = "x86_64") {
        return false;
    }
    let mut any_searched = false;
    memory.hold_stack(call.sp);
    let mut registers: Registers = [None; REGISTERS];
    registers[RSP] = Some(call.sp);
    registers[RETURN] = Some(call.pc);
    let mut inner = Framed { pc: call.pc, sp: call.sp };
    loop {
        let mut step = Step { names, memory, registers: &registers };
        let Some((next, is_searched)) = step.caller() else { break };
        let (Some(pc), Some(sp)) = (next[RETURN], next[RSP]) else { break };
        if !names.is_code(pc) || sp <= inner.sp {
            break;
        }
        any_searched |= is_searched;
        let caller = Framed { pc, sp };
        if !each(names, &inner, &caller) {
            break;
        }
        (inner, registers) = (caller, next);
    }
    memory.release_stack();
    any_searched
}

/// From a frame to its caller's.
struct Step<'a, 'n> {
    names: &'a mut Names<'n>,
    memory: &'a Memory,
    registers: &'a Registers,
}

impl Step<'_, '_> {
    /// Returns the caller's registers, and whether they were found by searching.
    fn caller(&mut self) -> Option<(Registers, bool)> {
        // The instruction after a call may belong to another function.
        let pc = self.registers[RETURN]?.checked_sub(1)?;
        let Some(rules) = self.names.rules(pc) else {
            let followed = self.by_frame_pointer(pc);
            return followed.map(|next| (next, false)).or_else(|| {
                let place = self.searched(pc)?;
                let mut next = [None; REGISTERS];
                next[RETURN] = self.memory.word(place);
                next[RSP] = Some(place + 8);
                Some((next, true))
            });
        };
        if let Some(next) = self.apply(&rules, self.registers) {
            return Some((next, false));
        }
        // The frame's address is a register's value plus an offset, and the return address is at
        // its end.
        let (Rule::In(register, offset), Rule::At(-8)) = (&rules.frame, &rules.registers[RETURN])
        else {
            return None;
        };
        let place = self.searched(pc)?;
        let mut known = *self.registers;
        *known.get_mut(usize::from(*register))? = Some((place + 8).wrapping_add_signed(-offset));
        Some((self.apply(&rules, &known)?, true))
    }

    fn apply(&self, rules: &Rules, registers: &Registers) -> Option<Registers> {
        let frame = self.value(&rules.frame, None, RSP, registers)?;
        let mut next = [None; REGISTERS];
        for (number, (rule, value)) in rules.registers.iter().zip(&mut next).enumerate() {
            *value = self.value(rule, Some(frame), number, registers);
        }
        if matches!(rules.registers[RSP], Rule::Lost | Rule::Same) {
            next[RSP] = Some(frame);
        }
        next[RETURN]?;
        Some(next)
    }

    fn value(
        &self,
        rule: &Rule,
        frame: Option<u64>,
        register: usize,
        registers: &Registers,
    ) -> Option<u64> {
        match rule {
            Rule::Lost => None,
            Rule::Same => registers[register],
            Rule::In(other, offset) => {
                Some((*registers.get(usize::from(*other))?)?.wrapping_add_signed(*offset))
            }
            Rule::At(offset) => self.memory.word(frame?.wrapping_add_signed(*offset)),
            Rule::Is(offset) => Some(frame?.wrapping_add_signed(*offset)),
            Rule::AtResult(code, encoding) => {
                self.memory.word(self.result(code, *encoding, frame, registers)?)
            }
            Rule::IsResult(code, encoding) => self.result(code, *encoding, frame, registers),
        }
    }

    fn result(
        &self,
        code: &Expression<Bytes>,
        encoding: gimli::Encoding,
        frame: Option<u64>,
        registers: &Registers,
    ) -> Option<u64> {
        let mut evaluation = code.clone().evaluation(encoding);
        // A file of a program can have any code, also one without an end.
        evaluation.set_max_iterations(STEPS);
        if let Some(frame) = frame {
            evaluation.set_initial_value(frame);
        }
        let mut state = evaluation.evaluate().ok()?;
        loop {
            state = match state {
                EvaluationResult::Complete => break,
                EvaluationResult::RequiresMemory { address, size: 8, .. } => evaluation
                    .resume_with_memory(Value::Generic(self.memory.word(address)?))
                    .ok()?,
                EvaluationResult::RequiresRegister { register, .. } => {
                    let value = (*registers.get(usize::from(register.0))?)?;
                    evaluation.resume_with_register(Value::Generic(value)).ok()?
                }
                _ => return None,
            };
        }
        match evaluation.as_result() {
            [piece] => match piece.location {
                Piece::Address { address } => Some(address),
                _ => None,
            },
            _ => None,
        }
    }

    /// Follows the frame pointer, if what it points to looks like a frame.
    fn by_frame_pointer(&self, pc: u64) -> Option<Registers> {
        let (frame, sp) = (self.registers[RBP]?, self.registers[RSP]?);
        let address = self.memory.word(frame.checked_add(8)?)?;
        if frame < sp || !self.names.is_code(address) || pc == 0 {
            return None;
        }
        calls::before(self.memory, address)?;
        let mut next = [None; REGISTERS];
        next[RBP] = self.memory.word(frame);
        next[RSP] = Some(frame + 16);
        next[RETURN] = Some(address);
        Some(next)
    }

    /// Returns the place on the stack of the first return address to a caller of the function that
    /// contains `pc`.
    fn searched(&mut self, pc: u64) -> Option<u64> {
        let sp = self.registers[RSP]?;
        let function = self.names.function_at(pc);
        let mut unknown = None;
        for place in (0..SEARCHED).map(|number| sp + 8 * number) {
            // The stack ends here.
            let Some(address) = self.memory.word(place) else { break };
            if !self.names.is_code(address) {
                continue;
            }
            match (calls::before(self.memory, address), function) {
                (Some(Callee::At(called)), Some(function))
                    if called == function || calls::jumps(self.memory, called, function) =>
                {
                    return Some(place);
                }
                // Of code without names and descriptions, every call may be the one.
                (Some(_), None) => return Some(place),
                (Some(Callee::Unknown), Some(_)) => unknown = unknown.or(Some(place)),
                _ => {}
            }
        }
        unknown
    }
}

#[cfg(test)]
mod tests {
    use gimli::{EndianArcSlice, RunTimeEndian};

    use super::super::own::with_own;
    use super::*;

    #[test]
    fn an_expression_without_an_end_has_no_result() {
        // DW_OP_skip, back to itself.
        let code = EndianArcSlice::new(Arc::from([0x2f, 0xfd, 0xff]), RunTimeEndian::Little);
        let encoding =
            gimli::Encoding { format: gimli::Format::Dwarf32, version: 4, address_size: 8 };
        with_own(|names, memory| {
            let step = Step { names, memory, registers: &[None; REGISTERS] };
            let result = step.result(&Expression(code), encoding, None, step.registers);
            assert_eq!(result, None);
        });
    }

    /// Has the name of the function with which a goroutine leaves its thread.
    #[unsafe(export_name = "runtime.mcall")]
    extern "C" fn mcall() {}

    #[test]
    fn a_goroutine_that_leads_to_itself_has_a_stack_with_an_end() {
        let pc = (mcall as extern "C" fn()) as usize as u64 + 1;
        let mut memory = [0_u64; 16];
        let sp = memory.as_ptr().addr() as u64;
        // The return address and the argument; then the goroutine.
        let goroutine = &mut memory[4..];
        (goroutine[1], goroutine[7], goroutine[8]) = (u64::MAX, sp, pc);
        (memory[0], memory[1]) = (pc, sp + 4 * 8);
        with_own(|names, own| {
            let returns = addresses(names, own, Call { sp, pc, ..Call::default() }, 64);
            assert_eq!(returns.addresses, [pc]);
            assert!(returns.places.len() > 4, "it has left: {returns:x?}");
        });
        std::hint::black_box(&memory);
    }
}
