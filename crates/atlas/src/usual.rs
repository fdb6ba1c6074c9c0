//! What is usual among the machines of a family, and where a figure lies.

use super::entry::{Entry, Figure};
use super::library::Atlas;
use super::machine::{MachineFacts, MachineKind};
use super::query::Query;
use super::reduction::identity;
use fathom_engine::comparison::Margins;
use fathom_engine::record::Header;
use std::collections::BTreeSet;

/// The machines below which there is a range and no verdict: of two, a third that is like them lies outside of both with a
/// probability of two in three.
pub const FEWEST: usize = 3;

/// The machines of the atlas that are nearest to a run's: those of its processor family and kind, or else what is least unlike it.
#[derive(Debug, Clone)]
pub struct Neighbours<'a> {
    own: MachineFacts,
    machines: Vec<&'a Entry>,
    margins: Margins,
}

/// The values of neighbours for a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Usual {
    /// The least of their medians.
    pub low: f64,
    /// The greatest.
    pub high: f64,
    /// The machines that have the figure, by the same version of its method and in the same state of the core; without the one that
    /// may be the run's own.
    pub machines: usize,
    /// Where the run's figure lies.
    pub place: UsualPlace,
}

/// Where a figure lies among those of its neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsualPlace {
    /// There are too few neighbours to say.
    Few,
    /// The only one that has the figure may be the run's own machine.
    Itself,
    /// The nearest machines are of another family or kind, or their CPUs may have been at another distance: their range is no standard.
    Unlike,
    /// It has no interval, so this is unknown.
    Unknown,
    /// Below all of them by more than the margin, with its whole interval.
    Below,
    /// Among them, or not surely outside.
    Within,
    /// Above all of them by more than the margin, with its whole interval.
    Above,
}

impl UsualPlace {
    /// The name in JSON and in tables.
    pub fn name(self) -> &'static str {
        match self {
            UsualPlace::Few => "few",
            UsualPlace::Itself => "itself",
            UsualPlace::Unlike => "unlike",
            UsualPlace::Unknown => "unknown",
            UsualPlace::Below => "below",
            UsualPlace::Within => "within",
            UsualPlace::Above => "above",
        }
    }

    /// Whether it lies outside.
    pub fn is_unusual(self) -> bool {
        matches!(self, UsualPlace::Below | UsualPlace::Above)
    }
}

impl<'a> Neighbours<'a> {
    /// The neighbours of a run's machine, but for the entry that was made from this run. A processor that shows nothing of itself has
    /// none. What is emulated has none and is none: its times are the emulator's.
    pub fn of(atlas: &'a Atlas, header: &Header) -> Self {
        let own = MachineFacts::of(&header.machine);
        let name = format!("-{}", identity(header));
        let is_known = own.family().is_some();
        let is_other = |other: &&Entry| {
            let is_emulated = [own.kind, other.machine.kind].contains(&MachineKind::Emulated);
            is_known && !is_emulated && !other.id.ends_with(&name)
        };
        let others: Vec<&Entry> = atlas.machines.iter().filter(is_other).collect();
        let mut machines = nearest(&own, &others);
        if machines.len() == 1 && own.is_perhaps(&machines[0].machine) {
            // It is no standard, so the next family is nearer to one.
            let surely = others.into_iter().filter(|other| !own.is_perhaps(&other.machine));
            let next = nearest(&own, &surely.collect::<Vec<_>>());
            machines = if next.is_empty() { machines } else { next };
        }
        Neighbours { machines, own, margins: Margins::all(None) }
    }

    /// The machines.
    pub fn machines(&self) -> &[&'a Entry] {
        &self.machines
    }

    /// Whether they are of the run's processor family and kind.
    pub fn are_alike(&self) -> bool {
        let is_alike = |other: &&Entry| likeness(&self.own, &other.machine) == ALIKE;
        self.machines.first().is_some_and(is_alike)
    }

    /// Whether one of them may be the run's own machine.
    pub fn has_itself(&self) -> bool {
        self.machines.iter().any(|other| self.own.is_perhaps(&other.machine))
    }

    /// Machines like the run's, in words: `Zen 5 guests`.
    pub fn own_kind(&self) -> String {
        self.own.in_words()
    }

    /// The machines, in words: `Zen 5 guests`.
    pub fn in_words(&self) -> String {
        let kinds: BTreeSet<String> =
            self.machines.iter().map(|machine| machine.machine.in_words()).collect();
        kinds.into_iter().collect::<Vec<_>>().join(", ")
    }

