//! Compares the simulator with published tables: `validate [--seeds N] [--most THREADS] [TABLE…]`.

use std::io::Write;

use ondeck_sim::validate::{Extent, run};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (mut seeds, mut extent, mut tables) = (1, Extent::Full, Vec::new());
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().and_then(|text| text.parse().ok());
        match argument.as_str() {
            "--seeds" => seeds = number().unwrap_or(0),
            "--most" => extent = Extent::Threads(number().unwrap_or(0) as u32),
            _ => tables.push(argument),
        }
    }
    let names: Vec<&str> = tables.iter().map(String::as_str).collect();
    let progress = |done: usize, of: usize| {
        if done.is_multiple_of(10) || done == of {
            eprint!("\r{done} of {of}");
            let _ = std::io::stderr().flush();
        }
    };
    match run(&names, seeds, extent, &progress) {
        Ok(validation) => println!("\n{validation}"),
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(2);
        }
    }
}
