//! Predictions are said before measuring: from the machine, from what others have published, and from what the same run has
//! found at points before. Never from the result itself, under whatever name.

mod published_processors;

use crate::described::planted::{Described, described, hybrid, server};
use fathom::experiment::{
    About, Basis, Check, Dimension, Experiment, Failure, Found, Ground, Known, Observed, Parameter, Point,
    Prediction, Site, Source, SweepOptions, Workload,
};
use fathom::experiments;
use fathom::machine::Machine;
use std::collections::BTreeMap;

/// Machines as unlike one another as we can describe them.
fn machines() -> Vec<(&'static str, Machine)> {
    let cpus = |count: usize| Described { affinity: (0..count).collect(), ..Described::default() };
    let fixed = |table, count| described(table, &cpus(count));
    vec![
        ("a machine of which nothing is known", crate::described::machine()),
        ("a server of two sockets", described(&server(), &cpus(128))),
        ("a hybrid laptop", described(&hybrid(), &cpus(8))),
        ("an Arm server", fixed(include_str!("../../fixtures/machine/arm.txt"), 4)),
        ("a container in a virtual machine", fixed(include_str!("../../fixtures/machine/container.txt"), 8)),
        ("a single CPU", fixed("", 1)),
    ]
}

/// Points in the order of round one.
type Plan = Vec<(&'static dyn Experiment, Point)>;

fn plan(machine: &Machine) -> Plan {
    let asked = SweepOptions { peer: true, ..SweepOptions::default() };
    let of = |experiment: &'static dyn Experiment| {
        experiment.sweep_for(machine, &asked).into_iter().map(move |point| (experiment, point))
    };
    experiments::all().flat_map(of).collect()
}

/// By point the places of all that are the same measurement, under whatever name.
fn same_measurements(plan: &Plan) -> Vec<Vec<usize>> {
    let bare = |(experiment, point): &(&'static dyn Experiment, Point)| match experiment.figure() {
        Some(figure) => (experiment.about().name, point.without(figure.name)),
        None => (experiment.about().name, point.clone()),
    };
    let keys: Vec<(&str, Point)> = plan.iter().map(bare).collect();
    let mut places: BTreeMap<&(&str, Point), Vec<usize>> = BTreeMap::new();
    for (place, key) in keys.iter().enumerate() {
        places.entry(key).or_default().push(place);
    }
    keys.iter().map(|key| places[key].clone()).collect()
}

fn found(value: f64) -> Found {
    fathom_described::found(value, Dimension::Count)
}

/// What a run finds whose results are a third above what it expects.
fn values(machine: &Machine, plan: &Plan, here: bool) -> Vec<f64> {
    let mut known = known(machine, here);
    let mut values = vec![];
    for (experiment, point) in plan {
        let expected = experiment.predict(point, &known).map_or(1000.0, |said| said.total());
        values.push(expected * 4.0 / 3.0);
        known.learn(experiment.about().name, point, found(expected * 4.0 / 3.0));
    }
    values
}

fn known(machine: &Machine, virtual_peer: bool) -> Known<'_> {
    let mut known = Known::new(machine, Some(3.1e9));
    known.virtual_peer = virtual_peer;
    known
}

/// A run so far: what it knows, and what each point's value is.
struct Run<'run> {
    plan: &'run Plan,
    values: &'run [f64],
    known: Known<'run>,
}

impl Run<'_> {
    fn learn(&mut self, place: usize, times: f64) {
        let (experiment, point) = &self.plan[place];
        self.known.learn(experiment.about().name, point, found(self.values[place] * times));
    }

    fn predict(&self, place: usize) -> Result<Prediction, String> {
        let (experiment, point) = &self.plan[place];
        experiment.predict(point, &self.known)
    }

    /// Whether a prediction is another, to the last bit, when a point's value is a thousand times more or less.
    fn moves(&mut self, prediction: usize, when: usize) -> bool {
        let before = self.predict(prediction);
        let moved = [1e3, 1e-3].into_iter().any(|times| {
            self.learn(when, times);
            self.predict(prediction) != before
        });
        self.learn(when, 1.0);
        moved
    }
}

