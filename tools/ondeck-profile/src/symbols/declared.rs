//! Where variables are declared: DWARF's `DW_TAG_variable` with a fixed address.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use gimli::{
    AttributeValue, DebuggingInformationEntry, EndianArcSlice, Operation, Reader, RunTimeEndian,
    Unit, UnitRef,
};
use object::{Object, ObjectSection};

/// File and line by address.
pub type Declared = HashMap<u64, (String, u64)>;

type Bytes = EndianArcSlice<RunTimeEndian>;
type Entry = DebuggingInformationEntry<Bytes>;

/// Returns all variables of a file, without those that cannot be read.
pub fn read(bytes: &[u8]) -> Declared {
    let mut declared = Declared::new();
    _ = read_into(bytes, &mut declared);
    declared
}

fn read_into(bytes: &[u8], declared: &mut Declared) -> Option<()> {
    let file = object::File::parse(bytes).ok()?;
    let endian = if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let section = |id: gimli::SectionId| -> Result<Bytes, gimli::Error> {
        let data = file
            .section_by_name(id.name())
            .and_then(|section| section.uncompressed_data().ok())
            .unwrap_or(Cow::Borrowed(&[]));
        Ok(EndianArcSlice::new(Arc::from(&*data), endian))
    };
    let dwarf = gimli::Dwarf::load(section).ok()?;
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        let Ok(unit) = dwarf.unit(header) else { continue };
        _ = of_unit(unit.unit_ref(&dwarf), declared);
    }
    Some(())
}

fn of_unit(unit: UnitRef<'_, Bytes>, declared: &mut Declared) -> gimli::Result<()> {
    let mut entries = unit.entries();
    while let Some(entry) = entries.next_dfs()? {
        if entry.tag() != gimli::DW_TAG_variable {
            continue;
        }
        let Some(address) = address_of(&unit, entry) else { continue };
        if let Some(place) = place_of(&unit, entry) {
            declared.insert(address, place);
        }
    }
    Ok(())
}

/// Returns the address, if the location is just an address.
fn address_of(unit: &Unit<Bytes>, entry: &Entry) -> Option<u64> {
    let AttributeValue::Exprloc(expression) = entry.attr_value(gimli::DW_AT_location)? else {
        return None;
    };
    let mut operations = expression.operations(unit.encoding());
    match operations.next().ok()?? {
        Operation::Address { address } => Some(address),
        _ => None,
    }
}

/// Returns file and line; for a static member of a class, those where the class declares it.
fn place_of(unit: &UnitRef<'_, Bytes>, entry: &Entry) -> Option<(String, u64)> {
    let Some(line) = entry.attr(gimli::DW_AT_decl_line) else {
        let AttributeValue::UnitRef(offset) = entry.attr_value(gimli::DW_AT_specification)? else {
            return None;
        };
        return place_of(unit, &unit.entry(offset).ok()?);
    };
    let line = line.udata_value()?;
    let AttributeValue::FileIndex(index) = entry.attr_value(gimli::DW_AT_decl_file)? else {
        return None;
    };
    let program = unit.line_program.as_ref()?;
    let file = program.header().file(index)?;
    let text = |value| Some(unit.attr_string(value).ok()?.to_string_lossy().ok()?.into_owned());
    let name = text(file.path_name())?;
    let folder = file.directory(program.header()).and_then(text).unwrap_or_default();
    Some((
        if name.starts_with('/') || folder.is_empty() { name } else { format!("{folder}/{name}") },
        line,
    ))
}
