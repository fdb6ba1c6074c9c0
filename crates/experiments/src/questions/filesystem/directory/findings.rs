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
    let most = [MOST, MANY].into_iter().find(|names| time(NameTask::Create, *names).is_some());
    let of_usual = NameTask::ALL.into_iter().filter_map(|task| Some((task, time(task, USUAL)?)));
    let of_usual = of_usual.collect::<Vec<_>>();
    let few = of_usual.iter().map(|(task, few)| {
        let name = task.name();
        statement!("{name} {few}", name, few = few.named(&format!("{name}, fewest names")))
    });
    let few = Statement::joined(few, ", ")?;
    let Some(most) = most else {
        let usual = plain(USUAL as f64);
        return Some(finding!(
            Question::Experiment,
            "A name in a directory of {usual} costs: {few}.",
            usual,
            few
        ));
    };
    let both = |(task, few): (NameTask, Found)| Some((task.name(), few, time(task, most)?));
    let of_tasks = of_usual.into_iter().filter_map(both).collect::<Vec<_>>();
    let differ = of_tasks.iter().filter(|(_, few, many)| many.differs_from(few) != Some(false));
    let many = differ.map(|(name, _, many)| {
        statement!("{name} {many}", name = *name, many = many.named(&format!("{name}, most names")))
    });
    let in_most = match Statement::joined(many.clone(), ", ") {
        Some(differ) if many.count() == of_tasks.len() => statement!(": {differ}", differ),
        Some(differ) => statement!(": {differ}; the others are not significantly different", differ),
        None => " no time is significantly different".into(),
    };
    Some(finding!(
        Question::Experiment,
        "A name in a directory of {usual} costs: {few}. In one of {most}{in_most}.",
        usual = plain(USUAL as f64),
        most = plain(most as f64),
        few,
        in_most
    ))
}

/// What the operations that change a directory cost with all CPUs, in one directory and in many, as far as either was measured.
fn threads(known: &Known) -> Option<Finding> {
    let most = known.points(ABOUT.name).map(|point| point.number(&THREADS)).max().filter(|most| *most > 1)?;
    let times = |directory| -> Vec<(&str, Found, Found)> {
        let time =
            |task, threads, directory| known.found(ABOUT.name, &point(task, (USUAL, threads, directory)));
        let tasks = NameTask::ALL.into_iter().filter(|task| changes(*task));
        let both = |task: NameTask| Some((task.name(), time(task, 1, OWN)?, time(task, most, directory)?));
        tasks.filter_map(both).collect()
    };
    let shared = times(SHARED);
    let hindered = shared.iter().filter(|(_, alone, time)| exceeds_waiting(*time, *alone, most));
    let hindered: Vec<&str> = hindered.map(|(name, ..)| *name).collect();
    let more = (!hindered.is_empty()).then(|| {
        let names = hindered.join(" and ");
        statement!("; {names} in one takes longer: sharing costs more than waiting", names)
    });
    let waiting = (!shared.is_empty())
        .then(|| statement!(" In turn they would take {most} times as long{more}.", more));
    let each = [in_place(&times(OWN), "in directories of their own"), in_place(&shared, "in one directory")];
    Some(finding!(
        Question::Experiment,
        "Each of {most} threads takes, {each}.{waiting}",
        each = Statement::joined(each.into_iter().flatten(), "; ")?,
        waiting
    ))
}

/// The times of threads in such directories, and which of them are others than those of one thread alone; `None` without any.
fn in_place(times: &[(&str, Found, Found)], place: &str) -> Option<Statement> {
    let each = times.iter().map(|(name, _, time)| {
        statement!("{name} {time}", name = *name, time = time.named(&format!("{name}, {place}")))
    });
    let each = Statement::joined(each, ", ")?;
    let judged = |(_, alone, time): &(&str, Found, Found)| {
        time.differs_from(alone).filter(|_| time.is_of_one_state() && alone.is_of_one_state())
    };
    let apart: Vec<&str> =
        times.iter().filter(|of| judged(of) == Some(true)).map(|(name, ..)| *name).collect();
    let verdict = match apart.len() {
        0 if times.iter().all(|of| judged(of).is_some()) => {
            " (as one alone: no significant difference)".to_owned()
        }
        0 => String::new(),
        number if number == times.len() => " (unlike one alone)".to_owned(),
        _ => format!(" ({} unlike one alone)", apart.join(", ")),
    };
    Some(statement!("{place}: {each}{verdict}", each))
}

