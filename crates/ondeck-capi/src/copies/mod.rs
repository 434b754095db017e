//! Two copies of this library in one process have one parking table, or the process ends here.
//!
//! The table is an exported symbol, so the loader gives all copies that it can see the same one. It
//! cannot where a program has a static copy that it does not export and loads another, where two
//! plugins have static copies of their own and are loaded with `RTLD_LOCAL`. Then a thread would park
//! in one table, and the unlock look into the other: programs would stop, some day, without a word.
//!
//! So each copy has a note in its object (ELF `PT_NOTE`), which tells where its [`Copy`] is; and
//! each copy's constructor looks at the notes of all objects that are loaded: whichever is loaded
//! later finds the other. Objects in other namespaces, those of dlmopen(3), are not found.
//!
//! Copies of the crate `ondeck` in a program in Rust, or in the library that is preloaded, have no
//! note: no function of C comes to their locks.

mod note;
mod objects;
mod refuse;

use core::ffi::{c_char, c_int};

use objects::Object;

/// What a copy says of itself. Only appended to: a copy of any version reads that of any other.
#[repr(C)]
struct Copy {
    /// The number in the table's name.
    abi: u32,
    /// Its size, for what is appended.
    size: u32,
    /// The table that this copy uses: the loader's choice.
    table: *const u8,
    /// The state of the fences that this copy uses.
    state: *const u8,
}

// SAFETY: constants once the loader has relocated the object.
unsafe impl Sync for Copy {}

unsafe extern "C" {
    #[link_name = "ondeck_parking_table_6"]
    static TABLE: u8;
    #[link_name = "ondeck_fence_state_2"]
    static STATE: u8;
}

static OWN: Copy = Copy {
    abi: crate::abi::ONDECK_ABI,
    size: size_of::<Copy>() as u32,
    table: &raw const TABLE,
    state: &raw const STATE,
};

/// Called by the loader, after it has relocated all objects that it loads together. The number puts
/// it before the constructors of programs, which may use locks.
///
/// It is `used`, and in the same object file as what every program needs.
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
        // SAFETY: a copy of any version has these fields, and its object is loaded and relocated.
        } else if unsafe { (*copy).table != OWN.table || (*copy).state != OWN.state } {
            other = Some(object);
        }
    });
    if let Some(other) = other {
        refuse::two_tables(own.as_ref(), &other);
    }
}
