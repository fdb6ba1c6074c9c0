//! Services of a known time that are due at a known rate: the percentiles of their times, and the highest rate at which they end in
//! time.

use super::prelude::*;
use super::spin::spin;
use fathom_core::sorting;
use fathom_core::statistics::quantile;
use fathom_experiments::apparatus::filesystem::single_server::{DueTime, highest_rate, one_after_the_other};

pub static RIG: Rig = Rig::of_known_work(
    "queue",
    "services of 0.5 ms, of which two in succession of fifty take 2.25 ms",
    Duration::from_secs(30),
    |_| Ok(FIGURES.map(|figure| (NAME, point(figure))).to_vec()),
    judge,
);

pub static WORK: KnownWork = KnownWork {
    points: || FIGURES.map(point).to_vec(),
    ..KnownWork::of(
        &about(
            NAME,
            "Are the percentiles of services, and the highest rate at which they end in time, found?",
            "the 99th percentile of a series of services, or the time from one to the next at the highest rate",
            "A service spins for 0.5 ms by the kernel's clock; of fifty, two in succession spin for 2.25 ms. So the 99th \
             percentile of a series is 2.25 ms. Evenly due every T, the second of two long ones ends 2 × 2.25 ms - T after it was due, and these are \
             2 in 100: for 99 in 100 to end within 2.5 ms, T must be 2 ms. It is found as filesystem/durable_append finds the highest \
             rate of appends.",
            &[FIGURE],
        ),
        prepare,
    )
};

const NAME: &str = "verify/queue";
const FIGURE: Parameter = Parameter::of("figure", "what is measured", &FIGURES);
const FIGURES: [&str; 2] = [TAIL, INTERVAL];
const TAIL: &str = "99th percentile";
const INTERVAL: &str = "interval";

/// The times of services, nanoseconds; the last two of this number are long.
const USUAL_NS: u64 = 500_000;
const LONG_NS: u64 = 2_250_000;
const CYCLE: u64 = 50;

/// Within which a service must end, from when it was due, nanoseconds.
const WITHIN_NS: u64 = 2_500_000;

/// A series has a hundred services at least, of which four are long.
const DUE_TIME: DueTime = DueTime { within_ns: WITHIN_NS as f64, series_ns: 0.0 };

/// The shortest interval at which all but the first of two long services, and those behind them, end in time.
const SHORTEST_NS: u64 = 2 * LONG_NS - WITHIN_NS;

/// A percentile and a rate that a few services of several hundred decide.
const TO: f64 = 0.05;

fn point(figure: &str) -> Point {
    Point::new().named(&FIGURE, figure)
}

fn prepare<'site>(point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
    // A series begins anywhere among the fifty.
    let mut number = site.seed % CYCLE;
    let mut serve = move || {
        number += 1;
        spin(if number % CYCLE > CYCLE - 3 && number % CYCLE < CYCLE { LONG_NS } else { USUAL_NS });
        Ok(())
    };
    let (watch, is_tail) = (site.stopwatch, point.name(&FIGURE) == TAIL);
    let observe = move || {
        let mut services = one_after_the_other(&mut serve, watch)?;
        if is_tail {
            sorting::numbers(&mut services);
            return Ok(quantile(&services, 0.99));
        }
        let (rate, _) = highest_rate(&mut serve, &services, DUE_TIME, watch)?;
        Ok((rate > 0.0).then(|| 1e9 / rate))
    };
    Ok(Workload::recorded(observe).cold())
}

fn judge(rig: &Rig, results: &Results, _: Option<f64>) -> Vec<Truth> {
    let judged = |of: &str, what: &str, ns: u64| {
        Claim::time(rig, what, ns as f64).to(TO).judged(figure(results, &(NAME, point(of))))
    };
    vec![
        judged(TAIL, "the 99th percentile of services", LONG_NS),
        judged(INTERVAL, "the shortest interval at which 99 in 100 end within 2.5 ms", SHORTEST_NS),
    ]
}
