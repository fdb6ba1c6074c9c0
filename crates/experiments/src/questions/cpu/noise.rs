//! How much CPU time does a running program lose to interrupts and other work?

use super::timing_overhead;
use crate::expected::virtual_exit;
use fathom_core::sorting;

use fathom_core::prelude::*;
use fathom_core::quantities;
use std::cell::Cell;
use std::rc::Rc;

const CPU: Parameter = Parameter::count("cpu", "the CPU that spins");
const FIGURE: Parameter = Parameter::named(
    "figure",
    "lost: share of time; longest: the longest gap in 8 ms; gap: the length of every gap",
);

pub struct Noise;

static ABOUT: About = About {
    name: "cpu/noise",
    question: "How much CPU time does a running program lose to interrupts and other work?",
    operation: "8 ms of a loop that only reads the clock",
    method: "A loop pinned to a CPU reads the clock as often as it can. Two readings that are further apart than ten \
             times the cost of a reading (and 150 ns) enclose a gap: an interrupt, the scheduler, another process, or \
             the hypervisor. The same loop records the share of time lost, the longest gap in each 8 ms (two timer \
             ticks at 250 Hz) and the lengths of all gaps, together with the number of interrupts and the steal time.",
    caveats: "On a virtual machine the host may cause a gap. Interruptions shorter than ten readings are not detected.",
    version: 1,
    timed: Some(TimedCode {
        of: "a spin",
        source: fathom_core::sampling::GAPS_SOURCE,
        begins: "pub fn spin<",
    }),
    parameters: &[CPU, FIGURE],
    trends: &[],
    shown: Shown::by(&[MainFigure::of(
        "share of time lost by a spinning loop",
        &[("figure", At::Name("lost"))],
    )]),
};

const LOST: &str = "lost";
const LONGEST: &str = "longest";
const GAP: &str = "gap";
const WINDOW_NS: f64 = 8e6;

/// Witness: iterations of the loop.
const LOOPS: &str = "loops";

/// Number of CPUs in a quick run: a sample on a large machine.
const QUICK_CPUS: usize = 4;

impl Experiment for Noise {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, machine: &Machine) -> Vec<Point> {
        let cpus = machine.allowed_cpus().iter();
        let point = |cpu: &usize| {
            [LOST, LONGEST, GAP].map(|figure| Point::new().with(&CPU, *cpu as u64).named(&FIGURE, figure))
        };
        cpus.flat_map(point).collect()
    }

    fn cpus(&self, point: &Point) -> Option<(usize, usize)> {
        let cpu = point.number(&CPU) as usize;
        Some((cpu, cpu))
    }

    fn effort(&self, point: &Point, _: &Machine) -> Effort {
        if point.number(&CPU) < QUICK_CPUS as u64 { Effort::Quick } else { Effort::Standard }
    }

    fn unit(&self, point: &Point) -> Unit {
        if point.name(&FIGURE) == LOST { Unit::PartsPerMillion } else { Unit::Nanoseconds }
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let hertz = known.machine.kernel.tick_hz.value().map_or(250.0, |hz| f64::from(*hz));
        let tick = "a timer interrupt of some 2 µs with its scheduler tick (order of magnitude, bare metal)";
        let each = Basis::assumed(2_000.0, tick);
        let exits = known.machine.is_virtual().then(|| virtual_exit::exit(known));
        // The share of time, parts per million, of what comes with every tick.
        let (scale, often) = match point.name(&FIGURE) {
            LOST => (hertz / 1e9 * 1e6, format!(", {} times a second", quantities::plain(hertz.round()))),
            _ => (1.0, String::new()),
        };
        let of = |basis: Basis| Basis { value: basis.value * scale, ..basis };
        let ticks = Prediction::new().software(&format!("a tick{often}"), 1.0, of(each));
        Ok(match exits {
            Some(exit) => ticks
                .software(
                    &format!("its exits to the hypervisor{often}"),
                    virtual_exit::OF_AN_INTERRUPT,
                    of(exit),
                )
                .being(TermEvent::VmExit),
            None => ticks,
        })
    }

    fn exceeded_for(&self, _: &Point, known: &Known) -> Option<Excess> {
        Some(Excess::of(taken_by_others(known.machine.is_virtual())))
    }

    fn figure(&self) -> Option<&'static Parameter> {
        Some(&FIGURE)
    }

    fn prepare<'site>(&self, _: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        let watch = site.stopwatch;
        let loops = Rc::new(Cell::new(0.0));
        let counted = Rc::clone(&loops);
        let act = move || {
            let spin = watch.spin(WINDOW_NS);
            loops.set(loops.get() + 1.0);
            let share = spin.lost_ns() / spin.lasted_ns * 1e6;
            let whole = [(LOST, share), (LONGEST, spin.longest_ns)];
            Ok(whole.into_iter().chain(spin.gaps_ns.into_iter().map(|gap| (GAP, gap))).collect())
        };
        Ok(Workload::figures(act).about_its_cpu().witnessed(move || vec![(LOOPS, counted.get())]))
    }

    fn evidence(&self, _: &Point, observed: &Observed) -> Vec<Check> {
        let claim = "the loop never slept: voluntary switches per run of the loop";
        let loops = observed.witness(LOOPS).filter(|loops| *loops > 0.0);
        let switches = loops.map(|loops| observed.counters.voluntary_switches as f64 / loops);
        vec![Check::within(claim, switches, 0.0, 0.5)]
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        let mut lost = known.found_along(ABOUT.name, &Point::new().named(&FIGURE, LOST), &CPU);
        sorting::by_number(&mut lost, |(_, share)| -share.value);
        let Some((cpu, most)) = lost.first() else { return vec![] };
        let apart = lost.get(1).is_none_or(|(_, second)| most.differs_from(second) == Some(true));
        let most_lost = most.named("time lost, the most");
        let shares = match lost.last().filter(|_| !apart) {
            None => statement!("CPU {cpu} loses the largest share of its time: {most_lost}", most_lost),
            Some((_, least)) => {
                let least_lost = least.named("time lost, the least");
                statement!(
                    "Of {cpus} CPUs, the one that loses least of its time loses {least_lost}, the one that loses most {most_lost}: no \
                     difference shows",
                    cpus = lost.len(),
                    least_lost,
                    most_lost
                )
            }
        };
        let beyond = beyond_ticks(known, *cpu, most);
        let unpredicted = unpredicted(known.machine.is_virtual());
        vec![finding!(Question::Experiment, "{shares}.{beyond}{unpredicted}", shares, beyond)]
    }
}

