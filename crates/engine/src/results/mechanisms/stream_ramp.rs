//! The ramp of a TCP stream: slow start doubles the data in flight with every round trip, from ten segments (RFC 6928) until
//! the path is full.

use super::{Conclusion, Premises, Rule};
use crate::results::accuracy::CLOSE;
use fathom_core::experiment::At::{self, Any, Name, Number};
use fathom_core::experiment::{Dimension, Found, Placement, Selector, statement};
use fathom_core::quantity::Unit;

pub(super) const RULE: Rule = Rule {
    name: "stream_ramp",
    condition: "the rates of three windows in a stream's first milliseconds and the round trip of a byte were \
                measured on the same path",
    judge,
    points: &[WINDOW_HERE, TRIP_HERE],
};

const WINDOW_HERE: Selector = windows(&window("loopback"));
const WINDOW_PEER: Selector = windows(&window("peer"));
const TRIP_HERE: Selector = trips(&trip("loopback"));
const TRIP_PEER: Selector = trips(&trip("peer"));

const fn windows(settings: &'static [(&'static str, At)]) -> Selector {
    Selector::only("network/bandwidth", settings).at(Placement::AcrossCpus)
}

const fn window(path: &'static str) -> [(&'static str, At); 7] {
    [
        ("direction", Name("send")),
        ("figure", Name("window")),
        ("path", Name(path)),
        ("transport", Name("TCP")),
        ("streams", Number(1)),
        ("chunk", Any),
        ("start", Any),
    ]
}

const fn trips(settings: &'static [(&'static str, At)]) -> Selector {
    Selector::only("network/round_trip", settings).at(Placement::AcrossCpus)
}

const fn trip(path: &'static str) -> [(&'static str, At); 4] {
    [("loop", Name("closed")), ("path", Name(path)), ("transport", Name("TCP")), ("payload", Number(1))]
}

/// Segments that a stream may send before the first is acknowledged (RFC 6928).
const FIRST_SEGMENTS: f64 = 10.0;
/// Headers of IP and TCP with time stamps, bytes.
const HEADERS: f64 = 52.0;
/// The largest packet of Linux's loopback device (drivers/net/loopback.c), bytes.
const LOOPBACK_PACKET: f64 = 65_536.0;
/// The largest packet of Ethernet (IEEE 802.3), bytes.
const ETHERNET_PACKET: f64 = 1_500.0;

fn judge(premises: &Premises) -> Option<Conclusion> {
    path(premises, "to the peer", WINDOW_PEER, TRIP_PEER, ETHERNET_PACKET)
        .or_else(|| path(premises, "over loopback", WINDOW_HERE, TRIP_HERE, LOOPBACK_PACKET))
}

fn path(premises: &Premises, way: &str, window: Selector, trip: Selector, packet: f64) -> Option<Conclusion> {
    let windows = window.along("start", premises.known);
    let trip = trip.found(premises.known)?;
    let (Some((_, first)), Some((start, last)), true) = (windows.first(), windows.last(), windows.len() > 2)
    else {
        return None;
    };
    let full = last.value * trip.value / 1e9;
    let begins = FIRST_SEGMENTS * (packet - HEADERS);
    let doublings = (full / begins).log2().ceil().max(0.0);
    let ramps = first.value < last.value && first.differs_from(last) == Some(true);
    // What may be a ramp is not called none.
    let is_flat = first.over(*last).ends().is_none_or(|(low, _)| low > 1.0 / CLOSE);
    let verdict = match (ramps, doublings > 0.0) {
        (false, _) if !is_flat => " is not shown to have a ramp, nor to have none",
        (true, true) => " has the ramp of slow start",
        (true, false) => " has a ramp, but not that of slow start",
        (false, true) => " shows no ramp in its windows, though slow start would cause one",
        // No ramp of no doublings says nothing.
        (false, false) => return None,
    };
    let headline = statement!(
        "A TCP stream {way}{verdict}: its first window has {ratio} of the rate of the last.",
        ratio = first.over(*last).named("first window over last")
    );
    let bytes = |value: f64| Found::bare(value, Dimension::Of(Unit::Bytes));
    let because = statement!(
        "The path holds {path} (rate × round trip of a byte {between}, {trip}); a stream starts with {FIRST_SEGMENTS} \
         segments, {first}, and doubles that with each round trip: {doublings} doublings, {ramp}. The last \
         window starts {start} after the first byte.",
        path = bytes(full).named("bytes in flight"),
        between = if way == "over loopback" { "between two CPUs" } else { way },
        trip = trip.named("round trip"),
        first = bytes(begins).named("bytes of the first round trip"),
        ramp = trip.scaled(doublings).named("slow start"),
        start = Found::exact(*start as f64, trip.dimension).named("start of the last window")
    );
    Some(Conclusion::of(headline, because).effective(ramps || doublings > 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::planted::{self, Plant as _};
    use fathom_core::experiment::Known;
    use serde_json::json;

    /// Windows of these rates, with a round trip of 1 ms to the peer.
    fn conclusion(rates: &[f64]) -> Option<Conclusion> {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        TRIP_PEER.plant(&mut known, 1e6);
        for (place, rate) in rates.iter().enumerate() {
            let free = [("chunk", json!(131_072)), ("start", json!(place as u64 * 500_000))];
            WINDOW_PEER.plant_at(&mut known, &free, *rate);
        }
        judge(&Premises { known: &known, points: &[] })
    }

    #[test]
    fn a_path_that_holds_more_than_ten_segments_needs_a_ramp() {
        // 115840 bytes are in flight: eight times ten segments of 1448, three doublings.
        let conclusion = conclusion(&[10e6, 50e6, 115.84e6]).expect("a mechanism");
        assert!(conclusion.headline.plain().contains("has the ramp of slow start"));
        assert!(
            conclusion.because.plain().contains("3 doublings, {3000000}"),
            "{}",
            conclusion.because.plain()
        );
    }

    #[test]
    fn a_first_window_that_may_have_much_less_is_not_called_without_a_ramp() {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        TRIP_PEER.plant(&mut known, 1e6);
        for (place, rate) in [0.7e6, 1e6, 1e6].into_iter().enumerate() {
            let of =
                WINDOW_PEER.point(&[("chunk", json!(131_072)), ("start", json!(place as u64 * 500_000))]);
            let found = fathom_described::found_within(0.6, rate, Dimension::Of(Unit::BytesPerSecond));
            known.learn("network/bandwidth", &of, found);
        }
        let conclusion = judge(&Premises { known: &known, points: &[] }).expect("a path");
        assert!(conclusion.headline.plain().contains("nor to have none"), "{}", conclusion.headline.plain());
    }

    #[test]
    fn a_short_path_needs_none_and_two_windows_are_no_ramp() {
        assert!(conclusion(&[1e6, 1e6, 1e6]).is_none(), "no ramp of no doublings says nothing");
        assert!(
            conclusion(&[1e6, 2e6, 4e6])
                .is_some_and(|conclusion| conclusion.headline.plain().contains("not that of slow start"))
        );
        assert!(conclusion(&[10e6, 115.84e6]).is_none());
    }
}
