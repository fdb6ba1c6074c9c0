//! One core's bandwidth by Little's law: lines in flight = bytes per second × latency of one line ÷ bytes per line (Little
//! 1961, "A proof for the queuing formula L = λW").

use super::common_limit::{BesideOne, MORE, READ, TOGETHER};
use super::{Conclusion, MechanismKind, Premises, Rule, shared_path};
use fathom_core::experiment::At::{Any, Name};
use fathom_core::experiment::{Dimension, Found, Known, Selector, Statement, statement};
use fathom_core::quantity::Unit;

pub(super) const RULE: Rule = Rule {
    name: "lines_in_flight",
    condition: "one core's best read bandwidth and the latency of a load from memory were both measured",
    judge,
    points: &[READ, CHASES, LOAD, TOGETHER],
};

const CHASES: Selector = Selector::only(
    "memory/memory_parallelism",
    &[("level", Name("memory")), ("pages", Name("huge")), ("chases", Any), ("size", Any)],
);
/// The same load as one chase, by the experiment whose figures are main ones: of one operation a report has one latency.
const LOAD: Selector = Selector::only(
    "memory/load_latency",
    &[("order", Name("random cycle")), ("pages", Name("huge")), ("size", Any)],
);

fn judge(premises: &Premises) -> Option<Conclusion> {
    let known = premises.known;
    // A rate of several states has no one number of lines.
    let (point, rate) = READ.best(known).filter(|(_, rate)| !rate.is_mixture)?;
    let chases = CHASES.along("chases", known);
    let (_, chase) = chases.first().filter(|(chases, load)| *chases == 1 && !load.is_mixture)?;
    let bytes = chased(known)?;
    let size = Found::exact(bytes as f64, Dimension::Of(Unit::Bytes));
    let load = of_size(known, bytes).unwrap_or(*chase);
    let line = known.machine.line_bytes();
    let lines = in_flight(rate, load, line);
    let headline = statement!(
        "One core reads {rate} of memory ({method}): {lines} cache lines must be in flight at once, if each takes as long as a \
         dependent load from {size} of memory does, {load}.",
        rate = rate.named("best read of memory"),
        method = point.name_of("method").unwrap_or("by its fastest method"),
        lines = lines.named("lines in flight"),
        load = load.named("a dependent load from memory"),
        size = size.named("size of what is chased through")
    );
    let because = statement!(
        "Little's law is an identity, not a cause: lines in flight = bandwidth × latency ÷ line of {line} \
         bytes.{by_chases}{together}",
        by_chases = by_chases(&chases, *chase, lines),
        together = together(premises)
    );
    Some(Conclusion { kind: MechanismKind::Identity, ..Conclusion::of(headline, because) })
}

/// The size of the array that the chases run through, bytes.
fn chased(known: &Known) -> Option<u64> {
    CHASES.greatest(known)?.0.number_of("size")
}

/// A load from an array of this size, bytes; `None` if it was not measured, or is of several states.
fn of_size(known: &Known, size: u64) -> Option<Found> {
    let loads: Vec<(u64, Found)> = LOAD.along("size", known);
    loads.into_iter().find(|(of, load)| *of == size && !load.is_mixture).map(|(_, load)| load)
}

/// The number of lines in flight at a rate.
fn in_flight(rate: Found, load: Found, line: u64) -> Found {
    let each = rate.inverse(line as f64 * 1e9, load.dimension);
    Found { dimension: Dimension::Count, ..load.over(each) }
}

/// The loads that the program itself keeps in flight, by one chase and many of one experiment, which tells the same number; the rest is
/// prefetched.
fn by_chases(chases: &[(u64, Found)], one: Found, lines: Found) -> Statement {
    let quickest = chases.iter().min_by(|(_, one), (_, other)| one.value.total_cmp(&other.value));
    let Some((most, each)) = quickest.filter(|(chases, _)| *chases > 1) else { return Statement::default() };
    let own = Found { dimension: Dimension::Count, ..one.over(*each) };
    let ahead = match lines.differs_from(&own) {
        Some(true) if lines.value > own.value => {
            ": the others are prefetched, or lines in a row take less than one at random"
        }
        _ => "",
    };
    // A load of many may be quicker than one alone was; more than all are never in flight.
    if own.at_least() >= *most as f64 {
        return statement!(" Loads of {most} independent chases keep all {most} in flight{ahead}.");
    }
    if own.value >= *most as f64 || own.holds(*most as f64) {
        return statement!(
            " Loads of {most} independent chases keep at least {least} in flight, and perhaps all{ahead}.",
            least = own.lower_bound().named("least lines in flight by loads alone")
        );
    }
    statement!(
        " Loads of {most} independent chases keep {own} in flight{ahead}.",
        own = own.named("lines in flight by loads alone")
    )
}

