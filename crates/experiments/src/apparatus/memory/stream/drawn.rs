//! Windows of a walk through memory while other threads stream: the latency of loads, and the bandwidth drawn.

use super::fleet::Streaming;
use crate::apparatus::memory::chase::kernel::UNROLLED;
use crate::apparatus::memory::chase::walk;
use fathom_core::prelude::*;
use std::cell::Cell;
use std::rc::Rc;

/// Figure: latency of a load in a window, nanoseconds.
pub const LATENCY: &str = "latency";
/// Figure: bandwidth of the other threads in a window, bytes per second.
pub const DRAWN: &str = "drawn";

/// Witnessed: bytes moved by the other threads, and a time in nanoseconds from an arbitrary origin.
const MOVED: &str = "bytes_moved_by_others";
const PASSED: &str = "nanoseconds_meanwhile";
/// Witnessed: windows, and threads that moved bytes, summed over windows.
const WINDOWS: &str = "windows";
const DRAWING: &str = "threads_drawing";
/// Stated: the CPU of the chase, and the number of CPUs of the chase and the other threads.
const CHASING_CPU: &str = "cpu_of_the_chase";
const CPUS: &str = "cpus_of_all_threads";

/// Iterations of the walk in one window: half a millisecond to one.
const WINDOW_ITERATIONS: u64 = 64;
const WINDOW_LOADS: u64 = WINDOW_ITERATIONS * UNROLLED;

/// Cumulative counts over the windows.
#[derive(Default)]
struct WindowCounts {
    windows: Cell<f64>,
    drawing: Cell<f64>,
    moved: Cell<f64>,
    passed_ns: Cell<f64>,
}

impl WindowCounts {
    fn witnesses(&self) -> [(&'static str, f64); 4] {
        [
            (WINDOWS, self.windows.get()),
            (DRAWING, self.drawing.get()),
            (MOVED, self.moved.get()),
            (PASSED, self.passed_ns.get()),
        ]
    }

    /// Adds a window in which each of the other threads moved these bytes; returns its figures.
    fn window(&self, moved: &[u64], ns: f64) -> Vec<FigureValue> {
        let add = |to: &Cell<f64>, more: f64| to.set(to.get() + more);
        let bytes = moved.iter().sum::<u64>() as f64;
        add(&self.windows, 1.0);
        add(&self.drawing, moved.iter().filter(|bytes| **bytes > 0).count() as f64);
        add(&self.moved, bytes);
        add(&self.passed_ns, ns);
        let latency = (LATENCY, ns / WINDOW_LOADS as f64);
        if moved.is_empty() { vec![latency] } else { vec![latency, (DRAWN, bytes / ns * 1e9)] }
    }
}

/// Windows of the walk: latency of loads, and bandwidth of the other threads meanwhile.
pub fn windows<'site>(
    walk: Workload<'site>,
    others: Option<Streaming>,
    stopwatch: &'site dyn Stopwatch,
) -> Result<Workload<'site>, Failure> {
    let Work::Timed { operation: mut walking, .. } = walk.work else {
        return Err(Failure::Broke("a walk that is not timed".to_owned()));
    };
    let (chasing, cpus) = cpus_of_all(others.as_ref());
    let counted = Rc::new(WindowCounts::default());
    let (reported, mut of_walk) = (Rc::clone(&counted), walk.witness);
    let bytes = move || others.as_ref().map_or_else(|| Ok(vec![]), Streaming::bytes);
    let window = move || {
        let (before, began) = (bytes()?, stopwatch.now_ns());
        walking.run(WINDOW_ITERATIONS)?;
        let (ended, after) = (stopwatch.now_ns(), bytes()?);
        let moved: Vec<u64> = after.iter().zip(&before).map(|(after, before)| after - before).collect();
        Ok(counted.window(&moved, ended - began))
    };
    let witness = move || {
        let of_walk = of_walk.as_mut().map(|count| count()).unwrap_or_default();
        of_walk.into_iter().chain(reported.witnesses()).collect()
    };
    let mut windows = Workload::figures(window).witnessed(witness);
    windows.stated = walk.stated;
    Ok(windows.stating(CHASING_CPU, chasing).stating(CPUS, cpus))
}

