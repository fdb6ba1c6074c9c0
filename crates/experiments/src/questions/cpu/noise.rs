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

/// That ticks as long as the median gap would lose less than is lost: whatever else takes the rest.
fn beyond_ticks(known: &Known, cpu: u64, lost: &Found) -> Option<Statement> {
    let hertz = f64::from(*known.machine.kernel.tick_hz.value()?);
    let gap = known.found(ABOUT.name, &Point::new().with(&CPU, cpu).named(&FIGURE, GAP))?;
    // A tick takes several exits where there is a hypervisor: what is shorter than one of them is none.
    let exit = timing_overhead::measured_exit(known).map(|exit| Found::exact(exit.value, gap.dimension));
    if let Some(exit) = exit.filter(|exit| gap.ends().map_or(gap.value, |(_, high)| high) < exit.value) {
        return Some(statement!(
            " The median gap of CPU {cpu}, {gap}, is shorter than one exit to the hypervisor, {exit}, of which a tick takes several: most \
             gaps are no ticks, and what is lost is lost in the longer ones.",
            gap = gap.named("a gap"),
            exit = exit.named("an exit")
        ));
    }
    let ticks = gap.counted(hertz * 1e-3, lost.dimension);
    let is_less = ticks.ends().zip(lost.ends()).is_some_and(|((_, high), (low, _))| high < low);
    is_less.then(|| {
        statement!(
            " The tick of this kernel comes {hertz} times a second; if each took as long as the median gap of CPU {cpu}, {gap}, ticks would take {ticks}, \
             {share} of what is lost. The rest is of longer gaps, or of other interrupts, processes and the hypervisor.",
            hertz = Found::exact(hertz, Dimension::Count).named("ticks a second"),
            gap = gap.named("a gap"),
            ticks = ticks.named("time lost to ticks as long as a gap"),
            share = ticks.share_of(*lost).named("ticks as long as a gap, share of the time lost")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::machine::Fact;

    #[test]
    fn ticks_as_long_as_the_median_gap_account_for_the_loss_or_do_not() {
        let told = |lost: f64| {
            let mut machine = fathom_described::machine();
            machine.kernel.tick_hz = Fact::known(250, "a test");
            let mut known = Known::new(&machine, None);
            let at = |figure: &str| Point::new().with(&CPU, 0).named(&FIGURE, figure);
            fathom_described::plant(&mut known, &Noise, [(at(LOST), lost), (at(GAP), 8_000.0)]);
            Noise.findings(&known)[0].statement.plain()
        };
        let beyond = told(19_000.0);
        assert!(
            beyond.contains("comes {250} times a second")
                && beyond.contains("ticks would take {2000}, {0.10526315789473684} of what is lost"),
            "{beyond}"
        );
        assert!(!told(1_900.0).contains("ticks would take"), "they may be all of it");
        assert!(
            told(1_900.0).contains("prediction is of the tick alone"),
            "as on a machine that is not idle"
        );
    }
}
