//! Call frame information: where a function's caller is, and its registers.
//!
//! `.eh_frame` is in programs and libraries of C, C++ and Rust, stripped ones too. Go's linker and
//! debugging files have `.debug_frame`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use gimli::{
    BaseAddresses, CfaRule, CieOrFde, DebugFrame, EhFrame, Encoding, EndianArcSlice, Expression,
    RegisterRule, RunTimeEndian, UnwindContext, UnwindExpression, UnwindSection,
};
use object::{Object, ObjectSection};

pub type Bytes = EndianArcSlice<RunTimeEndian>;

/// How a value of the caller is found.
#[derive(Clone, Debug)]
pub enum Rule {
    /// It is lost.
    Lost,
    /// In the same register.
    Same,
    /// In another register, plus an offset.
    In(u16, i64),
    /// In memory at an offset from the canonical frame address.
    At(i64),
    /// The canonical frame address plus an offset.
    Is(i64),
    /// In memory, at the result of an expression.
    AtResult(Expression<Bytes>, Encoding),
    /// The result of an expression.
    IsResult(Expression<Bytes>, Encoding),
}

/// The registers that DWARF numbers 0 to 15 on x86-64, and the return address after them.
pub const REGISTERS: usize = 17;

/// The rules at an instruction.
#[derive(Clone, Debug)]
pub struct Rules {
    pub frame: Rule,
    pub registers: [Rule; REGISTERS],
}

/// The call frame information of a file.
#[derive(Default)]
pub struct Cfi {
    tables: Vec<Table>,
}

enum Table {
    Exceptions(EhFrame<Bytes>, BaseAddresses, Vec<Entry>),
    Debugging(DebugFrame<Bytes>, BaseAddresses, Vec<Entry>),
}

/// The addresses of a function, and the place of its description.
struct Entry {
    start: u64,
    end: u64,
    place: usize,
}

impl Cfi {
    /// Adds what a file has.
    pub fn add(&mut self, file: &object::File<'_>) {
        let little = file.is_little_endian();
        let endian = if little { RunTimeEndian::Little } else { RunTimeEndian::Big };
        let mut bases = BaseAddresses::default();
        let address = |name: &str| file.section_by_name(name).map(|section| section.address());
        for (name, set) in [
            (".eh_frame", BaseAddresses::set_eh_frame as fn(_, _) -> _),
            (".text", BaseAddresses::set_text),
            (".got", BaseAddresses::set_got),
        ] {
            bases = address(name).map_or(bases.clone(), |address| set(bases, address));
        }
        let section = |name: &str| {
            let data = file.section_by_name(name)?.uncompressed_data().ok()?;
            let data = Some(data).filter(|data| !data.is_empty())?;
            Some(match data {
                Cow::Borrowed(bytes) => EndianArcSlice::new(Arc::from(bytes), endian),
                Cow::Owned(bytes) => EndianArcSlice::new(Arc::from(bytes), endian),
            })
        };
        if let Some(bytes) = section(".eh_frame") {
            let mut frames = EhFrame::from(bytes);
            frames.set_address_size(8);
            let entries = index(&frames, &bases);
            self.tables.push(Table::Exceptions(frames, bases.clone(), entries));
        }
        if let Some(bytes) = section(".debug_frame") {
            let mut frames = DebugFrame::from(bytes);
            frames.set_address_size(8);
            let entries = index(&frames, &bases);
            self.tables.push(Table::Debugging(frames, bases, entries));
        }
    }

    /// Returns the addresses of the function, or of the part of one, that contains an address.
    pub fn function(&self, address: u64) -> Option<Range<u64>> {
        self.tables.iter().find_map(|table| {
            let (Table::Exceptions(.., entries) | Table::Debugging(.., entries)) = table;
            containing(entries, address).map(|entry| entry.start..entry.end)
        })
    }

    /// Returns the rules at an address.
    pub fn rules(&self, address: u64) -> Option<Rules> {
        self.tables.iter().find_map(|table| match table {
            Table::Exceptions(frames, bases, entries) => rules(frames, bases, entries, address),
            Table::Debugging(frames, bases, entries) => rules(frames, bases, entries, address),
        })
    }
}

fn containing(entries: &[Entry], address: u64) -> Option<&Entry> {
    let after = entries.partition_point(|entry| entry.start <= address);
    entries.get(after.checked_sub(1)?).filter(|entry| address < entry.end)
}

fn index<S: UnwindSection<Bytes>>(frames: &S, bases: &BaseAddresses) -> Vec<Entry>
where
    S::Offset: Copy + Eq + std::hash::Hash,
{
    let mut commons = HashMap::new();
    let mut found = Vec::new();
    let mut entries = frames.entries(bases);
    while let Ok(Some(entry)) = entries.next() {
        let CieOrFde::Fde(partial) = entry else { continue };
        let parsed = partial.parse(|frames, bases, offset| {
            if let Some(common) = commons.get(&offset) {
                return Ok(gimli::CommonInformationEntry::clone(common));
            }
            let common = frames.cie_from_offset(bases, offset)?;
            commons.insert(offset, common.clone());
            Ok(common)
        });
        let Ok(entry) = parsed else { continue };
        let start = entry.initial_address();
        found.push(Entry { start, end: start.saturating_add(entry.len()), place: entry.offset() });
    }
    found.sort_by_key(|entry| entry.start);
    found
}

fn rules<S: UnwindSection<Bytes>>(
    frames: &S,
    bases: &BaseAddresses,
    entries: &[Entry],
    address: u64,
) -> Option<Rules>
where
    S::Offset: From<usize>,
{
    let place = containing(entries, address)?.place.into();
    let entry = frames.fde_from_offset(bases, place, S::cie_from_offset).ok()?;
    let mut context = UnwindContext::new();
    let row = entry.unwind_info_for_address(frames, bases, &mut context, address).ok()?;
    let encoding = entry.cie().encoding();
    let expression = |expression: &UnwindExpression<usize>| expression.get(frames).ok();
    let frame = match row.cfa() {
        CfaRule::RegisterAndOffset { register, offset } => Rule::In(register.0, *offset),
        CfaRule::Expression(code) => Rule::IsResult(expression(code)?, encoding),
    };
    let return_address = entry.cie().return_address_register();
    let registers = std::array::from_fn(|number| {
        let register = match number {
            16 => return_address,
            _ => gimli::Register(number as u16),
        };
        let rule = match row.register(register) {
            // Registers that a callee preserves (System V ABI of x86-64, figure 3.4).
            None if matches!(number, 3 | 6 | 12..=15) => return Rule::Same,
            Some(RegisterRule::SameValue) => return Rule::Same,
            Some(RegisterRule::Offset(offset)) => Some(Rule::At(offset)),
            Some(RegisterRule::ValOffset(offset)) => Some(Rule::Is(offset)),
            Some(RegisterRule::Register(other)) => Some(Rule::In(other.0, 0)),
            Some(RegisterRule::Expression(code)) => {
                expression(&code).map(|code| Rule::AtResult(code, encoding))
            }
            Some(RegisterRule::ValExpression(code)) => {
                expression(&code).map(|code| Rule::IsResult(code, encoding))
            }
            _ => None,
        };
        rule.unwrap_or(Rule::Lost)
    });
    Some(Rules { frame, registers })
}