/// Whether threads surely take longer in one directory than if one after the other changed it.
fn exceeds_waiting(shared: Found, alone: Found, threads: u64) -> bool {
    let of_one_state = shared.is_of_one_state() && alone.is_of_one_state();
    let ratio = shared.over(alone);
    of_one_state && ratio.is_of_one_core_state() && ratio.ends().is_some_and(|(low, _)| low > threads as f64)
}

#[cfg(test)]
mod tests {
    use super::super::Directory;
    use super::*;

    fn text(planted: &[(Point, f64)]) -> String {
        fathom_described::statements(&Directory, planted.iter().cloned(), findings)
    }

    fn create(names: u64, threads: u64, directory: &str, ns: f64) -> (Point, f64) {
        (point(NameTask::Create, (names, threads, directory)), ns)
    }

    #[test]
    fn growth_is_told_of_the_largest_directory() {
        let (usual, many) = (create(USUAL, 1, OWN, 18e3), create(MANY, 1, OWN, 20e3));
        let text_of_both = text(&[usual.clone(), many.clone()]);
        let in_many = format!("create {{18000}}. In one of {}: create {{20000}}.", plain(MANY as f64));
        assert!(text_of_both.contains(&in_many), "{text_of_both}");
        let text_of_all = text(&[usual.clone(), many, create(MOST, 1, OWN, 18e3)]);
        let in_most = plain(MOST as f64);
        let in_most = format!("create {{18000}}. In one of {in_most} no time is significantly different.");
        assert!(text_of_all.contains(&in_most), "{text_of_all}");
        assert!(text(&[usual]).contains("costs: create {18000}."));
    }

    #[test]
    fn threads_are_compared_with_one_alone() {
        let all = [create(USUAL, 1, OWN, 20e3), create(USUAL, 2, OWN, 22e3), create(USUAL, 2, SHARED, 50e3)];
        let text = text(&all);
        assert!(
            text.contains("Each of 2 threads takes, in directories of their own: create {22000}")
                && text.contains("; in one directory: create {50000} (unlike one alone). In"),
            "{text}"
        );
        assert!(
            text.contains(
                "take 2 times as long; create in one takes longer: sharing costs more than waiting."
            ),
            "{text}"
        );
    }

    #[test]
    fn both_findings_have_room_in_the_body_of_the_paper_however_much_differs() {
        const ROOM: usize = 145;
        let machine = fathom_described::machine();
        let mut known = Known::new(&machine, None);
        for task in NameTask::ALL {
            let settings = [
                (USUAL, 1, OWN, 10e3),
                (MOST, 1, OWN, 20e3),
                (USUAL, 2, OWN, 20e3),
                (USUAL, 2, SHARED, 50e3),
            ];
            let of = |(names, threads, directory, ns)| (point(task, (names, threads, directory)), ns);
            fathom_described::plant(&mut known, &Directory, settings.map(of));
        }
        let findings = findings(&known);
        // A time has a unit and an interval besides, a ratio an interval.
        let besides = |figure: &Figure| if figure.found.dimension == Dimension::Ratio { 1 } else { 2 };
        let words = |statement: &Statement| {
            statement.plain().split_whitespace().count() + statement.figures().map(besides).sum::<usize>()
        };
        let words = findings.iter().map(|finding| words(&finding.statement)).collect::<Vec<_>>();
        assert!(words.len() == 2 && words.iter().sum::<usize>() <= ROOM, "{words:?}");
    }

    #[test]
    fn threads_in_directories_of_their_own_are_told_where_nothing_else_was_measured() {
        let said = text(&[create(USUAL, 1, OWN, 20e3), create(USUAL, 2, OWN, 20.1e3)]);
        assert!(
            said.ends_with(
                "in directories of their own: create {20100} (as one alone: no significant difference).\n"
            ),
            "{said}"
        );
    }

    #[test]
    fn threads_that_only_wait_for_each_other_are_not_said_to_take_longer() {
        let shared = |ns| {
            text(&[create(USUAL, 1, OWN, 20e3), create(USUAL, 2, OWN, 20e3), create(USUAL, 2, SHARED, ns)])
        };
        assert!(shared(40.2e3).ends_with("take 2 times as long.\n"), "{}", shared(40.2e3));
        assert!(shared(30e3).ends_with("take 2 times as long.\n"), "{}", shared(30e3));
    }
}
