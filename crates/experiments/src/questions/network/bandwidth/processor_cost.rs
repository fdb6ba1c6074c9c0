//! Processor cost per byte, in time and in core cycles, as in report 000 (R-NET-11).

use super::points::{ACKNOWLEDGED, CHUNK, FIGURE, RECEIVER, SEND, SENDER, point, usual};
use crate::apparatus::network::path::PEER;
use fathom_core::prelude::*;
use fathom_core::quantity::Nanoseconds;

const NAME: &str = "network/bandwidth";
/// Bytes per MiB.
const MIB: f64 = 1_048_576.0;

/// Processor time per MiB of the usual stream, for each side with its cycles per byte.
pub fn finding(path: &str, known: &Known) -> Option<Finding> {
    let sides = [SENDER, RECEIVER].into_iter().filter_map(|side| {
        let time = known.found(NAME, &usual(path).named(&FIGURE, side))?;
        let per_byte = known.core_hz.map_or_else(Statement::default, |hertz| {
            let cycles = time.counted(Nanoseconds(1.0 / MIB).cycles(hertz).0, Dimension::Cycles);
            statement!(", {cycles} a byte", cycles = cycles.named(&format!("{side} per byte, {path}")))
        });
        Some(statement!(
            "{time} of the {side}{per_byte}",
            time = time.named(&format!("{side} per MiB, {path}")),
            per_byte
        ))
    });
    let sides = Statement::joined(sides, " and ")?;
    let way = if path == PEER { "to the peer" } else { "over loopback" };
    Some(
        finding!(
            Question::Experiment,
            "A MiB by TCP {way} takes {sides}.{by_the_clock}",
            sides,
            by_the_clock = by_the_clock(path, known)
        )
        .about(path),
    )
}

/// Report 000's figure: elapsed cycles per byte, whoever uses them, if each chunk is acknowledged.
fn by_the_clock(path: &str, known: &Known) -> Option<Statement> {
    let group = point(ACKNOWLEDGED, path, SEND, 0, Placement::AcrossCpus);
    let (_, rate): (u64, Found) = known.found_along(NAME, &group, &CHUNK).into_iter().next()?;
    let cycles = Found::measured(known.frequency()?.over(rate.measured), Dimension::Cycles);
    Some(statement!(
        " With a byte back per chunk, {cycles} pass for each byte sent (report 000's figure, in core \
         cycles).",
        cycles = cycles.named(&format!("cycles that pass per byte, {path}"))
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apparatus::network::path::LOOPBACK;

    use fathom_core::quantity::Unit;

    fn text(core_hz: Option<f64>) -> String {
        let machine = fathom_described::machine();
        let mut known = Known::new(&machine, core_hz);
        let mut learn = |point, value, unit| {
            known.learn(NAME, &point, Found::exact(value, Dimension::Of(unit)));
        };
        learn(usual(LOOPBACK).named(&FIGURE, SENDER), MIB / 2.0, Unit::Nanoseconds);
        learn(usual(LOOPBACK).named(&FIGURE, RECEIVER), MIB / 4.0, Unit::Nanoseconds);
        let chunks = point(ACKNOWLEDGED, LOOPBACK, SEND, 16_000_000, Placement::AcrossCpus);
        learn(chunks, 1e9, Unit::BytesPerSecond);
        finding(LOOPBACK, &known).expect("a finding").statement.plain()
    }

    #[test]
    fn time_per_mib_stands_beside_cycles_per_byte() {
        let text = text(Some(4e9));
        assert!(
            text.contains("{524288} of the sender's processor time, {2} a byte and {262144} of"),
            "{text}"
        );
        assert!(text.contains("With a byte back per chunk, {4} pass for each byte"), "{text}");
    }

    #[test]
    fn where_the_frequency_is_not_known_no_cycles_are_told() {
        let text = text(None);
        assert!(text.contains("{524288} of the sender's processor time and {262144} of"), "{text}");
        assert!(!text.contains("byte back"), "{text}");
    }
}
