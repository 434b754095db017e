//! The stack of a thread that is asleep in the kernel, without stopping it.
//!
//! The kernel shows two of its registers, the stack pointer and the instruction. Call frame information leads from there
//! to the callers. It may need a register that the kernel does not show, most often the frame pointer, or be missing, as
//! in musl and in code that was compiled at run time. Then the return address is searched on the stack: the first word
//! before which a call of the function stands.

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

/// Deeper stacks are cut off.
const MOST: usize = 256;
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
    let mut stack = Stack::default();
    stack.locations.push(names.location(call.pc));
    if !cfg!(target_arch = "x86_64") {
        return stack;
    }
    memory.hold_stack(call.sp);
    let mut registers: Registers = [None; REGISTERS];
    registers[RSP] = Some(call.sp);
    registers[RETURN] = Some(call.pc);
    while stack.locations.len() < MOST {
        let mut step = Step { names, memory, registers: &registers };
        let Some((next, is_searched)) = step.caller() else { break };
        let (Some(pc), Some(sp)) = (next[RETURN], next[RSP]) else { break };
        if !names.is_code(pc) || registers[RSP].is_some_and(|before| sp <= before) {
            break;
        }
        stack.is_searched |= is_searched;
        // A function that ended with a tail call has left no frame.
        if let Some(Callee::At(called)) = calls::before(memory, pc)
            && names.function_at(called) == Some(called)
            && registers[RETURN].is_some_and(|inner| !names.is_within(called, inner - 1))
        {
            let location = names.location(called);
            if !location.frames[0].is_offset() {
                stack.locations.push(location);
            }
        }
        stack.locations.push(names.location(pc - 1));
        registers = next;
    }
    memory.release_stack();
    stack
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
        // The frame's address is a register's value plus an offset, and the return address is at its end.
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

    /// Returns the place on the stack of the first return address to a caller of the function that contains `pc`.
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
