//! A queue with a single server: how long each service takes without a pause, and the highest rate at which nearly all of what is due
//! ends in time.

use fathom_core::prelude::*;
use std::time::Duration;

/// What is served: one service is over when this returns.
pub type Serve<'a> = dyn FnMut() -> Result<(), Failure> + 'a;

/// The time of a series, nanoseconds, and its most services.
const LASTS_NS: f64 = 500e6;
const MOST: usize = 4096;

/// The first rate that is tried, as a share of what is served without a pause: a little less than that with which a queue would grow.
const NEARLY: f64 = 0.98;

/// No rate is tried at which a hundred services take longer than five seconds: so many a second.
const SLOWEST: f64 = 20.0;

/// How near a rate that is kept and one that is not are brought by halving on a logarithmic scale: from twice as much, three times.
const NEAR: f64 = 1.1;

/// The time of a series that a rate must keep, nanoseconds, where times without a pause say that it cannot be kept; and the step by
/// which it is lowered until it does, from three steps higher (as much as halving leaves open). What is granted by slices of a tenth
/// of a second is known to within 3 % from some thirty. Below those three each step is twice the one before, up to a half, and what it
/// passes over is halved: a device that stalls at any rate would take a minute of such series.
const LONG_NS: f64 = 3e9;
const STEP: f64 = 0.97;
const STEPS: u32 = 3;

/// The pause before a series on a schedule, so that nothing of the one before is in its way: longer than the slices of time in which
/// kernels and hosts grant a rate.
const PAUSE: Duration = Duration::from_millis(150);

/// The time before a service is due at which a sleeper gets up, nanoseconds: longer than the timer's slack.
const EARLY_NS: f64 = 200e3;

/// The share of services that may be late: what p99 leaves.
const LATE: f64 = 0.01;

/// The fewest services that support a p99 with an interval (`statistics::supported_percentiles`), and the fewest of which one may be
/// late.
const FEWEST: usize = 299;
const FEWEST_TRIED: usize = 100;

/// What was served on a schedule: how many, how many of them ended in time, from when they were due, and how long it took.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ScheduledSeries {
    pub count: usize,
    pub in_time: usize,
    pub lasted_ns: f64,
}

/// What a rate must keep: 99 in 100 services end within this time of when they were due, in series of this time.
#[derive(Debug, Clone, Copy)]
pub struct DueTime {
    pub within_ns: f64,
    pub series_ns: f64,
}

impl ScheduledSeries {
    fn late(self) -> usize {
        self.count - self.in_time
    }

    fn holds(self) -> bool {
        self.late() as f64 <= LATE * self.count as f64
    }
}

/// The time of each service of a series without pauses, nanoseconds: those of half a second, and enough for a p99.
pub fn one_after_the_other(serve: &mut Serve, watch: &dyn Stopwatch) -> Result<Vec<f64>, Failure> {
    let (mut services, began) = (Vec::with_capacity(MOST), watch.now_ns());
    let mut before = began;
    while services.len() < FEWEST || (before - began < LASTS_NS && services.len() < MOST) {
        serve()?;
        let now = watch.now_ns();
        services.push(now - before);
        before = now;
    }
    Ok(services)
}

/// The most services a second, evenly due, at which the deadline is kept, and the series that kept it; 0 if none of the rates tried was
/// kept. Every rate is really tried, from nearly what was served without a pause (`services_ns`) downward: no rate follows from
/// times, because a device that grants so many requests in every slice of time delays those in excess without a pause, and none of
/// those that are due more slowly. Where the two disagree, the rate must keep a long series.
pub fn highest_rate(
    serve: &mut Serve,
    services_ns: &[f64],
    deadline: DueTime,
    watch: &dyn Stopwatch,
) -> Result<(f64, ScheduledSeries), Failure> {
    let clock = Clock { now: &|| watch.now_ns(), wait_until: &|due| wait_until(due, watch) };
    let mut series_of_rate = ScheduledSeries::default();
    let mut keeps = |per_second, deadline| {
        std::thread::sleep(PAUSE);
        let series = on_schedule(&clock, serve, per_second, deadline)?;
        if series.holds() {
            series_of_rate = series;
        }
        Ok(series.holds())
    };
    let without_a_pause = 1e9 * services_ns.len() as f64 / services_ns.iter().sum::<f64>();
    let mut rate = highest_of_tries(without_a_pause, &mut |per_second| keeps(per_second, deadline))?;
    if rate > 0.0 && !would_keep(services_ns, 1e9 / rate, deadline.within_ns) {
        let long = DueTime { series_ns: LONG_NS, ..deadline };
        let highest = (rate / STEP.powi(STEPS as i32)).min(NEARLY * without_a_pause);
        rate = lowered_until_kept(highest, &mut |per_second| keeps(per_second, long))?;
    }
    Ok((rate, if rate > 0.0 { series_of_rate } else { ScheduledSeries::default() }))
}

