//! Reads the recordings of a folder: `read FOLDER [OUT]`. Prints the table, and writes all other
//! outputs into the folder `OUT`.

use std::error::Error;
use std::fs;
use std::path::Path;

use ondeck_profile::{Role, lines, page, pprof, read, table};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("usage: read FOLDER [OUT]")?;
    let profile = read(folder.as_ref())?;
    print!("{}", table::render(&profile, 10, false));
    let Some(out) = arguments.next() else { return Ok(()) };
    let out = Path::new(&out);
    fs::create_dir_all(out)?;
    fs::write(out.join("profile.html"), page::render(&profile))?;
    fs::write(out.join("profile.jsonl"), lines::render(&profile))?;
    for (name, role) in [("holders", Role::Holder), ("waiters", Role::Waiter)] {
        fs::write(out.join(format!("{name}.pb.gz")), pprof::encode(&profile, role)?)?;
    }
    Ok(())
}
