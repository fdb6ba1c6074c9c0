//! Two readings around work of known length: which forms keep the work between them (R-TIM-05).

use super::{AROUND, MEASURE, NAME, PAIR, READING};
use crate::arch::{CounterForm, FORMS, KEEPS_WORK, MULTIPLICATIONS};
use fathom_core::prelude::*;

/// How much longer a pair of this form is with the work between its readings.
fn work_between(form: &str, known: &Known) -> Option<Found> {
    let result = |measure| known.found(NAME, &Point::new().named(&READING, form).named(&MEASURE, measure));
    result(AROUND)?.beyond(result(PAIR)?)
}

/// The part of the work that a form sees though its later reading does not wait for it: its prediction has none of it.
pub fn seen_without_a_wait(point: &Point, known: &Known) -> Option<Excess> {
    let form = point.name(&READING);
    let (seen, whole) = (work_between(form, known)?, work_between(KEEPS_WORK, known)?);
    let is_seen = !waits(form) && seen.ends().is_some_and(|(low, _)| low > 0.0);
    is_seen.then(|| {
        Excess::shown_by(
            "the work itself, of which the later reading sees a part though it does not wait for it",
            statement!(
                "with the work between them two readings are {seen} further apart, where the work takes {whole}",
                seen = seen.named("work seen by a reading that does not wait"),
                whole = whole.named("work seen by readings that wait")
            ),
        )
    })
}

/// The part of the known work that each form has between its readings (report 003 says that a bare pair is not enough).
pub fn kept_between(known: &Known) -> Option<Finding> {
    let between = |CounterForm { name, .. }: &CounterForm| Some((*name, work_between(name, known)?));
    let all: Vec<(&str, Found)> = FORMS.iter().filter_map(between).collect();
    let (_, whole) = *all.iter().find(|(name, _)| *name == KEEPS_WORK)?;
    let seen = |part: &Found, name: &str| {
        let share = part.share_of(whole).named(&format!("of the work, seen by {name}"));
        statement!("`{name}` {share}", share)
    };
    let others = || all.iter().filter(|(name, _)| *name != KEEPS_WORK);
    let bare = others().filter(|(name, _)| !waits(name)).map(|(name, part)| seen(part, name));
    let waiting = others().filter(|(name, _)| waits(name)).map(|(name, part)| seen(part, name));
    let bare = Statement::joined(bare, ", ").map(|forms| {
        statement!(
            " A form that does not wait sees of that: {forms}; the rest was still executing when the counter was read.",
            forms
        )
    });
    let waiting = Statement::joined(waiting, ", ").map(|forms| {
        statement!(
            " The other forms wait until the work is done and see: {forms}; a share below 100 % is of their own cost, which overlaps \
             with the work, or of the counter's step.",
            forms
        )
    });
    Some(finding!(
        Question::Experiment,
        "{MULTIPLICATIONS} dependent multiplications lengthen a pair of `{KEEPS_WORK}` by {whole}.{bare}{waiting}",
        whole = whole.named("work seen by readings that wait"),
        bare,
        waiting
    ))
}

/// Whether the later reading waits for the instructions before it.
fn waits(reading: &str) -> bool {
    !matches!(reading, "rdtsc" | "cntvct")
}

/// The time of a pair back to back, plus the work if the later reading waits for it.
pub fn predicted(pair: Prediction, reading: &str, known: &Known) -> Prediction {
    if !waits(reading) {
        return pair;
    }
    let why = "Fog, Instruction tables, 2022: a 64-bit multiplication takes 3 cycles on current cores";
    let times = f64::from(MULTIPLICATIONS);
    pair.hardware("dependent multiplications", times, known.cycles(3.0, why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_reading_sees_of_the_work_without_waiting_is_why_it_exceeds_its_prediction() {
        let machine = fathom_described::machine();
        let said = |form: &str, around: f64| {
            let mut known = Known::new(&machine, None);
            let at = |form: &str, measure| Point::new().named(&READING, form).named(&MEASURE, measure);
            for (form, measure, ns) in [
                (form, PAIR, 20.0),
                (form, AROUND, around),
                (KEEPS_WORK, PAIR, 20.0),
                (KEEPS_WORK, AROUND, 90.0),
            ] {
                known.learn(
                    NAME,
                    &at(form, measure),
                    fathom_described::found_within(0.001, ns, Unit::Nanoseconds),
                );
            }
            seen_without_a_wait(&at(form, AROUND), &known)?.shown.map(|shown| shown.plain())
        };
        let Some(bare) = FORMS.iter().find(|form| !waits(form.name)) else { return };
        let text = said(bare.name, 60.0).expect("it sees a part");
        assert!(text.contains("{40} further apart, where the work takes {70}"), "{text}");
        assert_eq!(said(bare.name, 20.0), None, "it sees none");
    }

    #[test]
    fn a_reading_that_does_not_wait_sees_little_of_the_work() {
        let machine = fathom_described::machine();
        let mut known = Known::new(&machine, None);
        for form in FORMS {
            let around = if waits(form.name) { 90.0 } else { 25.0 };
            for (measure, value) in [(PAIR, 20.0), (AROUND, around)] {
                let point = Point::new().named(&READING, form.name).named(&MEASURE, measure);
                known.learn(NAME, &point, Found::bare(value, Unit::Nanoseconds));
            }
        }
        let text = kept_between(&known).map(|finding| finding.statement.plain());
        if FORMS.len() > 1 {
            let text = text.expect("forms are compared");
            assert!(text.contains(" by {70}.") && text.contains("{0.071") && text.contains("{1}"), "{text}");
            let (bare, waiting) = text.split_once("still executing").expect("a form that does not wait");
            assert!(bare.contains("`rdtsc`") || bare.contains("`cntvct`"), "{text}");
            assert!(!bare.contains("`rdtscp`") && waiting.contains("wait until the work is done"), "{text}");
        }
    }
}