/// What the prediction has not: it knows the tick, and nothing of others.
fn unpredicted(is_virtual: bool) -> String {
    format!(
        " The prediction is of the tick alone, with its exits to the hypervisor where there is one, as if nothing else ran; above it comes {}.",
        taken_by_others(is_virtual)
    )
}

fn taken_by_others(is_virtual: bool) -> &'static str {
    if is_virtual {
        "what other work on this machine and its host take, which cannot be predicted"
    } else {
        "what other work on this machine takes, which cannot be predicted"
    }
}

/// What each tick would take if nothing else took anything: the most that a tick takes. Gaps are of whatever comes, so that no gap, nor their
/// median, is known to be a tick's.
fn beyond_ticks(known: &Known, cpu: u64, lost: &Found) -> Option<Statement> {
    let hertz = f64::from(*known.machine.kernel.tick_hz.value()?);
    let of = |figure| known.found(ABOUT.name, &Point::new().with(&CPU, cpu).named(&FIGURE, figure));
    let gap = of(GAP)?;
    // A tick takes several exits where there is a hypervisor: what is shorter than one of them is none.
    let exit = timing_overhead::measured_exit(known).map(|exit| Found::exact(exit.value, gap.dimension));
    let exit = exit.filter(|exit| gap.upper_end() < exit.value);
    let are_no_ticks = exit.map(|exit| {
        statement!(
            " The median gap of CPU {cpu}, {gap}, is shorter than one exit to the hypervisor, {exit}, of which a tick takes several: most \
             gaps are no ticks, and what is lost is lost in the longer ones.",
            gap = gap.named("a gap"),
            exit = exit.named("an exit")
        )
    });
    let longest = of(LONGEST).map(|longest| {
        statement!(
            "; the longest gap of each {window} takes {longest}",
            window = Found::exact(WINDOW_NS, gap.dimension).named("a run of the loop"),
            longest = longest.named("the longest gap")
        )
    });
    Some(statement!(
        "{are_no_ticks} The tick of this kernel comes {hertz} times a second; were all that CPU {cpu} loses the ticks', each would take {each}{longest}.",
        are_no_ticks,
        hertz = Found::exact(hertz, Dimension::Count).named("ticks a second"),
        each = lost.counted(1e3 / hertz, gap.dimension).named("a tick, if nothing else takes time"),
        longest
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::machine::Fact;

    #[test]
    fn a_tick_takes_at_most_all_that_is_lost() {
        let said = |lost: f64, gap: f64| {
            let mut machine = fathom_described::machine();
            machine.kernel.tick_hz = Fact::known(250, "a test");
            let mut known = Known::new(&machine, None);
            let at = |figure: &str| Point::new().with(&CPU, 0).named(&FIGURE, figure);
            let planted = [(at(LOST), lost), (at(LONGEST), 90_000.0), (at(GAP), gap)];
            fathom_described::plant(&mut known, &Noise, planted);
            Noise.findings(&known)[0].statement.plain()
        };
        let most = said(20_000.0, 8_000.0);
        assert!(
            most.contains(
                "comes {250} times a second; were all that CPU 0 loses the ticks', each would take {80000}; the longest gap of each {8000000} \
                 takes {90000}."
            ),
            "{most}"
        );
        assert!(!said(20_000.0, 400.0).contains("median gap"), "nobody knows which gaps are ticks'");
        assert!(most.contains("prediction is of the tick alone"), "as on a machine that is not idle");
    }
}
