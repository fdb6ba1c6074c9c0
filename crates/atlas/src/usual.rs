//! What is usual among the machines of a family, and where a figure lies.

use super::entry::{Entry, Figure};
use super::library::Atlas;
use super::machine::{MachineFacts, MachineKind};
use super::query::Query;
use super::reduction::identity;
use fathom_engine::comparison::Margins;
use fathom_engine::record::Header;

/// The machines below which there is a range and no verdict: of two, a third that is like them lies outside of both with a
/// probability of two in three.
pub const FEWEST: usize = 3;

/// The machines of the atlas that are nearest to a run's: of the same processor family and kind.
#[derive(Debug, Clone)]
pub struct Neighbours<'a> {
    family: String,
    kind: MachineKind,
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
    /// The machines that have the figure, by the same version of its method and in the same state of the core.
    pub machines: usize,
    /// Where the run's figure lies.
    pub place: UsualPlace,
}

/// Where a figure lies among those of its neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsualPlace {
    /// There are too few neighbours to say.
    Few,
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
    /// The neighbours of a run's machine, but for the entry that was made from this run.
    pub fn of(atlas: &'a Atlas, header: &Header) -> Self {
        let facts = MachineFacts::of(&header.machine);
        let own = format!("-{}", identity(header));
        let family = facts.family();
        let is_near = |other: &&Entry| {
            family.is_some()
                && other.machine.family() == family
                && other.machine.kind == facts.kind
                && !other.id.ends_with(&own)
        };
        Neighbours {
            machines: atlas.machines.iter().filter(is_near).collect(),
            family: family.clone().unwrap_or_default(),
            kind: facts.kind,
            margins: Margins::all(None),
        }
    }

    /// The machines.
    pub fn machines(&self) -> &[&'a Entry] {
        &self.machines
    }

    /// Several of them, in words: `Zen 5 guests`.
    pub fn in_words(&self) -> String {
        format!("{} {}", self.family, self.kind.plural())
    }

    /// What is usual for a figure; `None` if no neighbour has it.
    pub fn usual(&self, query: &Query) -> Option<Usual> {
        let values: Vec<[f64; 3]> =
            self.machines.iter().filter_map(|machine| first(machine, query)).collect();
        let least = |place: usize| values.iter().map(|value| value[place]).reduce(f64::min);
        let most = |place: usize| values.iter().map(|value| value[place]).reduce(f64::max);
        let (low, high) = (least(0)?, most(0)?);
        let place = match query.interval {
            _ if values.len() < FEWEST => UsualPlace::Few,
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
        Some(Usual { low, high, machines: values.len(), place })
    }
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
        Neighbours {
            family: "Zen 5".to_owned(),
            kind: MachineKind::Guest,
            machines: atlas.machines.iter().collect(),
            margins: Margins::all(None),
        }
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