/// The CPU of this thread, and the number of CPUs of this and the other threads.
fn cpus_of_all(others: Option<&Streaming>) -> (f64, f64) {
    // SAFETY: returns a number.
    let chasing = unsafe { libc::sched_getcpu() };
    let mut cpus = others.map(Streaming::cpus).unwrap_or_default();
    cpus.insert(chasing as u64);
    (f64::from(chasing), cpus.len() as f64)
}

/// The claims that the loads were made, that the other threads streamed all the while as the point says, and that each thread had
/// its own CPU.
pub fn evidence(others: u64, observed: &Observed) -> Vec<Check> {
    let (windows, others) = (observed.witness(WINDOWS).unwrap_or_default(), others as f64);
    // An observation is a window of many loads.
    let of_loads = Observed { operations: windows as u64 * WINDOW_LOADS, ..observed.clone() };
    let mut checks = walk::evidence(&of_loads, walk::UNROLLED_MOST);
    checks.push(drawn_evidence(others > 0.0, observed));
    let claim = "number of the other threads that moved bytes, in the mean of all spans of time";
    checks.push(Check::within(claim, observed.ratio(DRAWING, WINDOWS), 0.95 * others, others));
    let claim = "CPUs on which the chase and the other threads ran: one each";
    checks.push(Check::equal(claim, observed.witness(CPUS), others + 1.0));
    checks
}

fn drawn_evidence(loaded: bool, observed: &Observed) -> Check {
    let claim = "GB/s that the others moved during these observations";
    let (low, high) = if loaded { (0.01, 1e4) } else { (0.0, 0.0) };
    Check::within(claim, observed.ratio(MOVED, PASSED), low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The observations of a flawless trial of a hundred windows, with one value replaced.
    fn judged(others: u64, otherwise: (&str, f64)) -> bool {
        let drawing = others as f64;
        let usual = [
            (WINDOWS, 100.0),
            (DRAWING, 100.0 * drawing),
            (MOVED, 1e9 * drawing),
            (PASSED, 1e8),
            (CPUS, 1.0 + drawing),
            (walk::LOADS, 100.0 * WINDOW_LOADS as f64),
        ];
        let seen = fathom_described::observed(100, usual.into_iter().chain([otherwise]));
        evidence(others, &seen).iter().all(|check| check.holds)
    }

    #[test]
    fn what_the_others_draw_must_be_what_the_point_says() {
        let drawn = |loaded: bool, bytes: f64| {
            drawn_evidence(loaded, &fathom_described::observed(0, [(MOVED, bytes), (PASSED, 1e6)])).holds
        };
        assert!(drawn(true, 1e7) && drawn(false, 0.0));
        assert!(!drawn(true, 0.0), "threads that stood still are no load");
        assert!(!drawn(false, 1e7), "somebody drew where nobody should");
        assert!(!drawn_evidence(true, &Observed::default()).holds, "not counted");
    }
    #[test]
    fn windows_in_which_something_else_happened_are_found_out() {
        for others in [0, 1] {
            assert!(judged(others, ("nothing", 0.0)), "{others} others");
            assert!(
                !judged(others, (walk::LOADS, 99.0 * WINDOW_LOADS as f64)),
                "{others} others: loads that were not made"
            );
            assert!(
                !judged(others, (CPUS, 3.0)),
                "{others} others: threads on CPUs of their own, but not so many"
            );
        }
        assert!(!judged(1, (CPUS, 1.0)), "the chase on the CPU of its load");
        assert!(!judged(1, (DRAWING, 80.0)), "a load that rested in a fifth of the windows");
        assert!(!judged(0, (DRAWING, 1.0)), "a load where there should be none");
    }

    #[test]
    fn a_window_gives_both_coordinates() {
        let counted = WindowCounts::default();
        let ns = 100.0 * WINDOW_LOADS as f64;
        assert_eq!(counted.window(&[], ns), [(LATENCY, 100.0)]);
        assert_eq!(counted.window(&[409_600, 0], ns), [(LATENCY, 100.0), (DRAWN, 1e9)]);
        let told = [(WINDOWS, 2.0), (DRAWING, 1.0), (MOVED, 409_600.0), (PASSED, 2.0 * ns)];
        assert_eq!(counted.witnesses(), told);
    }
}
