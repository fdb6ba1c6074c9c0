//! How many loads from memory can be in flight at once?

use super::load_latency::{self, SIZE};
use crate::apparatus::memory::backing::Backing;
use crate::apparatus::memory::chase::{cycle, walk};
use crate::apparatus::memory::pages::{PAGES, Pages};
use crate::apparatus::memory::stream::working_set::{LEVEL, Level};
use crate::expected::{core_facts, hierarchy};
use fathom_core::prelude::*;
use fathom_core::quantity::declared;

const CHASES: Parameter = Parameter::count("chases", "independent chases of dependent loads");

pub struct MemoryParallelism;

static ABOUT: About = About {
    name: "memory/memory_parallelism",
    question: "How many loads from memory can be in flight at once?",
    operation: "one load, of all chases together",
    method: "Several chases run through the same random cycle of lines on huge pages, starting at evenly spaced \
             places. Each load depends on the previous one of its own chase only, so the time per load falls with the \
             number of chases until the core has no more buffers for lines in flight, or memory is saturated. The \
             array is four times the last-level cache that the core uses, but at least 64 MiB and at most 512 MiB.",
    caveats: "Where the last-level cache is larger than 128 MiB, some of the loads hit it.",
    version: 1,
    timed: Some(TimedCode {
        of: "several chases at once",
        source: include_str!("../../apparatus/memory/chase/kernel.rs"),
        begins: "pub unsafe fn chase_many<",
    }),
    parameters: &[CHASES, PAGES, LEVEL, SIZE],
    trends: &[],
    shown: Shown::by(&[
        MainFigure::of("a load, one in flight", &[("chases", At::Least)]),
        MainFigure::of("a load, many in flight", &[("chases", At::Most)]),
    ]),
};

const NUMBERS: [u64; 8] = [1, 2, 4, 8, 12, 16, 24, 32];

/// Lines that a core is assumed to fetch concurrently, where nothing is published of its design.
const IN_FLIGHT: f64 = 12.0;

impl Experiment for MemoryParallelism {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, machine: &Machine) -> Vec<Point> {
        let size = set_bytes(machine);
        NUMBERS.map(|chases| point(chases, size)).to_vec()
    }

    fn requires(&self, point: &Point) -> Vec<Requirement> {
        vec![Requirement::MemoryBytes(point.number(&SIZE))]
    }

    fn effort(&self, point: &Point, _: &Machine) -> Effort {
        if [1, 16].contains(&point.number(&CHASES)) { Effort::Quick } else { Effort::Standard }
    }

    /// All chases use the same cycle.
    fn block(&self, point: &Point) -> Option<String> {
        Some(declared::size(point.number(&SIZE)))
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let size = point.number(&SIZE);
        let modelled =
            hierarchy::answered(Prediction::new(), known, size as f64, Pages::Huge.bytes() as u64).total();
        let basis = known.measured_or(
            "memory/load_latency",
            &load_latency::cycle_point(Pages::Huge, size),
            modelled,
            "the loads of this set as declared sizes and published latencies give them",
        );
        let core = core_facts::of(known.machine);
        let most = core.misses.map_or_else(
            || core_facts::assumed_in_flight(known.machine).to_owned(),
            |misses| format!("{misses}: {}", core.source),
        );
        let what = format!("a load, shared by as many as go on at once ({most})");
        let at_once = (point.number(&CHASES) as f64).min(core.misses.unwrap_or(IN_FLIGHT));
        Ok(Prediction::new().hardware(&what, 1.0 / at_once, basis))
    }

    fn bound(&self, _: &Point, known: &Known) -> Option<Bound> {
        let because = "no core begins more than four loads in a cycle".to_owned();
        Some(Bound::of(0.25 * known.shortest_cycle(), because))
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        Pages::ensure(point)?;
        point.ensure_variant(&LEVEL, &[Level::Memory.name()])?;
        let bytes = point.number(&SIZE) as usize;
        let cycle = site.shared.get_or_make(|| load_latency::random_cycle(bytes, Pages::Huge, site))?;
        match point.number(&CHASES) {
            1 => Ok(walk::many::<1, _>(cycle, bytes)),
            2 => Ok(walk::many::<2, _>(cycle, bytes)),
            4 => Ok(walk::many::<4, _>(cycle, bytes)),
            8 => Ok(walk::many::<8, _>(cycle, bytes)),
            12 => Ok(walk::many::<12, _>(cycle, bytes)),
            16 => Ok(walk::many::<16, _>(cycle, bytes)),
            24 => Ok(walk::many::<24, _>(cycle, bytes)),
            32 => Ok(walk::many::<32, _>(cycle, bytes)),
            chases => Err(Failure::Broke(format!("there is no kernel of {chases} chases"))),
        }
    }

    fn evidence(&self, _: &Point, observed: &Observed) -> Vec<Check> {
        let mut checks = Backing::evidence(true, observed);
        checks.push(cycle::whole(observed));
        checks.extend(walk::evidence(observed, walk::ROLLED_MOST));
        checks.extend(cycle::unpredictable(observed));
        checks
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        let latencies = known.found_along(ABOUT.name, &point(1, set_bytes(known.machine)), &CHASES);
        let alone = latencies.iter().find(|(chases, _)| *chases == 1);
        let best = latencies.iter().min_by(|(_, one), (_, other)| one.value.total_cmp(&other.value));
        let (Some((_, alone)), Some((chases, best))) = (alone, best) else { return vec![] };
        let times = alone.over(*best);
        let in_flight = match times.ends() {
            Some((_, high)) if high < *chases as f64 => {
                statement!("{times} loads are in flight at once", times = times.named("loads at once"))
            }
            Some((low, _)) if low < *chases as f64 => statement!(
                "{times} times as many in the same time; whether all {chases} were in flight at once, or fewer, this does not tell",
                times = times.named("loads in the same time, most chases over one")
            ),
            _ => statement!(
                "{times} times as many in the same time, as if all {chases} were in flight at once",
                times = times.named("loads in the same time, most chases over one")
            ),
        };
        vec![finding!(
            Question::Experiment,
            "One load from memory takes {alone}; with {chases} chases at once a load takes {best}: {in_flight}.{paying}{published}",
            alone = alone.named("load, one chase"),
            best = best.named("load, most chases"),
            in_flight,
            paying = helpful(&latencies),
            published = published(&core_facts::of(known.machine))
        )]
    }
}

