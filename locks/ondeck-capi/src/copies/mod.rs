//! Ends the process if two copies of this library in it do not share one parking table.
//!
//! The table is an exported symbol, so the loader resolves it to the same table for all copies that
//! it can see. It cannot do so if a program has a static copy that it does not export and loads
//! another copy, or if two plugins have a static copy each and are loaded with `RTLD_LOCAL`. A
//! thread would then park in one table while the unlock searches the other: the program would hang
//! at some point without a message.
//!
//! So each copy has a note in its object (ELF `PT_NOTE`) with the place of its [`Copy`], and each
//! copy's constructor reads the notes of all loaded objects: the copy that is loaded later finds
//! the other. Objects in other namespaces, made by dlmopen(3), are not found.
//!
//! Copies of the crate `ondeck` in a Rust program, or in the preloaded library, have no note: no C
//! function can reach their locks.

mod note;
mod objects;
mod refuse;

use core::ffi::{c_char, c_int};

use objects::Object;

/// The description of a copy. Fields are only ever appended: a copy of any version reads the
/// description of any other.
#[repr(C)]
struct Copy {
    /// The number in the table's name.
    abi: u32,
    /// Its size, which shows whether appended fields are present.
    size: u32,
    /// The table that this copy uses: the loader's choice.
    table: *const u8,
    /// The state of the fences that this copy uses.
    state: *const u8,
    /// The rows of visible readers that this copy uses.
    rows: *const u8,
}

// SAFETY: the fields are constant once the loader has relocated the object.
unsafe impl Sync for Copy {}

unsafe extern "C" {
    #[link_name = "ondeck_parking_table_6"]
    static TABLE: u8;
    #[link_name = "ondeck_fence_state_2"]
    static STATE: u8;
    #[link_name = "ondeck_reader_rows_2"]
    static ROWS: u8;
}

static OWN: Copy = Copy {
    abi: crate::abi::ONDECK_ABI,
    size: size_of::<Copy>() as u32,
    table: &raw const TABLE,
    state: &raw const STATE,
    rows: &raw const ROWS,
};

/// Called by the loader, after it has relocated all objects that it loads together. The number puts
/// it before the constructors of programs, which may use locks.
///
/// It is `used`, and in the same object file as functions that every program needs.
#[used]
#[unsafe(link_section = ".init_array.00101")]
static CONSTRUCTOR: extern "C" fn(c_int, *const *const c_char) = check;

extern "C" fn check(_: c_int, _: *const *const c_char) {
    let mut other: Option<Object> = None;
    let mut own: Option<Object> = None;
    objects::for_each(&mut |object| {
        let Some(copy) = object.copy else { return };
        if core::ptr::eq(copy, &raw const OWN) {
            own = Some(object);
        } else {
            // SAFETY: a copy of any version has these fields, and its object is loaded and
            // relocated.
            let its = unsafe { [(*copy).table, (*copy).state, (*copy).rows] };
            if its != [OWN.table, OWN.state, OWN.rows] {
                other = Some(object);
            }
        }
    });
    if let Some(other) = other {
        refuse::two_tables(own.as_ref(), &other);
    }
}