/// Whether more cores read more than one does: if so, what limits one is its own, and its lines in flight may be that.
fn together(premises: &Premises) -> Option<Statement> {
    let beside = BesideOne::of(premises.known)?;
    let cores = beside.cores;
    let times = beside.times().named("read by all cores over one");
    // The best rate of one may be of another experiment: the ratio is to this.
    let one = beside.one.named("read by one, beside which all cores stand");
    if beside.is_more() {
        Some(statement!(
            " {cores} cores read {times} times as much as one that reads {one}: what limits the reading of one is its own, as its lines in flight \
             are, and not the memory.",
            times,
            one
        ))
    } else {
        // Where CPUs farther apart read more, that is of the path which those near each other share.
        let is_of_the_path = shared_path::judge(premises).is_some();
        (beside.is_no_more() && !is_of_the_path).then(|| {
            statement!(
                " {cores} cores read less than {most} times as much as one that reads {one}: the lines in flight of one core are not the limit of its reading.",
                most = MORE.to_string(),
                one
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::planted::{self, Plant as _};
    use serde_json::json;

    /// What is said where all cores read so much, and a load by itself takes so long by the experiment of latencies, if that measured it.
    fn conclusion(both: f64, by_itself: Option<f64>) -> Conclusion {
        let machine = planted::machine();
        let line = machine.line_bytes() as f64;
        let mut known = Known::new(&machine, None);
        // Ten gigabytes per second with a latency of 100 ns.
        READ.plant_at(&mut known, &[("method", json!("slow")), ("size", json!(1))], 2e9);
        READ.plant_at(&mut known, &[("method", json!("sse")), ("size", json!(1))], 10.0 * line / 100.0 * 1e9);
        for (chases, ns) in [(1, 100.0), (8, 20.0)] {
            CHASES.plant_at(&mut known, &[("chases", json!(chases)), ("size", json!(1))], ns);
        }
        if let Some(ns) = by_itself {
            LOAD.plant_at(&mut known, &[("size", json!(1))], ns);
        }
        for (threads, rate) in [(1, 10e9), (2, both)] {
            let free = [("method", json!("sse")), ("size", json!(1)), ("threads", json!(threads))];
            TOGETHER.plant_at(&mut known, &free, rate);
        }
        judge(&Premises { known: &known, points: &[] }).expect("a mechanism")
    }

    #[test]
    fn rate_and_latency_make_the_lines_that_are_on_their_way() {
        let conclusion = conclusion(19e9, None);
        let lines = conclusion.headline.figures().find(|figure| figure.name == "lines in flight").unwrap();
        assert!((lines.found.value - 10.0).abs() < 1e-9, "{:?}", lines.found);
        let because = conclusion.because.plain();
        assert!(
            because.contains("Loads of 8 independent chases keep {5} in flight: the others are prefetched"),
            "{because}"
        );
        assert!(
            because.contains(
                "2 cores read {1.9} times as much as one that reads {10000000000}: what limits the reading of one is its own"
            ),
            "{because}"
        );
    }

    #[test]
    fn a_load_has_the_latency_that_the_main_figure_has() {
        let conclusion = conclusion(19e9, Some(110.0));
        let value = |name: &str| {
            let mut figures = conclusion.headline.figures();
            figures.find(|figure| figure.name == name).expect(name).found.value
        };
        assert!((value("a dependent load from memory") - 110.0).abs() < 1e-9);
        assert!((value("lines in flight") - 11.0).abs() < 1e-9);
        let because = conclusion.because.plain();
        assert!(
            because.contains("Loads of 8 independent chases keep {5} in flight"),
            "one number of one experiment: {because}"
        );
    }

    #[test]
    fn a_rate_of_two_states_has_no_number_of_lines() {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        let setting = [("method", json!("sse")), ("size", json!(1))];
        let experiment = READ.point(&setting);
        let unit = Dimension::Of(Unit::BytesPerSecond);
        let mixture = Found { is_mixture: true, ..Found::bare(30e9, unit) };
        known.learn(READ.experiment, &experiment, mixture);
        CHASES.plant_at(&mut known, &[("chases", json!(1)), ("size", json!(1))], 100.0);
        assert!(judge(&Premises { known: &known, points: &[] }).is_none());
    }

    #[test]
    fn lines_in_flight_are_the_limit_of_one_core_only_where_more_cores_read_more() {
        let alike = conclusion(10e9, None).because.plain();
        assert!(alike.contains("the lines in flight of one core are not the limit"), "{alike}");
        let little_more = conclusion(11e9, None).because.plain();
        assert!(
            little_more.contains(
                "cores read less than 1.2 times as much as one that reads {10000000000}: the lines"
            ),
            "{little_more}"
        );
    }

    /// "Keep all 24 in flight" was said of 20.4 (16.0 to 27.4).
    #[test]
    fn chases_whose_interval_holds_all_of_them_keep_the_least_of_it_in_flight() {
        let load = |share, ns| fathom_described::found_within(share, ns, Dimension::Of(Unit::Nanoseconds));
        let said = |share| {
            let (one, many) = (load(share, 220.0), load(share, 10.0));
            by_chases(&[(1, one), (24, many)], one, Found::exact(50.0, Dimension::Count)).plain()
        };
        assert!(
            said(0.2).contains("keep at least {") && said(0.2).contains("and perhaps all"),
            "{}",
            said(0.2)
        );
        assert!(said(0.01).contains("keep {22} in flight"), "{}", said(0.01));
    }
}