/// The number of chases beyond which no more of them are shown to help, in a sentence; nothing if only the ends were measured.
fn helpful(latencies: &[(u64, Found)]) -> String {
    let Some((most, _)) = latencies.last().filter(|_| latencies.len() > 2) else { return String::new() };
    match paying(latencies) {
        all if all == *most => format!(" More chases help up to {all}, the most measured."),
        paying => format!(" Beyond {paying} chases no further gain is shown."),
    }
}

/// How many misses the design may have in flight, as published; nothing where it is not.
fn published(core: &core_facts::Core) -> String {
    core.misses.map_or_else(String::new, |misses| {
        format!(
            " Published of this design are {misses} misses of the first-level cache in flight ({}).",
            core.source
        )
    })
}

/// The number of chases up to which more of them are worthwhile: the first from which no larger number makes a load significantly quicker.
fn paying(latencies: &[(u64, Found)]) -> u64 {
    let is_best = |place: usize| {
        let (one, more) = (&latencies[place].1, &latencies[place + 1..]);
        !more.iter().any(|(_, load)| load.value < one.value && load.differs_from(one) != Some(false))
    };
    (0..latencies.len()).find(|place| is_best(*place)).map_or(1, |place| latencies[place].0)
}

fn point(chases: u64, size: u64) -> Point {
    Point::new()
        .with(&CHASES, chases)
        .named(&PAGES, Pages::Huge.name())
        .named(&LEVEL, Level::Memory.name())
        .with(&SIZE, size)
}

/// Four times the last-level cache of the measured CPU: in a random cycle the cache then holds one line in fifty of the set.
pub fn set_bytes(machine: &Machine) -> u64 {
    let own = hierarchy::declared(machine).last().map_or(16 << 20, |(_, bytes)| *bytes);
    own.saturating_mul(4).clamp(64 << 20, 512 << 20).next_power_of_two()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::machine::Fact;
    use fathom_core::statistics::{Interval, Measured};

    #[test]
    fn buffers_of_one_vendors_cores_are_not_cited_for_anothers() {
        let mut machine = fathom_described::machine();
        let cited = |machine: &Machine| core_facts::assumed_in_flight(machine).contains("Intel");
        machine.processor.vendor = Fact::known("GenuineIntel".to_owned(), "a test");
        assert!(cited(&machine));
        machine.processor.vendor = Fact::known("AuthenticAMD".to_owned(), "a test");
        assert!(!cited(&machine));
    }

    #[test]
    fn more_chases_help_up_to_the_first_number_that_none_above_it_betters_for_certain() {
        let load = |value: f64, spread: f64| {
            let interval = Some(Interval { low: value - spread, high: value + spread });
            Found::measured(Measured { value, interval }, Unit::Nanoseconds)
        };
        let of = |last: f64| {
            paying(&[
                (1, load(180.0, 5.0)),
                (8, load(22.0, 1.0)),
                (16, load(13.0, 1.5)),
                (24, load(last, 0.5)),
            ])
        };
        assert_eq!([of(12.4), of(10.0)], [16, 24]);
    }
}
