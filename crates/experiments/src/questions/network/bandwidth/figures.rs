//! The figures from one transfer: several if the point has several.

use super::points::{
    CHUNK, LOSS, MESSAGES, RAMP, READ, RECEIVER, SENDER, START, STEADY, TRANSPORT, UDP, WHOLE, WINDOW,
    WINDOWS,
};
use crate::apparatus::network::arrival_rate::{read_since_first_byte, since_first_byte, steady};
use crate::apparatus::network::transfer::Transfer;
use fathom_core::prelude::*;

/// Every figure from the point's kind of transfer, each in its unit.
pub fn of(point: &Point, transfer: &Transfer) -> Result<Vec<FigureValue>, Failure> {
    if point.name(&TRANSPORT) == UDP {
        return Ok(of_datagrams(point.number(&CHUNK), transfer));
    }
    if point.get(MESSAGES.name).is_some() {
        return Ok(vec![(WHOLE, whole(transfer)?)]);
    }
    if point.get(START.name).is_some() {
        return of_the_beginning(point.number(&START), transfer);
    }
    let mib = transfer.received as f64 / f64::from(1 << 20);
    let rate = steady(transfer.lasting()).ok_or_else(short)?.rate;
    let read = transfer.received as f64 / transfer.reads.max(1) as f64;
    let costs = [(SENDER, transfer.sender_ns / mib), (RECEIVER, transfer.receiver_ns / mib)];
    Ok([(STEADY, rate), (READ, read)].into_iter().chain(costs).collect())
}

/// If all datagrams are lost there is no rate, but their loss.
fn of_datagrams(bytes: u64, transfer: &Transfer) -> Vec<FigureValue> {
    let lost = 1.0 - transfer.reads as f64 / (transfer.sent / bytes) as f64;
    let rate = steady(&transfer.arrivals).map(|steady| (STEADY, steady.rate));
    rate.into_iter().chain([(LOSS, lost * 1e6)]).collect()
}

/// The ramp is a figure of the transfer whose first window is evaluated.
fn of_the_beginning(since: u64, transfer: &Transfer) -> Result<Vec<FigureValue>, Failure> {
    let (from, until) = if since > 0 { (since, 2 * since) } else { (0, WINDOWS[1]) };
    let window = since_first_byte(&transfer.arrivals, from as f64, until as f64).ok_or_else(short)?;
    let read =
        read_since_first_byte(&transfer.arrivals, from as f64, until as f64).map(|bytes| (READ, bytes));
    let figures = std::iter::once((WINDOW, window)).chain(read);
    if since > 0 {
        return Ok(figures.collect());
    }
    let ramp_ns = steady(&transfer.arrivals).ok_or_else(short)?.ramp_ns;
    Ok(figures.chain([(RAMP, ramp_ns)]).collect())
}

/// Bytes over time from the first arrival to the last.
fn whole(transfer: &Transfer) -> Result<f64, Failure> {
    let ends = transfer.arrivals.last().zip(transfer.arrivals.first());
    let lasted = ends.map(|(last, first)| last.at_ns - first.at_ns).unwrap_or_default();
    since_first_byte(&transfer.arrivals, 0.0, lasted as f64).ok_or_else(short)
}

fn short() -> Failure {
    Failure::Broke("too little arrived for a rate".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::questions::network::bandwidth::{Bandwidth, FIGURE};
    use fathom_core::experiment::Experiment;

    use fathom_equipment::peer::service::Arrival;

    /// 1 GB/s for 30 ms, recorded every 100 µs, with a loss of one percent.
    fn transfer() -> Transfer {
        let note =
            |step: u64| Arrival { at_ns: 1000 + step * 100_000, bytes: 100_000 * step, reads: 10 * step };
        let arrivals: Vec<Arrival> = (0..300).map(note).collect();
        let received = arrivals[299].bytes;
        let (sent, reads) = (140_000_000, 99_000);
        Transfer { sent, received, arrivals, reads, sender_ns: 2e6, receiver_ns: 1e6, ..Transfer::default() }
    }

    #[test]
    fn every_point_finds_its_figure_in_a_transfer_of_its_kind() {
        let machine = fathom_described::machine();
        for point in Bandwidth
            .sweep(&machine)
            .iter()
            .filter(|point| point.name(&TRANSPORT) != "TCP, a byte back per chunk")
        {
            let figures = of(point, &transfer()).unwrap();
            let mine = figures.iter().find(|(name, _)| *name == point.name(&FIGURE));
            assert!(mine.is_some_and(|(_, value)| value.is_finite()), "{point}: {figures:?}");
        }
    }

    #[test]
    fn what_is_read_off_is_what_was_transferred() {
        let usual = crate::questions::network::bandwidth::points::usual("loopback");
        let figures = of(&usual, &transfer()).unwrap();
        assert_eq!(
            figures.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
            [STEADY, READ, SENDER, RECEIVER]
        );
        assert!((figures[0].1 / 1e9 - 1.0).abs() < 1e-6 && figures[2].1 > figures[3].1, "{figures:?}");
        assert!((figures[1].1 - 29_900_000.0 / 99_000.0).abs() < 1e-6, "{figures:?}");
        let datagrams = usual.named(&TRANSPORT, UDP).with(&CHUNK, 1400);
        let lost = of(&datagrams, &transfer()).unwrap()[1];
        assert_eq!((lost.0, lost.1.round()), (LOSS, 10_000.0));
    }
}
