//! Reads a run file and prints every value with its 95 % interval, in the unit of its point, and why there is none:
//!
//! ```text
//! cargo run --release --example read_run RUN_FILE
//! ```

use fathom::record::{ReadError, Run};
use fathom::results::{PointResult, Results};
use std::path::Path;
use std::process::ExitCode;

fn line(result: &PointResult) -> String {
    let name = format!("{} {}", result.experiment, result.point);
    match (result.estimate(), result.outcome.reason()) {
        (Some(estimate), _) => {
            let interval =
                estimate.interval.map(|interval| format!(" [{}, {}]", interval.low, interval.high));
            format!("{name}: {}{} {:?}", estimate.value, interval.unwrap_or_default(), result.unit)
        }
        (None, reason) => format!("{name}: {} ({})", result.outcome.name(), reason.unwrap_or_default()),
    }
}

fn print(path: &Path) -> Result<(), ReadError> {
    // What was recorded is judged by the experiments that recorded it.
    fathom::experiments::register();
    let run = Run::read(path)?;
    println!("{}, {} trials", run.header.started, run.trials.len());
    for result in &Results::of(&run).points {
        println!("{}", line(result));
    }
    Ok(())
}

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("which run file? `fathom run` makes them");
        return ExitCode::from(2);
    };
    match print(Path::new(&path)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
