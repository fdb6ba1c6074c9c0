//! What the size of a chunk and a second CPU do to a rate, as far as intervals show it.

use super::points::{CHUNK, PIPE, SEND, TCP, UNIX, point, usual};
use crate::apparatus::network::path::{LOOPBACK, PEER, WITHIN};
use fathom_core::prelude::*;
use fathom_core::quantity::declared;

const NAME: &str = "network/bandwidth";

/// Where the rate of a stream falls with the chunk: the best of a sweep is then of one chunk, and not typical.
pub fn falls(path: &str, known: &Known) -> Option<Finding> {
    let curve = known.found_along(NAME, &usual(path), &CHUNK);
    let fall = |(place, fall): (usize, RateFall)| {
        let [before, chunk] = [fall.from.0, fall.to.0].map(declared::size);
        let ratio = fall.to.1.over(fall.from.1).named(&format!("rate, {chunk} over {before}, {path}"));
        let [high, low] = [
            fall.from.1.named(&format!("rate, {before}, {path}")),
            fall.to.1.named(&format!("rate, {chunk}, {path}")),
        ];
        let verb = if place == 0 { " reach" } else { "" };
        statement!("{chunk}{verb} {low}, {ratio} times the {high} of {before}", low, ratio, high)
    };
    let falls = Statement::joined(fallen(&curve).into_iter().enumerate().map(fall), "; ")?;
    let way = if path == PEER { "to the peer" } else { "over loopback" };
    Some(
        finding!(Question::Experiment, "TCP {way} is slower in some larger chunks: {falls}.", falls)
            .about(path),
    )
}

/// What a pipe across CPUs moves in larger chunks than that of its best rate, and on one CPU, where some are told from it.
pub fn of_a_pipe(known: &Known) -> Option<Finding> {
    let at = |chunk, placement| point(PIPE, WITHIN, SEND, chunk, placement);
    let along = |placement| known.found_along(NAME, &at(0, placement), &CHUNK);
    let across = along(Placement::AcrossCpus);
    let settings = across.iter().map(|(chunk, _)| (*chunk, at(*chunk, Placement::AcrossCpus)));
    let (chunk, most) = known.best(NAME, settings)?;
    let is_less = |rate: &Found| rate.differs_from(&most) == Some(true) && rate.value < most.value;
    let slower = across.iter().filter(|(larger, rate)| *larger > chunk && is_less(rate));
    let slower = slower.filter(|_| most.is_of_one_state()).map(|(larger, rate)| {
        let size = declared::size(*larger);
        let name = format!("pipe, two CPUs, {size}");
        let times = rate.is_of_one_state().then(|| {
            let times = rate.over(most).named(&format!("{name} over {}", declared::size(chunk)));
            statement!(", {times} times", times)
        });
        statement!("{size} {rate}{times}", size = &size, rate = rate.named(&name), times)
    });
    let slower = Statement::joined(slower, "; ")?;
    let one_cpu = along(Placement::OneCpu).into_iter().map(|(size, rate)| {
        let size = declared::size(size);
        statement!("{size} {rate}", size = &size, rate = rate.named(&format!("pipe, one CPU, {size}")))
    });
    let one_cpu = Statement::joined(one_cpu, "; ").map(|rates| statement!("; on one CPU, {rates}", rates));
    Some(finding!(
        Question::Experiment,
        "A pipe across CPUs moves {most} in chunks of {chunk}, and less in larger ones: {slower}{one_cpu}.",
        most = most.named("best of a pipe, two CPUs"),
        chunk = declared::size(chunk),
        slower,
        one_cpu
    ))
}

/// The highest rate up to a chunk, and a later one that is surely less, each with its chunk.
struct RateFall {
    from: (u64, Found),
    to: (u64, Found),
}

/// The falls along a curve; after one, the highest is that since then.
fn fallen(curve: &[(u64, Found)]) -> Vec<RateFall> {
    let Some(mut highest) = curve.first().copied() else { return vec![] };
    let mut falls = vec![];
    for next in curve.iter().skip(1).copied() {
        let is_less = next.1.value < highest.1.value;
        if is_less && next.1.differs_in_one_core_state(&highest.1) == Some(true) {
            falls.push(RateFall { from: highest, to: next });
            highest = next;
        } else if !is_less {
            highest = next;
        }
    }
    falls
}