/// Runs that know everything, as one that is taken up again, and runs that know what came before, as in round one.
fn predictions_that_move_with_themselves(machine: &Machine, plan: &Plan, here: bool) -> Vec<String> {
    let values = values(machine, plan, here);
    let mut round_one = Run { plan, values: &values, known: known(machine, here) };
    let mut resumed = Run { plan, values: &values, known: known(machine, here) };
    (0..plan.len()).for_each(|place| resumed.learn(place, 1.0));
    let mut faults = vec![];
    for (place, same) in same_measurements(plan).into_iter().enumerate() {
        let before = round_one.predict(place);
        round_one.learn(place, 1.0);
        let moved = round_one.predict(place) != before
            || same.iter().any(|other| *other <= place && round_one.moves(place, *other))
            || same.iter().any(|other| resumed.moves(place, *other));
        if moved {
            faults.push(format!("{} {}", plan[place].0.about().name, plan[place].1));
        }
    }
    faults
}

#[test]
fn no_prediction_uses_its_own_result_under_whatever_name() {
    for (number, (name, machine)) in machines().into_iter().enumerate() {
        // With a peer on a wire and with one on this machine in turn: each takes its time.
        let faults = predictions_that_move_with_themselves(&machine, &plan(&machine), number % 2 == 0);
        assert!(faults.is_empty(), "on {name} these use themselves: {faults:#?}");
    }
}

#[test]
fn a_source_that_was_measured_came_before_and_moves_the_prediction() {
    for (name, machine) in machines() {
        let plan = plan(&machine);
        let values = values(&machine, &plan, true);
        let mut found = Run { plan: &plan, values: &values, known: known(&machine, true) };
        let places: BTreeMap<(&str, &Point), usize> = plan
            .iter()
            .enumerate()
            .map(|(at, (experiment, point))| ((experiment.about().name, point), at))
            .collect();
        (0..plan.len()).for_each(|place| found.learn(place, 1.0));
        let mut measured = 0;
        for (place, (experiment, point)) in plan.iter().enumerate() {
            let who = format!("on {name}: {} {point}", experiment.about().name);
            for term in found.predict(place).map(|said| said.terms).unwrap_or_default() {
                let Source::Measured { experiment, point } = &term.source else { continue };
                let source = places.get(&(experiment.as_str(), point));
                let source =
                    *source.unwrap_or_else(|| panic!("{who} names {experiment} {point}: not in the plan"));
                assert!(source < place, "{who} stands on {experiment} {point}, which comes later");
                assert!(
                    found.moves(place, source),
                    "{who} names {experiment} {point} and does not use it: {term:?}"
                );
                measured += 1;
            }
        }
        assert!(measured > 500, "on {name} only {measured} terms stand on earlier results");
    }
}

#[test]
fn every_point_has_a_prediction_or_a_reason_and_every_term_a_source() {
    for (name, machine) in machines() {
        let plan = plan(&machine);
        let values = values(&machine, &plan, false);
        let nothing = known(&machine, false);
        let mut everything = Run { plan: &plan, values: &values, known: known(&machine, false) };
        (0..plan.len()).for_each(|place| everything.learn(place, 1.0));
        for (place, (experiment, point)) in plan.iter().enumerate() {
            let who = format!("on {name}: {} {point}", experiment.about().name);
            for said in [experiment.predict(point, &nothing), everything.predict(place)] {
                match said {
                    Ok(prediction) => has_sources(&prediction, &who),
                    Err(reason) => assert!(reason.len() > 20, "{who} says no more than: {reason}"),
                }
            }
        }
    }
}

fn has_sources(prediction: &Prediction, who: &str) {
    let total = prediction.total();
    assert!(total.is_finite() && total > 0.0, "{who}: {prediction:?}");
    for term in &prediction.terms {
        let source = match &term.source {
            Source::Machine { fact } => fact,
            Source::Published { citation } => {
                let is_our_own =
                    ["assumed", "estimate", "order of"].iter().any(|word| citation.contains(word));
                assert!(!is_our_own, "{who}: called published, and nobody has: {term:?}");
                citation
            }
            Source::Assumed { reason } => reason,
            Source::Measured { experiment, .. } => experiment,
        };
        assert!(source.trim().len() > 5, "{who}: nobody can look up {term:?}");
        assert!(!term.what.is_empty() && term.value().is_finite(), "{who}: {term:?}");
    }
}

