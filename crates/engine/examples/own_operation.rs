//! Measures operations of this program, each less what the same call takes without its work:
//!
//! ```text
//! cargo run --release -p fathom-engine --example own_operation [RUN_FILE]
//! ```
//!
//! A chain of multiplications, each of which waits for the one before, takes twice as long where it has twice as many.

use fathom_engine::{Error, Measured, Operation, child_main};
use std::hint::black_box;
use std::time::Duration;

/// So many multiplications in a row.
fn chain(length: u64) -> u64 {
    (0..length).fold(black_box(1), |value: u64, step| black_box(value.wrapping_mul(step)))
}

/// A chain of a length that the compiler does not know, beside one that has none.
fn operation(name: &str, length: u64) -> Operation {
    Operation::new(name, move || chain(black_box(length))).baseline(|| chain(black_box(0)))
}

fn told(measured: &Measured, operation: &str, other: &str) {
    let ratio = measured.ratio(operation, other).and_then(|ratio| Some((ratio.value, ratio.interval?)));
    match ratio {
        Some((times, interval)) => {
            println!("{operation} / {other}: {times:.3} times, {:.3} to {:.3}", interval.low, interval.high);
        }
        None => println!("{operation} / {other}: not known"),
    }
}

fn main() -> Result<(), Error> {
    // A process that measures one of them ends in here.
    let mut session =
        child_main([operation("short", 1000), operation("double", 2000), operation("long", 8000)])?
            .budget(Duration::from_secs(6))
            .alongside();
    if let Some(path) = std::env::args().nth(1) {
        session = session.run_file(path);
    }
    let measured = session.measure()?;
    print!("{measured}");
    told(&measured, "double", "short");
    told(&measured, "long", "short");
    Ok(())
}