/// The first rate from the `highest` downward that is kept, or one near to the next above that is not; 0 if none is.
fn lowered_until_kept(
    highest: f64,
    keeps: &mut dyn FnMut(f64) -> Result<bool, Failure>,
) -> Result<f64, Failure> {
    let (mut rate, mut above, mut step) = (highest, highest, STEP);
    for lower in 1.. {
        if rate < SLOWEST {
            break;
        }
        if keeps(rate)? {
            return narrowed(rate, above, keeps);
        }
        step = if lower > STEPS { (step * step).max(0.5) } else { step };
        above = rate;
        rate *= step;
    }
    Ok(0.0)
}

/// The highest rate that is kept, from one that is and one `above` that is not, by halving between the two.
fn narrowed(
    mut rate: f64,
    mut above: f64,
    keeps: &mut dyn FnMut(f64) -> Result<bool, Failure>,
) -> Result<f64, Failure> {
    while above > NEAR * rate {
        let middle = (rate * above).sqrt();
        if keeps(middle)? { rate = middle } else { above = middle }
    }
    Ok(rate)
}

/// Whether 99 in 100 would end in time, if one were due every `interval_ns` and took as long as these did, in their order, and waited
/// until the one before has ended (Lindley 1952, "The theory of queues with a single server").
fn would_keep(services_ns: &[f64], interval_ns: f64, within_ns: f64) -> bool {
    let mut waits = 0.0;
    let is_late = |service: &&f64| {
        let response = waits + **service;
        waits = (response - interval_ns).max(0.0);
        response > within_ns
    };
    services_ns.iter().filter(is_late).count() as f64 <= LATE * services_ns.len() as f64
}

/// The highest rate that is kept, of those up to nearly `without_a_pause`: half of the one before until one is, and then by halving
/// between the two.
fn highest_of_tries(
    without_a_pause: f64,
    keeps: &mut dyn FnMut(f64) -> Result<bool, Failure>,
) -> Result<f64, Failure> {
    let (mut rate, mut above) = (NEARLY * without_a_pause, None);
    while !keeps(rate)? {
        above = Some(rate);
        rate /= 2.0;
        if rate < SLOWEST {
            return Ok(0.0);
        }
    }
    above.map_or(Ok(rate), |above| narrowed(rate, above, keeps))
}

/// The time, nanoseconds, and how a moment of it is waited for.
struct Clock<'a> {
    now: &'a dyn Fn() -> f64,
    wait_until: &'a dyn Fn(f64),
}

/// Services at so many a second: a series of them, and a hundred at least; or until more than one in a hundred are late.
fn on_schedule(
    clock: &Clock,
    serve: &mut Serve,
    per_second: f64,
    deadline: DueTime,
) -> Result<ScheduledSeries, Failure> {
    let (began, interval) = ((clock.now)(), 1e9 / per_second);
    let count = ((deadline.series_ns / interval) as usize).clamp(FEWEST_TRIED, MOST);
    let mut series = ScheduledSeries::default();
    while series.count < count && series.late() as f64 <= LATE * count as f64 {
        let due = began + series.count as f64 * interval;
        (clock.wait_until)(due);
        serve()?;
        let now = (clock.now)();
        series.count += 1;
        series.in_time += usize::from(now - due <= deadline.within_ns);
        series.lasted_ns = now - began;
    }
    Ok(series)
}

