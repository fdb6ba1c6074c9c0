//! Whether a rate or latency of milliseconds is sustained: an operation repeated without a pause, window by window.
//!
//! Limits with a burst (a token bucket of a cloud's disk or link, a processor's thermal or power budget, a device's write cache)
//! let short trials pass and throttle continuous load.

use fathom_core::prelude::*;
use fathom_core::quantity::Kind;

pub const FIGURE: Parameter = Parameter::named(
    "figure",
    "first: in the first twentieth of the trial; sustained: in its second half; window: in each of its twentieths",
);
pub const LASTING: Parameter = Parameter::nanoseconds("lasting", "how long a trial runs without a pause");

/// Figure: the first window.
pub const FIRST: &str = "first";
/// Figure: the second half of the trial.
pub const SUSTAINED: &str = "sustained";
pub const WINDOW: &str = "window";

/// Number of windows in a trial.
const WINDOWS: usize = 20;

/// Durations of trials, nanoseconds: a second by default; on request, the length of many bursts.
const LENGTHS: [u64; 2] = [1_000_000_000, 20_000_000_000];

/// The duration of a default run; a quick run has no time for it.
pub const USUAL: u64 = LENGTHS[0];

/// The points of an operation: every figure, for trials of every duration.
pub fn points(operation: Point) -> impl Iterator<Item = Point> {
    let of_length = move |lasting| {
        let point = operation.clone().with(&LASTING, lasting);
        [FIRST, SUSTAINED, WINDOW].map(|figure| point.clone().named(&FIGURE, figure))
    };
    LENGTHS.into_iter().flat_map(of_length)
}

/// The effort from which on a point is measured.
pub fn effort(point: &Point) -> Effort {
    if point.number(&LASTING) > USUAL { Effort::Thorough } else { Effort::Standard }
}

/// The prediction of a point: the result of short trials in this run, or their prediction.
pub fn predicted(short: (&dyn Experiment, &Point), known: &Known) -> Result<Prediction, String> {
    let (experiment, point) = short;
    match known.measured(experiment.about().name, point) {
        Some(value) => Ok(Prediction::new().hardware("as in short trials", 1.0, value)),
        None => experiment.predict(point, known),
    }
}

/// Progress of a continuous operation: nanoseconds since its start, and the amount done by then.
pub type Progress = (f64, f64);

/// Repeats `act`, which returns the amount done, and records the progress at the end of every window. A window ends with the act
/// that passes its end, so that acts slower than a window make the trial longer and no window empty.
pub fn observed(
    lasting_ns: f64,
    now_ns: impl Fn() -> f64,
    mut act: impl FnMut() -> Result<u64, Failure>,
) -> Result<Vec<Progress>, Failure> {
    let (began, mut done) = (now_ns(), 0);
    let mut noted = vec![(0.0, 0.0)];
    for window in 1..=WINDOWS {
        let end = lasting_ns * window as f64 / WINDOWS as f64;
        loop {
            done += act()?;
            let at = now_ns() - began;
            if at >= end {
                noted.push((at, done as f64));
                break;
            }
        }
    }
    Ok(noted)
}

/// The ends of the windows of a trial of this duration, nanoseconds since its start.
pub fn ends(lasting_ns: f64) -> impl Iterator<Item = f64> {
    (0..=WINDOWS).map(move |window| lasting_ns * window as f64 / WINDOWS as f64)
}

/// The figures of a trial from its progress: nanoseconds per operation.
pub fn each_ns(progress: &[Progress]) -> Vec<FigureValue> {
    figures(progress, |ns, done| ns / done)
}

/// The figures of a trial from its progress: operations per second.
pub fn per_second(progress: &[Progress]) -> Vec<FigureValue> {
    figures(progress, |ns, done| done / ns * 1e9)
}

fn figures(progress: &[Progress], of: impl Fn(f64, f64) -> f64) -> Vec<FigureValue> {
    let between = |from: Progress, to: Progress| of(to.0 - from.0, to.1 - from.1);
    let windows: Vec<f64> = progress.windows(2).map(|ends| between(ends[0], ends[1])).collect();
    let (Some(first), Some(last)) = (windows.first(), progress.last()) else { return vec![] };
    let sustained = between(progress[progress.len() / 2], *last);
    let whole = [(FIRST, *first), (SUSTAINED, sustained)];
    whole.into_iter().chain(windows.iter().map(|window| (WINDOW, *window))).collect()
}

