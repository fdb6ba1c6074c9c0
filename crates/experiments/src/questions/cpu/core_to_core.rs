//! What does it cost to hand a cache line from one core to another?

use crate::apparatus::cpu::pairs::{self, FROM, TO};
use fathom_core::machine::Nearness;
use fathom_core::prelude::*;
use fathom_core::sampling::{partner, partner_core};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub struct CoreToCore;

static ABOUT: About = About {
    name: "cpu/core_to_core",
    question: "What does it cost to hand a cache line from one core to another?",
    operation: "one hand-over of the line; a round trip is two",
    method: "Two threads, pinned to the two CPUs, take turns in writing the next number into one cache line; each \
             spins until it sees its turn. The line is newly allocated for every trial, by the CPU that begins. Every \
             pair of CPUs that this process may use is a point (a quick run measures the pairs with the first CPU). \
             With more than 16 CPUs, 120 pairs are sampled at random with the run's seed, in equal numbers from pairs \
             that share a core, a cache, a node or a package, and pairs in two packages; the first pair of each kind \
             is always included. `--thorough` measures every pair.",
    caveats: "On a virtual machine two CPUs may sometimes share a core of the host, or not run at the same time.",
    version: 1,
    timed: Some(TimedCode {
        of: "the other thread's turns",
        source: include_str!("core_to_core.rs"),
        begins: "fn answer(",
    }),
    parameters: &[FROM, TO],
    trends: &[],
    shown: Shown::by(&[]).matrix((&FROM, &TO)),
};

impl Experiment for CoreToCore {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, machine: &Machine) -> Vec<Point> {
        pairs::sweep(machine, &SweepOptions::default())
    }

    fn sweep_for(&self, machine: &Machine, options: &SweepOptions) -> Vec<Point> {
        pairs::sweep(machine, options)
    }

    fn cpus(&self, point: &Point) -> Option<(usize, usize)> {
        Some(pairs::of(point))
    }

    fn requires(&self, _: &Point) -> Vec<Requirement> {
        vec![Requirement::Cpus(2)]
    }

    fn effort(&self, point: &Point, machine: &Machine) -> Effort {
        pairs::effort(point, machine)
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let (from, to) = pairs::of(point);
        let basis = match known.machine.nearness(from, to) {
            Nearness::Core => {
                Basis::assumed(10.0, "threads of one core share its first-level cache: some tens of cycles")
            }
            Nearness::OtherPackage => Basis::published(
                150.0,
                "cores of two sockets hand a line over in 100 to 250 ns (core-to-core-latency, figures of its users)",
            ),
            _ => Basis::published(IN_ONE_SOCKET.0, IN_ONE_SOCKET.1),
        };
        Ok(Prediction::new().hardware("a modified line fetched from another core", 1.0, basis))
    }

    fn bound(&self, _: &Point, known: &Known) -> Option<Bound> {
        Some(Bound::of(
            5.0 * known.shortest_cycle(),
            "a load that another core's store must reach first takes longer than one from the own cache",
        ))
    }

    fn prepare<'site>(&self, point: &Point, _: &'site Site) -> Result<Workload<'site>, Failure> {
        let line = Arc::new(CacheLine::default());
        let theirs = Arc::clone(&line);
        partner::thread(Some(point.number(&TO) as usize), move || {
            theirs.answer();
            Ok(())
        })?;
        let mut next = 0;
        let counted = Arc::clone(&line);
        let play = move |n| {
            for _ in 0..n {
                line.0.store(next + 1, Ordering::Release);
                while line.0.load(Ordering::Acquire) != next + 2 {
                    std::hint::spin_loop();
                }
                next += 2;
            }
            Ok(())
        };
        let hand_overs = move || vec![("numbers", counted.0.load(Ordering::Acquire) as f64)];
        Ok(Workload::batched(play).per_iteration(2).whose_partner_reads_its_core().witnessed(hand_overs))
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        placed_by_host(known).into_iter().collect()
    }

    fn evidence(&self, _: &Point, observed: &Observed) -> Vec<Check> {
        vec![
            Check::witnessed(
                "numbers written into the line per hand-over claimed",
                observed,
                "numbers",
                1.0,
                1.0,
            ),
            Check::within(
                "neither side slept: voluntary switches per hand-over",
                observed.per_operation(observed.counters.voluntary_switches),
                0.0,
                0.001 + observed.others_per_operation(1.0),
            ),
        ]
    }
}