/// What a stream gains where its two sides have a CPU each, in chunks of one size.
pub fn second_cpu(known: &Known) -> Option<Finding> {
    let ways = [("TCP", TCP, LOOPBACK), ("a UNIX socket", UNIX, WITHIN), ("a pipe", PIPE, WITHIN)];
    let (mut gains, mut none) = (vec![], vec![]);
    for (name, by, path) in ways {
        let along = |placement| known.found_along(NAME, &point(by, path, SEND, 0, placement), &CHUNK);
        let both = along(Placement::AcrossCpus);
        let pair = along(Placement::OneCpu).into_iter().find_map(|(chunk, one)| {
            let (_, two) = both.iter().find(|(other, two)| *other == chunk && of_one_state(&one, two))?;
            Some((chunk, one, *two))
        });
        let Some((chunk, one, two)) = pair else { continue };
        let way = format!("{name} ({})", declared::size(chunk));
        match two.differs_from(&one) {
            Some(true) => gains.push(statement!(
                "{way} {two} where one gives {one}, {ratio} times the rate",
                way = &way,
                two = two.named(&format!("{by}, two CPUs")),
                one = one.named(&format!("{by}, one CPU")),
                ratio = two.over(one).named(&format!("{by}, two CPUs over one")),
            )),
            Some(false) => none.push(way),
            None => {}
        }
    }
    let none =
        (!none.is_empty()).then(|| statement!("{ways} nothing significant", ways = none.join(" and ")));
    let gains = Statement::joined(gains.into_iter().chain(none), "; ")?;
    Some(finding!(Question::Experiment, "In equal chunks a second CPU gives {gains}.", gains))
}

/// Whether neither is of a machine in several states.
fn of_one_state(one: &Found, two: &Found) -> bool {
    one.is_of_one_state() && two.is_of_one_state()
}

#[cfg(test)]
mod tests {
    use super::*;

    use super::super::Bandwidth;
    use fathom_described::statements;

    const KIB: u64 = 1024;

    #[test]
    fn a_rate_falls_only_where_intervals_show_it() {
        let curve = |rates: &[(u64, f64)]| {
            let at = |(chunk, rate): &(u64, f64)| (usual(LOOPBACK).with(&CHUNK, chunk * KIB), *rate);
            statements(&Bandwidth, rates.iter().map(at), |known| falls(LOOPBACK, known))
        };
        assert_eq!(curve(&[(4, 1e9), (64, 2e9), (128, 1.99e9), (512, 4e9)]), "");
        let dips = curve(&[(4, 1e9), (64, 2e9), (128, 1.5e9), (512, 4e9), (1024, 3.95e9), (4096, 3e9)]);
        assert!(
            dips.ends_with(
                "slower in some larger chunks: 128 KiB reach {1500000000}, {0.75} times the \
                 {2000000000} of 64 KiB; 4 MiB {3000000000}, {0.75} times the {4000000000} of 512 KiB.\n"
            ),
            "{dips}"
        );
    }

    #[test]
    fn what_a_pipe_loses_in_larger_chunks_is_told() {
        let at = |chunk, placement, rate| (point(PIPE, WITHIN, SEND, chunk * KIB, placement), rate);
        let said = |in_64: f64| {
            let across =
                [(4, 5.2e9), (64, in_64)].map(|(chunk, rate)| at(chunk, Placement::AcrossCpus, rate));
            let all = across.into_iter().chain([at(64, Placement::OneCpu, 4.3e9)]);
            statements(&Bandwidth, all, of_a_pipe)
        };
        assert_eq!(
            said(1.3e9),
            "A pipe across CPUs moves {5200000000} in chunks of 4 KiB, and less in larger ones: 64 KiB {1300000000}, {0.25} times; on one \
             CPU, 64 KiB {4300000000}.\n"
        );
        assert_eq!(said(5.19e9), "");
    }

    #[test]
    fn a_second_cpu_is_judged_by_one_chunk() {
        let at = |by, path, chunk, placement, rate| (point(by, path, SEND, chunk * KIB, placement), rate);
        let all = [
            at(TCP, LOOPBACK, 128, Placement::OneCpu, 2e9),
            at(TCP, LOOPBACK, 128, Placement::AcrossCpus, 2.01e9),
            at(TCP, LOOPBACK, 512, Placement::AcrossCpus, 4e9),
            at(PIPE, WITHIN, 64, Placement::OneCpu, 2e9),
            at(PIPE, WITHIN, 64, Placement::AcrossCpus, 1e9),
            at(UNIX, WITHIN, 64, Placement::OneCpu, 2e9),
            at(UNIX, WITHIN, 4, Placement::AcrossCpus, 1e9),
        ];
        assert_eq!(
            statements(&Bandwidth, all, second_cpu),
            "In equal chunks a second CPU gives a pipe (64 KiB) {1000000000} where one gives {2000000000}, {0.5} times the rate; TCP (128 KiB) nothing significant.\n"
        );
    }
}