/// An experiment that looks at its own result, or at the same one read otherwise, to show that it is found out.
struct Cheat {
    looks_at: &'static str,
}

static CHEAT: About = crate::described::about("cpu/cheat", &[]);

const READING: Parameter = Parameter::named("figure", "");

impl Experiment for Cheat {
    fn about(&self) -> &'static About {
        &CHEAT
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        ["one", "other"].map(|reading| Point::new().named(&READING, reading)).to_vec()
    }

    fn predict(&self, _: &Point, known: &Known) -> Result<Prediction, String> {
        let seen = known.measured_or(CHEAT.name, &Point::new().named(&READING, self.looks_at), 7.0, "nobody");
        Ok(Prediction::new().hardware("what was seen", 1.0, seen).software(
            "a fee",
            1.0,
            Basis::published(1.0, "nobody"),
        ))
    }

    fn figure(&self) -> Option<&'static Parameter> {
        Some(&READING)
    }

    fn prepare<'site>(&self, _: &Point, _: &'site Site) -> Result<Workload<'site>, Failure> {
        Err(Failure::Unsupported("it only looks".to_owned()))
    }

    fn evidence(&self, _: &Point, _: &Observed) -> Vec<Check> {
        vec![]
    }
}

#[test]
fn who_looks_at_the_result_is_found_out() {
    static ONE: Cheat = Cheat { looks_at: "one" };
    static NOBODY: Cheat = Cheat { looks_at: "nothing that is measured" };
    let machine = crate::described::machine();
    let plan_of = |cheat: &'static Cheat| -> Plan {
        cheat.sweep(&machine).into_iter().map(|point| (cheat as &'static dyn Experiment, point)).collect()
    };
    // The first looks at itself, the second at the same trials read otherwise.
    assert_eq!(predictions_that_move_with_themselves(&machine, &plan_of(&ONE), false).len(), 2);
    assert!(predictions_that_move_with_themselves(&machine, &plan_of(&NOBODY), false).is_empty());
}

/// The variable that names run files, separated by colons, whose machines and results are predicted from again: `FATHOM_REPLAYED_RUNS=
/// run.jsonl cargo test --test hermetic replayed -- --nocapture`.
const REPLAYED: &str = "FATHOM_REPLAYED_RUNS";

/// The shares within a factor of two by what the predictions rest on, with today's predictors and a run's own results.
fn replayed(run: &fathom::record::Run) -> Vec<(Ground, usize, usize)> {
    let results = fathom::results::Results::of(run);
    let known = results.known();
    let factor = |point: &fathom::results::PointResult| {
        let prediction = point.method().ok()?.predict(&point.point, &known).ok()?;
        Some((prediction.ground(), point.estimate()?.value / prediction.total()))
    };
    let factors: Vec<(Ground, f64)> = results.points.iter().filter_map(factor).collect();
    let of = |ground| {
        let mine = factors.iter().filter(move |(of, _)| *of == ground);
        (ground, mine.clone().filter(|(_, factor)| (0.5..=2.0).contains(factor)).count(), mine.count())
    };
    Ground::ALL.into_iter().map(of).collect()
}

#[test]
fn predictions_replayed_on_committed_runs_are_fair_by_every_ground() {
    experiments::register();
    let named = std::env::var(REPLAYED).unwrap_or_default();
    let named = named.split(':').filter(|path| !path.is_empty());
    let named = named.map(|path| (path.to_owned(), fathom::record::Run::read(path.as_ref()).unwrap()));
    let own = ["zen3-shared-quick-1.jsonl.gz", "emerald-rapids-quick.jsonl.gz"];
    let own = own.map(|name| (name.to_owned(), crate::printed_runs::read(name)));
    for (name, run) in own.into_iter().chain(named) {
        for (ground, fair, all) in replayed(&run) {
            println!("{name}: {}: {fair} of {all} within a factor of two", ground.name());
            assert!(2 * fair > all, "{name}: {}: {fair} of {all}", ground.name());
        }
    }
}
