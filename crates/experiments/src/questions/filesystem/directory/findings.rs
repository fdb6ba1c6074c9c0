//! Findings on names: whether more of them cost more each, and what threads cost each other.

use super::names::NameTask;
use super::{ABOUT, MANY, MOST, OWN, SHARED, THREADS, USUAL, changes, point};
use fathom_core::prelude::*;
use fathom_core::quantities::plain;

pub fn findings(known: &Known) -> Vec<Finding> {
    [growth(known), threads(known)].into_iter().flatten().collect()
}

/// What a name costs in the largest directory measured, against the usual one.
fn growth(known: &Known) -> Option<Finding> {
    let time = |task, names| known.found(ABOUT.name, &point(task, (names, 1, OWN)));
    let most = [MOST, MANY].into_iter().find(|names| time(NameTask::Create, *names).is_some())?;
    let of_tasks = NameTask::ALL.into_iter().filter_map(|task| {
        let (few, many) = (time(task, USUAL)?, time(task, most)?);
        let name = task.name();
        let judged = match many.differs_from(&few) {
            Some(false) => ", not significantly different",
            _ => "",
        };
        Some(statement!(
            "{name} {few} and {many}{judged}",
            few = few.named(&format!("{name}, fewest names")),
            many = many.named(&format!("{name}, most names"))
        ))
    });
    let times = Statement::joined(of_tasks, "; ")?;
    Some(finding!(
        Question::Experiment,
        "A name costs, in a directory of {usual} and in one of {most}: {times}.",
        usual = plain(USUAL as f64),
        most = plain(most as f64),
        times
    ))
}

/// What the operations that change a directory cost with all CPUs, in one directory and in many.
fn threads(known: &Known) -> Option<Finding> {
    let most = known.points(ABOUT.name).map(|point| point.number(&THREADS)).max().filter(|most| *most > 1)?;
    let of_tasks = NameTask::ALL.into_iter().filter(|task| changes(*task)).filter_map(|task| {
        let time = |threads, directory| known.found(ABOUT.name, &point(task, (USUAL, threads, directory)));
        let (alone, own, shared) = (time(1, OWN)?, time(most, OWN)?, time(most, SHARED)?);
        let name = task.name();
        Some(statement!(
            "{name} {alone} alone, {own} in directories of their own ({apart}), {shared} in one ({together})",
            alone = alone.named(&format!("{name}, one thread")),
            own = own.named(&format!("{name}, own directories")),
            apart = own.times_as("long", alone, &format!("{name}, own directories over one thread")),
            shared = shared.named(&format!("{name}, one directory")),
            together = shared.times_as("long", alone, &format!("{name}, one directory over one thread"))
        ))
    });
    let times = Statement::joined(of_tasks, "; ")?;
    Some(finding!(
        Question::Experiment,
        "With {most} threads a name takes each of them: {times}. Threads that did not disturb each other would take as long as one \
         alone, and threads that wait for each other {most} times as long.",
        times
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(planted: &[(Point, f64)]) -> String {
        let planted =
            planted.iter().map(|(point, ns)| (point.clone(), *ns, Dimension::Of(Unit::Nanoseconds)));
        fathom_described::statements(ABOUT.name, planted, findings)
    }

    fn create(names: u64, threads: u64, directory: &str, ns: f64) -> (Point, f64) {
        (point(NameTask::Create, (names, threads, directory)), ns)
    }

    #[test]
    fn growth_is_told_of_the_largest_directory() {
        let (usual, many) = (create(USUAL, 1, OWN, 18e3), create(MANY, 1, OWN, 20e3));
        let text_of_both = text(&[usual.clone(), many.clone()]);
        assert!(text_of_both.contains("create {18000} and {20000}."), "{text_of_both}");
        let text_of_all = text(&[usual.clone(), many, create(MOST, 1, OWN, 18e3)]);
        assert!(
            text_of_all.contains("create {18000} and {18000}, not significantly different."),
            "{text_of_all}"
        );
        assert_eq!(text(&[usual]), "");
    }

    #[test]
    fn threads_are_compared_with_one_alone() {
        let all = [create(USUAL, 1, OWN, 20e3), create(USUAL, 2, OWN, 22e3), create(USUAL, 2, SHARED, 50e3)];
        let text = text(&all);
        assert!(
            text.contains("With 2 threads") && text.contains("{50000} in one ({2.5} times as long)"),
            "{text}"
        );
    }
}
