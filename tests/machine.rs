//! Machines described from recorded trees, and the one we run on.
use fathom::machine::Machine;
use std::time::Instant;

#[test]
fn zz() {
    let start = Instant::now();
    let machine = Machine::describe(".".as_ref());
    println!("took {:?}", start.elapsed());
    for section in machine.sections() {
        println!("== {}", section.title);
        for row in section.rows {
            println!(
                "{:28} {} {} [{}]",
                row.name,
                if row.unknown { "?" } else { " " },
                row.value,
                row.source
            );
        }
    }
    for w in machine.warnings() {
        println!("! {}: {} {}", w.id, w.problem, w.remedy);
    }
    println!("{}", serde_json::to_string(&machine).unwrap().len());
}