/// Sleeps, so that the kernel's threads can use the CPU, and polls at the end, so that no late wake-up is part of a service.
fn wait_until(due: f64, watch: &dyn Stopwatch) {
    loop {
        let remaining = due - watch.now_ns();
        if remaining <= 0.0 {
            return;
        }
        if remaining > EARLY_NS {
            std::thread::sleep(Duration::from_nanos((remaining - EARLY_NS) as u64));
        } else {
            std::hint::spin_loop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    const DUE_TIME: DueTime = DueTime { within_ns: 10e6, series_ns: 1e9 };

    /// A device that serves in 0.2 ms as many requests as each slice of 20 ms allows, and delays the others until a later slice.
    #[derive(Default)]
    struct Sliced {
        now: Cell<f64>,
        allowed: f64,
        slice: Cell<f64>,
        used: Cell<f64>,
    }

    const SLICE: f64 = 20e6;

    impl Sliced {
        fn serve(&self) {
            let current = (self.now.get() / SLICE).floor();
            if current > self.slice.get() {
                self.slice.set(current);
                self.used.set(0.0);
            }
            if self.used.get() >= self.allowed {
                self.slice.set(self.slice.get() + 1.0);
                self.now.set(self.slice.get() * SLICE);
                self.used.set(0.0);
            }
            self.used.set(self.used.get() + 1.0);
            self.now.set(self.now.get() + 0.2e6);
        }

        /// The highest rate of this one, which begins each series with nothing in the way.
        fn highest(&self) -> f64 {
            let services: Vec<f64> = (0..300)
                .map(|_| {
                    let before = self.now.get();
                    self.serve();
                    self.now.get() - before
                })
                .collect();
            let clock =
                Clock { now: &|| self.now.get(), wait_until: &|due| self.now.set(self.now.get().max(due)) };
            let mut serve = || {
                self.serve();
                Ok(())
            };
            let mut keeps = |per_second: f64| {
                self.now.set(self.now.get() + 3.0 * SLICE);
                Ok(on_schedule(&clock, &mut serve, per_second, DUE_TIME)?.holds())
            };
            highest_of_tries(1e9 * 300.0 / services.iter().sum::<f64>(), &mut keeps).unwrap()
        }
    }

    /// One after the other, one in five takes 19 ms; evenly due, 250 a second are never delayed.
    #[test]
    fn a_device_that_grants_requests_by_slices_keeps_the_rate_that_it_grants() {
        let sliced = Sliced { allowed: 5.0, ..Sliced::default() };
        let rate = sliced.highest();
        assert!((rate / 250.0 - 1.0).abs() < 0.09, "{rate}");
    }

    #[test]
    fn the_highest_rate_is_found_wherever_it_is() {
        for limit in [60.0, 125.0, 300.0, 390.0] {
            let rate = highest_of_tries(400.0, &mut |per_second| Ok(per_second <= limit)).unwrap();
            assert!((0.915..=1.0).contains(&(rate / limit)), "{rate} of {limit}");
        }
        let quickest = highest_of_tries(400.0, &mut |_| Ok(true)).unwrap();
        assert!((quickest / (NEARLY * 400.0) - 1.0).abs() < 1e-9, "{quickest}");
    }

    /// A device that stalls at any rate above a tenth of what it serves without a pause.
    #[test]
    fn a_rate_far_below_what_was_expected_takes_few_long_series() {
        for (limit, most) in [(950.0, 4), (500.0, 11), (100.0, 13)] {
            let mut tries = 0;
            let rate = lowered_until_kept(1000.0, &mut |per_second| {
                tries += 1;
                Ok(per_second <= limit)
            });
            let rate = rate.unwrap();
            assert!(tries <= most && rate <= limit && rate > limit / NEAR, "{rate} of {limit} after {tries}");
        }
        let close = lowered_until_kept(1000.0, &mut |per_second| Ok(per_second <= 920.0)).unwrap();
        assert!((close / 912.673 - 1.0).abs() < 1e-9, "{close}");
    }

    #[test]
    fn a_rate_that_is_not_kept_is_not_told_and_none_is_tried_that_takes_minutes() {
        let mut rates = Vec::new();
        let none = highest_of_tries(30.0, &mut |per_second| {
            rates.push(per_second);
            Ok(false)
        });
        assert!(none.unwrap().abs() < f64::EPSILON);
        assert_eq!(rates, [NEARLY * 30.0]);
    }

    /// Of 2 ms each, one in a hundred of 20 ms: every 5 ms the next two are late as well, every 15 ms none is.
    #[test]
    fn the_queue_behind_a_stall_counts() {
        let services: Vec<f64> =
            (1..=600).map(|number| if number % 100 == 50 { 20e6 } else { 2e6 }).collect();
        assert!(!would_keep(&services, 5e6, 10e6) && would_keep(&services, 15e6, 10e6));
    }

    #[test]
    fn one_late_service_in_a_hundred_is_allowed() {
        assert!(ScheduledSeries { count: 100, in_time: 99, lasted_ns: 1e9 }.holds());
        assert!(!ScheduledSeries { count: 100, in_time: 98, lasted_ns: 1e9 }.holds());
    }
}
