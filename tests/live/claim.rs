//! Claims about figures of this machine: ratios within one session, with their intervals. A claim holds or is refuted by the
//! whole interval; otherwise it is open.

use crate::tier::{Outcome, Undecided, inconclusive};
use serde_json::Value;

/// Sessions in which a claim may become true: a host may spoil one of them.
const SESSIONS: usize = 3;

/// Sessions that must refute a claim which holds in none: of many intervals, each wrong in 5 of 100, one may be.
const REFUTATIONS: usize = 2;

/// A figure and its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl Figure {
    /// That of a point in a report's JSON; `None` where it has no value or no interval.
    pub fn of(point: &Value) -> Option<Self> {
        let number = |name: &str| point[name].as_f64();
        Some(Figure { value: number("median")?, low: number("low")?, high: number("high")? })
    }

    /// The median of repetitions of one session, between the least and the greatest of them.
    pub fn spanning(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        Figure { value: values[values.len() / 2], low: values[0], high: values[values.len() - 1] }
    }

    /// This figure over another of the same session. Their errors are independent: distances on the logarithmic scale add as
    /// squares.
    pub fn over(self, other: Figure) -> Figure {
        let value = self.value / other.value;
        let apart = |one: f64, two: f64| one.ln().hypot(two.ln()).exp();
        Figure {
            value,
            low: value / apart(self.value / self.low, other.high / other.value),
            high: value * apart(self.high / self.value, other.value / other.low),
        }
    }

    /// The difference to another figure of the same session.
    pub fn less(self, other: Figure) -> Figure {
        let value = self.value - other.value;
        Figure {
            value,
            low: value - (self.value - self.low).hypot(other.high - other.value),
            high: value + (self.high - self.value).hypot(other.value - other.low),
        }
    }

    /// In another unit.
    pub fn times(self, factor: f64) -> Figure {
        Figure { value: self.value * factor, low: self.low * factor, high: self.high * factor }
    }
}

/// The figure of a point in a report's JSON, or why a session has none.
pub fn value(point: Option<&Value>) -> Result<Figure, String> {
    let point = point.ok_or("the point is not in the report")?;
    Figure::of(point).ok_or_else(|| {
        let seen = [&point["parameters"], &point["outcome"], &point["reason"], &point["median"]];
        format!("no value with an interval: {}", seen.map(ToString::to_string).join(" "))
    })
}

/// What a session says of a claim.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    Holds,
    Refuted,
    Open,
}

/// A claim as one session left it.
#[derive(Debug, Clone)]
pub struct Claim {
    what: String,
    verdict: Verdict,
    seen: String,
}

/// That a figure lies between two bounds.
pub fn between(what: impl Into<String>, figure: Option<Figure>, low: f64, high: f64) -> Claim {
    let what = what.into();
    let Some(Figure { value, low: from, high: to }) = figure else {
        return Claim { what, verdict: Verdict::Open, seen: "no value".to_owned() };
    };
    let verdict = match () {
        () if low <= from && to <= high => Verdict::Holds,
        () if to < low || high < from => Verdict::Refuted,
        () => Verdict::Open,
    };
    Claim { what, verdict, seen: format!("{value:.4} ({from:.4} to {to:.4}), claimed {low} to {high}") }
}

/// That a figure is no greater than a bound.
pub fn at_most(what: impl Into<String>, figure: Option<Figure>, high: f64) -> Claim {
    between(what, figure, f64::NEG_INFINITY, high)
}

/// That a figure is no less than a bound.
pub fn at_least(what: impl Into<String>, figure: Option<Figure>, low: f64) -> Claim {
    between(what, figure, low, f64::INFINITY)
}

/// A claim that the program itself has judged.
pub fn judged(what: impl Into<String>, verdict: Verdict, seen: impl Into<String>) -> Claim {
    Claim { what: what.into(), verdict, seen: seen.into() }
}

/// Measures in sessions until every claim has held in one of them. A claim that never held and that two sessions refuted
/// fails the test; one that stayed open, and a session that has no figures, are inconclusive.
pub fn decided(session: impl Fn() -> Outcome<Vec<Claim>>) -> Outcome {
    let (mut claims, mut lacking): (Vec<Claim>, Vec<String>) = (vec![], vec![]);
    for _ in 0..SESSIONS {
        match session() {
            Ok(more) => claims.extend(more),
            Err(Undecided::Inconclusive(seen)) => lacking.push(seen),
            Err(missing) => return Err(missing),
        }
        if !claims.is_empty() && unsettled(&claims).is_empty() {
            return Ok(());
        }
    }
    let unsettled = unsettled(&claims);
    let refuted = |claim: &&Claim| with(&claims, claim, Verdict::Refuted) >= REFUTATIONS;
    let wrong: Vec<String> = unsettled.iter().copied().filter(refuted).map(words).collect();
    assert!(wrong.is_empty(), "refuted by whole intervals: {}", wrong.join("; "));
    let seen: Vec<String> = unsettled.into_iter().map(words).chain(lacking).collect();
    inconclusive(seen.join("; "))
}

/// The claims that have held in no session, each once for every session.
fn unsettled(claims: &[Claim]) -> Vec<&Claim> {
    claims.iter().filter(|claim| with(claims, claim, Verdict::Holds) == 0).collect()
}

/// In how many sessions a claim had this verdict.
fn with(claims: &[Claim], claim: &Claim, verdict: Verdict) -> usize {
    claims.iter().filter(|other| other.what == claim.what && other.verdict == verdict).count()
}

fn words(claim: &Claim) -> String {
    format!("{}: {}", claim.what, claim.seen)
}
