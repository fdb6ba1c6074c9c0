//! The description of the machine that the tests run on.

use crate::claim::{Figure, at_most, decided};
use crate::tier::{Outcome, Test, alone};
use fathom::machine::{Host, Live, Machine};
use fathom::report::description;
use std::path::Path;
use std::time::Instant;

pub const TESTS: &[Test] = &alone![the_machine_we_run_on_is_described_quickly_and_wholly];

fn the_machine_we_run_on_is_described_quickly_and_wholly() -> Outcome {
    let machine = Machine::describe(Path::new("."));
    let text = serde_json::to_string(&machine).unwrap();
    assert_eq!(serde_json::from_str::<Machine>(&text).unwrap(), machine);
    assert_eq!(machine.allowed_cpus(), Live.affinity().unwrap());
    assert!(machine.available_bytes().unwrap() > 0);
    assert!(machine.page_bytes().is_power_of_two());
    assert!(machine.storage.free_bytes.value().is_some());
    assert!(machine.network.iter().any(|adapter| adapter.kind == "loopback"));
    for row in description::sections(&machine).into_iter().flat_map(|section| section.rows) {
        assert!(!row.value.is_empty() && !row.name.is_empty(), "{row:?}");
    }
    // What it takes beside the start of a process, which is as slow as the machine is.
    decided(|| {
        let took = |work: &dyn Fn()| {
            let began = Instant::now();
            work();
            began.elapsed().as_secs_f64()
        };
        let start = || drop(std::process::Command::new("true").output());
        let ratios = (0..5).map(|_| took(&|| drop(Machine::describe(Path::new(".")))) / took(&start));
        Ok(vec![at_most("a description over a process", Some(Figure::spanning(ratios.collect())), 1000.0)])
    })
}