/// On a virtual machine, at which distances the looks at a line between the run's CPUs found them: its host may move them.
fn placed_by_host(known: &Known) -> Option<Finding> {
    let hand_over = between_cores_found(known).filter(|_| known.machine.is_virtual())?;
    let line = |at: &LineLooks| Found::bare(at.line_ns, hand_over.dimension);
    let whole = |count: usize| Found::exact(count as f64, Dimension::Count).named("looks at the line");
    let looks = known.line_looks.iter().map(|at| at.looks).sum();
    let distances = match known.line_looks.as_slice() {
        [] => "this run did not look at where they were".into(),
        [one] => statement!(
            "the {looks} looks over the whole run found them at one distance, so it did not move them further apart or \
             nearer (a look is fifty microseconds of turns beside whatever else the cores do, {line} for a line in the median: it tells \
             distances apart, and is no other value of this cost)",
            looks = whole(looks),
            line = line(one).named("a line, in the median of the looks")
        ),
        several => {
            let each = (1..).zip(several).map(|(distance, at)| {
                let name = format!("a line, at distance {distance} of {}", several.len());
                statement!("{line}", line = line(at).named(&name))
            });
            let each = Statement::joined(each, ", ")?;
            statement!(
                "it did so: the {looks} looks over the run found {each} for a line (the section Method has how long each)",
                looks = whole(looks),
                each
            )
        }
    };
    Some(finding!(
        Question::Experiment,
        "A hand-over takes {hand_over}. The host decides which of its cores these virtual CPUs run on, and may move them; {distances}.",
        hand_over = hand_over.named("a hand-over of a line"),
        distances
    ))
}

/// The first pair of CPUs on different cores, if there is one: what a hand-over between cores costs, for others to build on. It is
/// the first of its kind, and so in every plan.
pub fn of_two_cores(machine: &Machine) -> Option<Point> {
    let cpus = machine.allowed_cpus();
    let (first, others) = cpus.split_first()?;
    let other = others.iter().find(|other| machine.nearness(*first, **other) != Nearness::Core)?;
    Some(pairs::point((*first, *other)))
}

/// Its result in this run.
pub fn between_cores_found(known: &Known) -> Option<Found> {
    known.found(ABOUT.name, &of_two_cores(known.machine)?)
}

/// A hand-over of a line between two cores, nanoseconds: measured in this run, else published.
pub fn between_cores(known: &Known) -> Basis {
    let measured = of_two_cores(known.machine).and_then(|pair| known.measured(ABOUT.name, &pair));
    measured.unwrap_or_else(|| Basis::published(IN_ONE_SOCKET.0, IN_ONE_SOCKET.1))
}

/// A hand-over between cores of one socket, nanoseconds, and who says so.
const IN_ONE_SOCKET: (f64, &str) = (
    60.0,
    "cores of one socket hand a line over in 40 to 100 ns (core-to-core-latency, figures of its users)",
);

/// A number in a cache line of its own; aligned to two lines, for processors that fetch lines in pairs.
#[repr(align(128))]
#[derive(Default)]
struct CacheLine(AtomicU64);

impl CacheLine {
    /// The other side: answers every odd number with the next even one, until the process ends.
    fn answer(&self) {
        let mut expected = 1;
        loop {
            while self.0.load(Ordering::Acquire) != expected {
                std::hint::spin_loop();
            }
            self.0.store(expected + 1, Ordering::Release);
            partner_core::answer();
            expected += 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_looks_at_a_line_tell_whether_the_host_moved_the_cpus() {
        let told = |distances: &[(f64, f64, usize)]| {
            let mut machine = fathom_described::machine();
            machine.virtualization.hypervisor =
                fathom_core::machine::Fact::known(Some("KVM".to_owned()), "a test");
            let machine = machine;
            let mut known = Known::new(&machine, None);
            let point = of_two_cores(&machine).expect("two cores");
            fathom_described::plant(&mut known, &CoreToCore, [(point, 74.0)]);
            let look = |(line_ns, share, looks): &(f64, f64, usize)| LineLooks {
                line_ns: *line_ns,
                share: *share,
                looks: *looks,
            };
            known.line_looks = distances.iter().map(look).collect();
            placed_by_host(&known).expect("a finding").statement.plain()
        };
        assert!(told(&[]).contains("did not look at where they were"));
        let one = told(&[(82.0, 1.0, 287)]);
        assert!(
            one.contains(
                "the {287} looks over the whole run found them at one distance, so it did not move them"
            ),
            "{one}"
        );
        assert!(
            one.contains("{82} for a line in the median: it tells distances apart"),
            "of another kind: {one}"
        );
        let two = told(&[(24.0, 0.9, 200), (210.0, 0.1, 20)]);
        assert!(two.contains("the {220} looks over the run found {24}, {210} for a line"), "{two}");
    }
}