    /// What is usual for a figure; `None` if no neighbour has it.
    pub fn usual(&self, query: &Query) -> Option<Usual> {
        let with = |machine: &&'a Entry| Some((*machine, first(machine, query)?));
        let known: Vec<(&Entry, [f64; 3])> = self.machines.iter().filter_map(with).collect();
        let least = |place: usize| known.iter().map(|(_, value)| value[place]).reduce(f64::min);
        let most = |place: usize| known.iter().map(|(_, value)| value[place]).reduce(f64::max);
        let (low, high) = (least(0)?, most(0)?);
        // A machine has one entry: of several that may be the run's own, one at most is.
        let is_itself = known.iter().any(|(machine, _)| self.own.is_perhaps(&machine.machine));
        let machines = known.len() - usize::from(is_itself);
        let place = match query.interval {
            _ if !self.are_alike() || query.is_of_a_distance => UsualPlace::Unlike,
            _ if machines == 0 => UsualPlace::Itself,
            _ if machines < FEWEST => UsualPlace::Few,
            None => UsualPlace::Unknown,
            Some(interval) => {
                let margin = 1.0 + self.margins.of(query.experiment);
                match () {
                    () if interval.low > most(2)? && query.value > high * margin => UsualPlace::Above,
                    () if interval.high < least(1)? && query.value < low / margin => UsualPlace::Below,
                    () => UsualPlace::Within,
                }
            }
        };
        Some(Usual { low, high, machines, place })
    }
}

/// The machines that are least unlike this one.
fn nearest<'a>(own: &MachineFacts, others: &[&'a Entry]) -> Vec<&'a Entry> {
    let most = others.iter().map(|other| likeness(own, &other.machine)).max();
    let is_nearest = |other: &&&'a Entry| Some(likeness(own, &other.machine)) == most;
    others.iter().filter(is_nearest).copied().collect()
}

/// Whether two machines have the processor's family, its maker and their kind in common: what decides first stands first.
type Likeness = [bool; 3];

const ALIKE: Likeness = [true; 3];

fn likeness(one: &MachineFacts, other: &MachineFacts) -> Likeness {
    let family = one.family();
    let (is_family, is_vendor) = (family.is_some() && family == other.family(), one.vendor == other.vendor);
    [is_family, is_family || is_vendor, one.kind == other.kind]
}

/// The first figure of a machine that the query asks for.
fn first(machine: &Entry, query: &Query) -> Option<[f64; 3]> {
    let of_it = |figure: &&Figure| figure.experiment == query.experiment;
    machine.figures.iter().filter(of_it).find_map(|figure| query.matching(figure))
}

#[cfg(test)]
mod tests {
    use super::super::entry::Validity;
    use super::super::entry::tests::{entry, figure};
    use super::*;
    use fathom_core::quantity::Unit;
    use fathom_core::statistics::Interval;
    use fathom_engine::results::CoreState;

    fn atlas(values: &[f64]) -> Atlas {
        let machine = |(place, value): (usize, &f64)| entry(&format!("zen-5-guest-{place}"), *value);
        Atlas { machines: values.iter().enumerate().map(machine).collect() }
    }

