//! Call instructions of x86-64, decoded from the memory of a process: a word of a stack is a return
//! address if a call stands before the place to which it points, and it belongs to a frame if that
//! call leads to the frame's function.

use super::memory::Memory;

/// What the instruction before an address calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    /// A known function.
    At(u64),
    /// A function whose address was in a register or in memory.
    Unknown,
}

/// Returns what the call right before `address` calls; `None` if no call is there.
pub fn before(memory: &Memory, address: u64) -> Option<Callee> {
    let code = code_before(memory, address)?;
    let distance = i32::from_le_bytes([code[3], code[4], code[5], code[6]]);
    let there = address.wrapping_add_signed(distance.into());
    match code {
        [_, _, 0xe8, ..] => Some(Callee::At(behind_stub(memory, there).unwrap_or(there))),
        [_, 0xff, 0x15, ..] => Some(memory.word(there).map_or(Callee::Unknown, Callee::At)),
        _ if is_indirect(code) => Some(Callee::Unknown),
        _ => None,
    }
}

/// Returns the code before an address; zeros for what is before its mapping.
fn code_before(memory: &Memory, address: u64) -> Option<[u8; 7]> {
    memory.read(address.checked_sub(7)?).or_else(|| {
        let mut code = [0; 7];
        for (byte, back) in code.iter_mut().rev().zip(1..) {
            let Some([read]) = memory.read(address - back) else { break };
            *byte = read;
        }
        Some(code)
    })
}

/// Whether code ends with `call` of a register, or of a word at a register plus at most a 32-bit
/// offset: FF /2.
fn is_indirect(code: [u8; 7]) -> bool {
    [(2, 3), (3, 0), (3, 1), (4, 1), (6, 2), (7, 2)].into_iter().any(|(length, mode)| {
        let call = &code[code.len() - length..];
        let (opcode, form) = (call[0], call[1]);
        let has_index = mode != 3 && form & 7 == 4;
        let fits = match (length, mode) {
            (3, 0) | (4, 1) | (7, 2) => has_index,
            _ => !has_index,
        };
        opcode == 0xff && form >> 3 & 7 == 2 && form >> 6 == mode && fits
    }) || code[5] == 0xff && (0x10..=0x17).contains(&code[6]) && code[6] & 7 != 4
}

/// Returns the function that a stub of the procedure linkage table jumps to; `None` if there is no
/// stub.
fn behind_stub(memory: &Memory, address: u64) -> Option<u64> {
    const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
    const BND: u8 = 0xf2;
    let code: [u8; 11] = memory.read(address)?;
    let jump = code.strip_prefix(&ENDBR64).unwrap_or(&code);
    let jump = jump.strip_prefix(&[BND]).unwrap_or(jump);
    let (&[0xff, 0x25, a, b, c, d], rest) = jump.split_first_chunk()? else { return None };
    let next = address.wrapping_add((code.len() - rest.len()) as u64);
    memory.word(next.wrapping_add_signed(i32::from_le_bytes([a, b, c, d]).into()))
}

/// Whether the function at `from` jumps to the one at `to`, as its last act or after a test.
pub fn jumps(memory: &Memory, from: u64, to: u64) -> bool {
    let Some(code) = memory.read::<256>(from) else { return false };
    code.windows(5).enumerate().any(|(at, bytes)| {
        let distance = i32::from_le_bytes([bytes[1], bytes[2], bytes[3], bytes[4]]);
        let next = from.wrapping_add(at as u64 + 5);
        let is_jump = bytes[0] == 0xe9 || at > 0 && code[at - 1] == 0x0f && bytes[0] & 0xf0 == 0x80;
        is_jump && next.wrapping_add_signed(distance.into()) == to
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_through_registers_and_memory_are_recognized() {
        for (bytes, expected) in [
            (&[0xff, 0xd0][..], true),         // call rax
            (&[0x41, 0xff, 0xd4], true),       // call r12
            (&[0xff, 0x10], true),             // call [rax]
            (&[0xff, 0x53, 0x10], true),       // call [rbx+0x10]
            (&[0xff, 0x54, 0x24, 0x08], true), // call [rsp+8]
            (&[0xff, 0x90, 1, 2, 0, 0], true), // call [rax+0x201]
            (&[0xff, 0x14, 0xc3], true),       // call [rbx+rax*8]
            (&[0xff, 0xe0], false),            // jmp rax
            (&[0x48, 0x89, 0xe5], false),      // mov rbp, rsp
        ] {
            let mut code = [0x90; 7];
            code[7 - bytes.len()..].copy_from_slice(bytes);
            assert_eq!(is_indirect(code), expected, "{bytes:x?}");
        }
    }
}