/// Ratio of sustained to first figures, as cost, from which on the speed counts as not sustained.
const LASTS: f64 = 1.25;

/// Largest ratio of sustained to first figures, as cost, up to which the whole interval shows that the speed is sustained.
const HOLDS: f64 = 1.03;

/// What [`compared`] compares, in words.
pub const COMPARED: &str = "in the first twentieth of a second and in its second half";

/// The comparisons of an experiment's operations, each with its name, in one statement.
pub fn compared_in(
    experiment: &str,
    operations: impl IntoIterator<Item = (String, Point)>,
    kind: Kind,
    known: &Known,
) -> Option<Statement> {
    let compared = |(name, operation): (String, Point)| {
        let usual = operation.with(&LASTING, USUAL);
        compared(&name, kind, |figure| known.found(experiment, &usual.clone().named(&FIGURE, figure)))
    };
    Statement::joined(operations.into_iter().filter_map(compared), "; ")
}

/// The comparison of the beginning of the trials of a second with their second half, in words. `figure` gives the figure of a name.
///
/// Both are of the same trials: short trials of another experiment are made at other moments, when the device, the link or the
/// frequency of the core was another.
fn compared(
    operation: &str,
    kind: Kind,
    figure: impl Fn(&'static str) -> Option<Found>,
) -> Option<Statement> {
    let (first, sustained) = (figure(FIRST)?, figure(SUSTAINED)?);
    let slower = if kind == Kind::Rate { first.over(sustained) } else { sustained.over(first) };
    let (first_named, sustained_named) =
        (first.named(&format!("{operation}, first")), sustained.named(&format!("{operation}, sustained")));
    let both = statement!("{operation}: {first_named}, then {sustained_named}", first_named, sustained_named);
    let times = slower.named(&format!("{operation}, sustained over first"));
    Some(match first.differs_from(&sustained) {
        Some(true) if slower.value > LASTS => {
            statement!("{both}, {times} times as slow: the first speed is not sustained", both, times)
        }
        Some(true) if slower.value > 1.0 => statement!("{both}, {times} times as slow", both, times),
        Some(true) => statement!("{both}: it becomes no slower", both),
        // A machine in two states, or wide intervals: no difference is shown, nor that there is none.
        _ if first.is_mixture || sustained.is_mixture => {
            statement!(
                "{both}: of several states of the machine, so this run does not tell whether the speed is sustained",
                both
            )
        }
        Some(false) if slower.ends().is_some_and(|(_, high)| high > LASTS) => {
            statement!(
                "{both}: no significant difference, which may yet be a factor of {LASTS} or more",
                both
            )
        }
        Some(false) if slower.ends().is_some_and(|(_, high)| high > HOLDS) => {
            statement!(
                "{both}: no significant difference, and at most {most} times as slow",
                both,
                most = slower.upper_bound().named(&format!("{operation}, slower at most"))
            )
        }
        // The median itself is further from the first than that, though not slower.
        Some(false) if slower.value < 1.0 / HOLDS => {
            let most = slower.inverse(1.0, slower.dimension).upper_bound();
            statement!(
                "{both}: no loss shows, and no gain, which is at most a factor of {most}",
                both,
                most = most.named(&format!("{operation}, quicker at most"))
            )
        }
        Some(false) => statement!("{both}: the speed is sustained within 3 %", both),
        None => statement!(
            "{both}: without intervals this run does not tell whether the speed is sustained",
            both
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::statistics::{Interval, Measured};
    use std::cell::Cell;

    /// A device of 70 µs per request that lets 100 requests pass and then one every 3 ms, for a second of a simulated clock.
    fn held_back() -> Vec<Progress> {
        let (now, requests) = (Cell::new(0.0), Cell::new(0));
        let act = || {
            requests.set(requests.get() + 1);
            now.set(now.get() + if requests.get() <= 100 { 70e3 } else { 3e6 });
            Ok(1)
        };
        observed(USUAL as f64, || now.get(), act).unwrap()
    }

    fn value(figures: &[FigureValue], name: &str) -> f64 {
        figures.iter().find(|(figure, _)| *figure == name).unwrap().1
    }

    #[test]
    fn a_burst_is_in_the_first_window_and_not_in_what_is_sustained() {
        let figures = each_ns(&held_back());
        let (first, sustained) = (value(&figures, FIRST), value(&figures, SUSTAINED));
        assert!((sustained / 3e6 - 1.0).abs() < 1e-9, "{sustained}");
        assert!(first < 1e6, "{first}");
        assert_eq!(figures.iter().filter(|(figure, _)| *figure == WINDOW).count(), WINDOWS);
        let rates = per_second(&held_back());
        assert!((value(&rates, SUSTAINED) - 1e9 / 3e6).abs() < 1e-6, "{rates:?}");
    }

    #[test]
    fn what_takes_longer_than_a_window_is_still_counted_whole() {
        let now = Cell::new(0.0);
        let slow = || {
            now.set(now.get() + 0.5e9);
            Ok(2)
        };
        let figures = each_ns(&observed(USUAL as f64, || now.get(), slow).unwrap());
        assert!(figures.iter().all(|(_, value)| (value / 0.25e9 - 1.0).abs() < 1e-9), "{figures:?}");
    }

    #[test]
    fn only_what_is_surely_and_clearly_slower_does_not_last() {
        let found = |value: f64, width: f64| {
            let interval = Some(Interval { low: value - width, high: value + width });
            Found::measured(Measured { value, interval }, Unit::Nanoseconds)
        };
        let of = |kind, first, sustained| {
            let figure = |name| Some(if name == FIRST { first } else { sustained });
            compared("a read", kind, figure).expect("both figures").plain()
        };
        let text = |sustained| of(Kind::Cost, found(100.0, 1.0), sustained);
        assert!(text(found(300.0, 1.0)).ends_with("{3} times as slow: the first speed is not sustained"));
        assert!(text(found(100.0, 1.0)).ends_with("the speed is sustained within 3 %"));
        let loose = text(found(100.0, 10.0));
        assert!(loose.contains("no significant difference, and at most {1.1"), "{loose}");
        assert!(text(found(110.0, 1.0)).ends_with("{1.1} times as slow"), "a small difference is named");
        assert!(
            text(found(300.0, 250.0)).contains("no significant difference, which may yet"),
            "the intervals overlap"
        );
        assert!(text(found(50.0, 1.0)).ends_with("it becomes no slower"), "unlike speeds");
        let mixture = Found { is_mixture: true, ..found(100.0, 2.0) };
        assert!(text(mixture).contains("does not tell whether"));
        let rate = of(Kind::Rate, found(100.0, 1.0), found(50.0, 1.0));
        assert!(rate.contains("{2} times as slow"), "{rate}");
    }

    #[test]
    fn a_speed_that_is_further_from_the_first_than_three_percent_is_not_sustained_within_that() {
        let text = |kind, unit, [first, later]: [(f64, f64); 2]| {
            let of = |(value, share)| fathom_described::found_within(share, value, unit);
            let figure = |name| Some(of(if name == FIRST { first } else { later }));
            compared("a stream", kind, figure).expect("both").plain()
        };
        let rate = text(Kind::Rate, Unit::BytesPerSecond, [(100.0, 0.01), (108.0, 0.1)]);
        assert!(
            rate.starts_with("a stream: {100}, then {108}: no loss shows, and no gain, which is at most"),
            "{rate}"
        );
        let time = text(Kind::Cost, Unit::Nanoseconds, [(100.0, 0.01), (92.0, 0.1)]);
        assert!(time.contains("{92}: no loss shows, and no gain"), "{time}");
        let same = text(Kind::Rate, Unit::BytesPerSecond, [(100.0, 0.01), (101.0, 0.01)]);
        assert!(same.ends_with("the speed is sustained within 3 %"), "{same}");
    }
}
