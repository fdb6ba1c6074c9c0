//! Attaches the state of the host to the result of a benchmark of this program:
//!
//! ```text
//! cargo run --release -p fathom-engine --example around_benchmark
//! ```
//!
//! The engine knows no experiments: the anchors here are an operation of the program itself, the core, and the kernel's counters.
//! A program that depends on `fathom` calls `fathom::experiments::register()` before `child_main`, and has all anchors of `fathom
//! around`.

use fathom_engine::{Error, Operation, child_main};
use std::hint::black_box;
use std::time::Instant;

/// The benchmark: some work, and how long it took, seconds.
fn benchmark() -> f64 {
    let began = Instant::now();
    let sum = (0..200_000_000_u64).fold(0, |sum: u64, step| black_box(sum.wrapping_add(step)));
    black_box(sum);
    began.elapsed().as_secs_f64()
}

fn main() -> Result<(), Error> {
    // A process that measures the anchor ends in here.
    let anchor =
        Operation::new("sum of 1000", || (0..black_box(1000_u64)).fold(0, |sum, step| black_box(sum + step)));
    let session = child_main([anchor])?.alongside();
    let (seconds, surroundings) = session.around(benchmark)?;
    println!("benchmark: {seconds:.3} s");
    println!("host: {:?}", surroundings.verdict());
    for dimension in surroundings.dimensions() {
        println!("{}: {:?}", dimension.name, dimension.verdict);
    }
    Ok(())
}
