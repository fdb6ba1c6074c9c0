//! The fastest stream within this machine, and the one of the highest median, where that is another.

use super::points::{CHUNK, PIPE, RECEIVE, SEND, TCP, UNIX, point};
use crate::apparatus::network::path::{LOOPBACK, WITHIN};
use fathom_core::prelude::*;
use fathom_core::quantity::declared;
use fathom_core::sorting;

const NAME: &str = "network/bandwidth";

const WAYS: [(&str, &str, &str); 3] =
    [(TCP, LOOPBACK, "TCP over loopback"), (UNIX, WITHIN, "a UNIX socket"), (PIPE, WITHIN, "a pipe")];

const PLACES: [(Placement, &str); 3] = [
    (Placement::AcrossCpus, "across CPUs"),
    (Placement::OneCpu, "on one CPU"),
    (Placement::Free, "wherever the scheduler puts it"),
];

/// A rate with its way, its place and its chunk.
struct StreamRate {
    way: String,
    placement: Placement,
    chunk: u64,
    rate: Found,
}

/// One stream of a way at a placement, with its chunk.
type StreamOfWay = fn(Placement, &str, &str, &Known) -> Option<(u64, Found)>;

/// The best of a sweep over chunks.
pub fn best_at(placement: Placement, by: &str, path: &str, known: &Known) -> Option<(u64, Found)> {
    known.best(NAME, of_every_chunk(placement, by, path, known))
}

/// The streams of one way that were measured, in every chunk and to either side.
fn of_every_chunk(
    placement: Placement,
    by: &str,
    path: &str,
    known: &Known,
) -> impl Iterator<Item = (u64, Point)> {
    [SEND, RECEIVE].into_iter().flat_map(move |direction| {
        let of_chunk = move |chunk| (chunk, point(by, path, direction, chunk, placement));
        let measured = known.found_along(NAME, &of_chunk(0).1, &CHUNK);
        measured.into_iter().map(move |(chunk, _)| of_chunk(chunk))
    })
}

/// The fastest way, with its placement and its chunk, and the highest median of all, where it is that of a stream of which too little is known.
pub fn finding(known: &Known) -> Option<Statement> {
    let of_each = |stream: StreamOfWay| {
        let all = WAYS.into_iter().flat_map(|(by, path, way)| {
            PLACES.into_iter().filter_map(move |(placement, place)| {
                let (chunk, rate) = stream(placement, by, path, known)?;
                Some(StreamRate { way: format!("{way} {place}"), placement, chunk, rate })
            })
        });
        let mut all: Vec<StreamRate> = all.collect();
        sorting::by_number(&mut all, |stream| -stream.rate.value);
        all
    };
    let (best, highest) = (of_each(best_at), of_each(highest_at));
    Statement::joined([fastest(&best), highest_median(&best, &highest)].into_iter().flatten(), "")
}

/// The stream of one way with the highest median.
fn highest_at(placement: Placement, by: &str, path: &str, known: &Known) -> Option<(u64, Found)> {
    let all = of_every_chunk(placement, by, path, known)
        .filter_map(|(chunk, point)| Some((chunk, known.found(NAME, &point)?)));
    all.max_by(|(_, one), (_, other)| one.value.total_cmp(&other.value))
}

/// `None` if there is only one way, and for one across CPUs, whose rate is told before it, that is not shown to be faster than the next.
fn fastest(all: &[StreamRate]) -> Option<Statement> {
    let [first, second, ..] = all else { return None };
    let is_alike = first.rate.differs_from(&second.rate) != Some(true);
    if is_alike && first.placement == Placement::AcrossCpus {
        return None;
    }
    let alike =
        is_alike.then(|| statement!(", not significantly different from {second}", second = &second.way));
    Some(statement!(
        " The fastest of these is {first} in chunks of {chunk}, {most}{alike}.",
        first = &first.way,
        chunk = declared::size(first.chunk),
        most = first.rate.named("fastest way"),
        alike
    ))
}

/// From how many times the width of an interval another is said to be known much less well.
const MUCH_WIDER: f64 = 3.0;

/// The highest median of all, where no best one has it: its interval begins lower, or a stream before it in the plan is not told from it.
fn highest_median(best: &[StreamRate], highest: &[StreamRate]) -> Option<Statement> {
    let (fastest, highest) = (best.first()?, highest.first()?);
    let is_beyond = highest.rate.value > fastest.rate.value;
    let width = |rate: &Found| rate.ends().map(|(low, high)| high - low);
    let own = width(&highest.rate).filter(|_| is_beyond && highest.rate.is_of_one_state())?;
    let is_alike = highest.rate.differs_from(&fastest.rate) != Some(true);
    let is_wide = width(&fastest.rate).is_some_and(|width| own > MUCH_WIDER * width);
    let poorly = if is_wide { ", which is known much less well" } else { "" };
    let alike = if is_alike { "; the two are not distinguished" } else { "" };
    Some(statement!(
        " The highest median is that of {way} in chunks of {chunk}, {rate}{poorly}{alike}.",
        way = &highest.way,
        chunk = declared::size(highest.chunk),
        rate = highest.rate.named("highest median of all streams"),
        poorly,
        alike
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::statistics::{Interval, Measured};

    /// What is said where a socket moves 6.01 GB/s on one CPU, and across CPUs so much.
    fn said([value, low, high]: [f64; 3]) -> String {
        let machine = fathom_described::machine();
        let mut known = Known::new(&machine, None);
        let rates = [
            (TCP, LOOPBACK, 1 << 20, Placement::AcrossCpus, [5.15, 4.63, 5.50]),
            (UNIX, WITHIN, 64 << 10, Placement::OneCpu, [6.01, 5.92, 6.06]),
            (UNIX, WITHIN, 64 << 10, Placement::AcrossCpus, [5.84, 5.33, 5.90]),
            (UNIX, WITHIN, 1 << 20, Placement::AcrossCpus, [value, low, high]),
        ];
        for (by, path, chunk, placement, [value, low, high]) in rates {
            let measured = Measured {
                value: value * 1e9,
                interval: Some(Interval { low: low * 1e9, high: high * 1e9 }),
            };
            let found = Found::measured(measured, Unit::BytesPerSecond);
            known.learn(NAME, &point(by, path, SEND, chunk, placement), found);
        }
        finding(&known).map(|said| said.plain()).unwrap_or_default()
    }

    /// 7.54 GB/s (5.10 to 11.28) was named nowhere, beside 6.01 as the fastest.
    #[test]
    fn a_highest_median_of_which_little_is_known_is_named_and_is_not_the_fastest() {
        let wide = said([7.54, 5.10, 11.28]);
        assert!(
            wide.contains("The fastest of these is a UNIX socket on one CPU in chunks of 64 KiB"),
            "{wide}"
        );
        assert!(
            wide.contains(
                " The highest median is that of a UNIX socket across CPUs in chunks of 1 MiB, {7540000000}, which is known \
                 much less well; the two are not distinguished."
            ),
            "{wide}"
        );
        assert!(!said([5.5, 5.1, 5.6]).contains("highest median"));
    }
}