    fn neighbours(atlas: &Atlas) -> Neighbours<'_> {
        let own = MachineFacts {
            design: Some("Zen 5".to_owned()),
            kind: MachineKind::Guest,
            memory_gib: Some(8.0),
            ..MachineFacts::default()
        };
        Neighbours { own, machines: atlas.machines.iter().collect(), margins: Margins::all(None) }
    }

    fn query(value: f64) -> Query<'static> {
        Query {
            experiment: "cpu/system_call",
            version: 1,
            point: "call=getppid placement=one-cpu".to_owned(),
            role: None,
            unit: Unit::Nanoseconds,
            core: Some(CoreState::Alone),
            value,
            interval: Some(Interval { low: 0.98 * value, high: 1.02 * value }),
            is_of_a_distance: false,
        }
    }

    #[test]
    fn a_figure_is_outside_only_with_its_whole_interval_and_by_more_than_the_margin() {
        let atlas = atlas(&[100.0, 110.0, 105.0]);
        let place = |value| neighbours(&atlas).usual(&query(value)).unwrap().place;
        let (below, within, above) = (UsualPlace::Below, UsualPlace::Within, UsualPlace::Above);
        assert_eq!(
            [80.0, 96.0, 100.0, 107.0, 115.0, 130.0].map(place),
            [below, within, within, within, within, above]
        );
        let wide = Query { interval: Some(Interval { low: 100.0, high: 160.0 }), ..query(130.0) };
        assert_eq!(neighbours(&atlas).usual(&wide).unwrap().place, within, "not surely");
        let without = Query { interval: None, ..query(130.0) };
        assert_eq!(neighbours(&atlas).usual(&without).unwrap().place, UsualPlace::Unknown);
    }

    #[test]
    fn of_few_machines_there_is_a_range_and_no_verdict() {
        for values in [&[100.0][..], &[100.0, 110.0]] {
            let atlas = atlas(values);
            let usual = neighbours(&atlas).usual(&query(500.0)).unwrap();
            assert_eq!((usual.place, usual.machines, usual.low), (UsualPlace::Few, values.len(), 100.0));
        }
        assert_eq!(neighbours(&Atlas::default()).usual(&query(1.0)), None);
    }

    #[test]
    fn the_machine_itself_is_no_standard() {
        let mut atlas = atlas(&[100.0, 110.0, 105.0, 104.0]);
        let of = |atlas: &Atlas| {
            let near = neighbours(atlas);
            let usual = near.usual(&query(500.0)).unwrap();
            (near.has_itself(), usual.machines, usual.place)
        };
        assert_eq!(of(&atlas), (false, 4, UsualPlace::Above));
        atlas.machines[0].machine.memory_gib = Some(8.0);
        assert_eq!(of(&atlas), (true, 3, UsualPlace::Above), "of four that are alike one may be this one");
        atlas.machines[1].machine.memory_gib = Some(8.0);
        assert_eq!(of(&atlas), (true, 3, UsualPlace::Above), "but not two");
        atlas.machines.truncate(3);
        assert_eq!(of(&atlas), (true, 2, UsualPlace::Few));
        atlas.machines.truncate(1);
        assert_eq!(of(&atlas), (true, 0, UsualPlace::Itself));
    }

    #[test]
    fn machines_of_another_family_have_a_range_and_no_verdict() {
        let mut atlas = atlas(&[100.0, 110.0, 105.0]);
        for machine in &mut atlas.machines {
            machine.machine.design = Some("Zen 3".to_owned());
        }
        let near = neighbours(&atlas);
        let usual = near.usual(&query(500.0)).unwrap();
        assert_eq!((usual.place, usual.low, usual.machines), (UsualPlace::Unlike, 100.0, 3));
        assert_eq!(
            (near.are_alike(), near.in_words(), near.own_kind()),
            (false, "Zen 3 guests".into(), "Zen 5 guests".into())
        );
    }

    #[test]
    fn work_of_cpus_at_one_of_several_distances_has_no_verdict() {
        let atlas = atlas(&[100.0, 110.0, 105.0]);
        let far = Query { is_of_a_distance: true, ..query(500.0) };
        let usual = neighbours(&atlas).usual(&far).unwrap();
        assert_eq!((usual.place, usual.high), (UsualPlace::Unlike, 110.0));
    }

    #[test]
    fn family_goes_before_maker_and_maker_before_kind() {
        let of = |design: &str, vendor: &str, kind| MachineFacts {
            design: Some(design.to_owned()),
            vendor: Some(vendor.to_owned()),
            kind,
            ..MachineFacts::default()
        };
        let own = of("Zen 5", "AuthenticAMD", MachineKind::Guest);
        let ordered = [
            of("Zen 5", "AuthenticAMD", MachineKind::Guest),
            of("Zen 5", "AuthenticAMD", MachineKind::BareMetal),
            of("Zen 3", "AuthenticAMD", MachineKind::Guest),
            of("Zen 3", "AuthenticAMD", MachineKind::BareMetal),
            of("Ice Lake", "GenuineIntel", MachineKind::Guest),
            of("Ice Lake", "GenuineIntel", MachineKind::BareMetal),
        ];
        assert!(ordered.windows(2).all(|pair| likeness(&own, &pair[0]) > likeness(&own, &pair[1])));
        assert_eq!(likeness(&own, &ordered[0]), ALIKE);
    }

    #[test]
    fn other_methods_states_and_operations_are_not_compared() {
        let with = |change: &dyn Fn(&mut Figure)| {
            let mut atlas = atlas(&[100.0]);
            change(&mut atlas.machines[0].figures[0]);
            neighbours(&atlas).usual(&query(100.0)).map(|usual| usual.low)
        };
        assert_eq!(with(&|_| ()), Some(100.0));
        assert_eq!(with(&|figure| figure.version = 2), None);
        assert_eq!(with(&|figure| figure.point = "call=gettid placement=one-cpu".to_owned()), None);
        assert_eq!(with(&|figure| figure.unit = Unit::BytesPerSecond), None);
        assert_eq!(with(&|figure| figure.validity = Validity::Fails), None);
        assert_eq!(with(&|figure| figure.validity = Validity::SeveralStates), None);
        assert_eq!(with(&|figure| figure.core = Some("shared".to_owned())), None);
        assert_eq!(with(&|figure| figure.core = Some("mixed".to_owned())), None);
        assert_eq!(with(&|figure| figure.core = None), Some(100.0));
    }

    #[test]
    fn a_figure_of_the_shared_core_is_compared_with_such() {
        let mut atlas = atlas(&[100.0]);
        let shared = Query { core: Some(CoreState::Shared), ..query(150.0) };
        assert_eq!(neighbours(&atlas).usual(&shared), None);
        atlas.machines[0].figures[0].shared = Some([160.0, 150.0, 170.0]);
        let usual = neighbours(&atlas).usual(&shared).map(|usual| usual.low);
        assert_eq!(usual, Some(160.0));
    }

    #[test]
    fn a_role_goes_before_the_setting_that_a_machine_has_for_it() {
        let mut atlas = atlas(&[100.0]);
        atlas.machines[0].figures =
            vec![Figure { point: "size=1".to_owned(), role: Some("L2".to_owned()), ..figure(100.0) }];
        let asked =
            |role| neighbours(&atlas).usual(&Query { point: "size=2".to_owned(), role, ..query(1.0) });
        assert!(asked(Some("L2")).is_some() && asked(Some("L3")).is_none() && asked(None).is_none());
    }
}
