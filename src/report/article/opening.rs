//! What stands before the contents: the abstract.

use crate::report::paper::{Block, Key, Section, Text};
use crate::report::quantities;
use crate::report::run::{self, Precision};
use crate::report::words::plural;
use crate::results::{FAIR, Outcome, PointResult, Results};
use std::collections::BTreeSet;

/// The abstract: what was measured on what, for how long, how precisely, and what may be trusted.
pub(super) fn of(found: &Results) -> Section {
    let mut said = vec![measured(found), run::ending(found), Precision::of(found).sentence()];
    said.extend(run::peer(&found.run.header));
    Section::new(Key::of("abstract"), "Abstract").say(said.join(" ")).with(Block::Keys(keys(found)))
}

/// Of how many operations something came out, be it below resolution or implausible, and of how many experiments.
fn measured(found: &Results) -> String {
    let measured: Vec<&PointResult> =
        found.points.iter().filter(|point| point.outcome.observed().is_some()).collect();
    let experiments: BTreeSet<&str> = measured.iter().map(|point| point.experiment.as_str()).collect();
    format!(
        "{} of {} in {} were measured on {}.",
        quantities::count(measured.len()),
        plural(found.points.len(), "operation"),
        plural(experiments.len(), "experiment"),
        run::machine(&found.run.header.machine)
    )
}

fn keys(found: &Results) -> Vec<(String, Text)> {
    let points = &found.points;
    let count = |of: &dyn Fn(&Outcome) -> bool| points.iter().filter(|point| of(&point.outcome)).count();
    let values = count(&|outcome| matches!(outcome, Outcome::Value(_)));
    let below = count(&|outcome| matches!(outcome, Outcome::BelowResolution { .. }));
    let skipped = count(&|outcome| matches!(outcome, Outcome::Skipped { .. }));
    let precision = Precision::of(found);
    let mut keys = vec![
        (
            format!("{values} of {}", quantities::count(points.len())),
            Text::plain(format!(
                "points have a value; {below} are below resolution, {skipped} skipped, {} failed (",
                found.failures()
            ))
            .and(Text::to(&Key::of("without")))
            .and(")"),
        ),
        evidence(points),
        (
            format!("{} of {}", precision.reached, precision.values),
            format!("values within the target of {}", quantities::plus_minus(precision.target)).into(),
        ),
    ];
    keys.extend(predictions(found));
    keys
}

fn evidence(points: &[PointResult]) -> (String, Text) {
    let judged: Vec<&PointResult> =
        points.iter().filter(|point| !point.evidence.checks().is_empty()).collect();
    let holding = judged.iter().filter(|point| point.evidence_holds()).count();
    let not_judged = points.iter().filter(|point| point.evidence.not_judged().is_some()).count();
    let mut meaning = "points whose evidence all holds: the operation measured was the one named".to_owned();
    if not_judged > 0 {
        meaning += &format!("; the evidence of {not_judged} more is not judged");
    }
    (format!("{holding} of {}", judged.len()), meaning.into())
}

fn predictions(found: &Results) -> Option<(String, Text)> {
    let total = found.accuracy.total.as_ref()?;
    let meaning = format!(
        "of {} are within a factor of {FAIR} of the prediction made before measuring (",
        plural(total.judged, "value")
    );
    let meaning = Text::plain(meaning).and(Text::to(&Key::of("accuracy"))).and(")");
    Some((quantities::percent(total.fair.share), meaning))
}
