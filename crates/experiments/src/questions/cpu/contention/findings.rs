//! Findings on contention: what more threads do, in hand-overs of a line, and for each of them.

use super::model;
use super::{ADD, MUTEX, NAME, OBJECTS, OWN, THREADS, UNFAIRNESS, alone, of, padded};
use crate::questions::cpu::core_to_core;
use fathom_core::prelude::*;

pub fn findings(known: &Known) -> Vec<Finding> {
    let curves = OBJECTS.into_iter().filter_map(|object| curve(object, known));
    let apart = [ADD, MUTEX].into_iter().filter_map(|object| apart(object, known));
    let fair = OBJECTS.into_iter().filter_map(|object| each(object, known));
    all_objects(known).into_iter().chain(apart).chain(fair).chain(curves).collect()
}

/// Every object beside the others, with as many threads as each was measured with; `None` for fewer than two.
fn all_objects(known: &Known) -> Option<Finding> {
    let measured =
        OBJECTS.into_iter().filter_map(|object| Some((object, most(object, known)?))).collect::<Vec<_>>();
    let threads = measured.iter().map(|(_, (threads, _))| *threads).min().filter(|_| measured.len() > 1)?;
    let each = measured.into_iter().filter_map(|(object, (number, many))| {
        let one = known.found(NAME, &alone(object)).filter(|_| number == threads)?;
        Some(statement!(
            "{object} {alone}, {many}",
            object,
            alone = one.named(&format!("{object}, one thread")),
            many = many.beside(one, &format!("{object}, together"), "one thread")
        ))
    });
    let each = Statement::joined(each, "; ")?;
    Some(finding!(
        Question::Experiment,
        "How long one thread takes alone for an operation, and {threads} threads on one object together, with how many times that is: {each}.",
        each
    ))
}

/// Times per operation of all together, by the number of threads.
fn times(object: &str, known: &Known) -> Vec<(u64, Found)> {
    known.found_along(NAME, &alone(object), &THREADS)
}

fn most(object: &str, known: &Known) -> Option<(u64, Found)> {
    times(object, known).last().copied().filter(|(threads, _)| *threads > 1)
}

fn curve(object: &str, known: &Known) -> Option<Finding> {
    let times = times(object, known);
    let one = known.found(NAME, &alone(object))?;
    let (threads, many) = most(object, known)?;
    let verdict = match model::slower_from(&times) {
        Some(2) if threads == 2 => " Two threads together do less than one alone.".into(),
        Some(from) if from == threads => {
            statement!(" {threads} threads together do less than one alone.")
        }
        Some(from) => {
            statement!(" From {from} threads on, all of them together do less than one alone.")
        }
        None if many.value < one.value && many.differs_from(&one) == Some(true) => {
            " All together do more than one thread alone.".into()
        }
        None => Statement::default(),
    };
    Some(finding!(
        Question::Experiment,
        "{object}, one for all threads: one thread completes an operation every {one}; {threads} threads together complete one every \
         {many}, {ratio}.{verdict}{model}",
        object = capitalize(object),
        one = one.named(&format!("{object}, one thread")),
        many = many.named(&format!("{object}, {threads} threads")),
        ratio = many.times_as("long", one, &format!("{object}, {threads} threads over one")),
        verdict,
        model = model_of(object, &times, known)
    ).about(object))
}

fn model_of(object: &str, times: &[(u64, Found)], known: &Known) -> Option<Statement> {
    // Of a line that was handed over at two speeds there is no one number of hand-overs, and of CPUs that were moved the number of one
    // distance, which the times at the other may contradict.
    let is_one = |hand_over: &Found| !hand_over.is_mixture && known.line_looks.len() < 2;
    let hand_over = core_to_core::between_cores_found(known).filter(is_one)?;
    let model = model::of(times, hand_over)?;
    let most = times.last().map_or(2, |(threads, _)| *threads);
    let further = match model.breaks_at {
        Some((threads, time)) => statement!(
            ", which no longer describes {threads} threads: {time}",
            time = time.named(&format!("{object}, where the model breaks"))
        ),
        None if most > 2 => statement!(", which describes up to {most} threads"),
        None => Statement::default(),
    };
    let several = model.hand_overs.ends().is_some_and(|(_, high)| high < 1.0);
    let several = if several { ": a core does several operations before the line leaves it" } else { "" };
    Some(statement!(
        " A second thread adds the time of {hand_overs} hand-overs of a line between cores (cpu/core_to_core: {hand_over} \
         each){several}{further}.{states}",
        states = unlike_states(times, hand_over),
        hand_overs = model.hand_overs.named(&format!("{object}, hand-overs of a line")),
        hand_over = hand_over.named("a hand-over of a line"),
        further
    ))
}

/// That the threads' times are of no state of the core, where the hand-over's is of one.
fn unlike_states(times: &[(u64, Found)], hand_over: Found) -> &'static str {
    let are_unlike = hand_over.core.is_some() && times.iter().any(|(_, time)| time.core.is_none());
    if are_unlike {
        " The threads' times are of whatever else used their cores, that of a hand-over is of one state of them."
    } else {
        ""
    }
}

fn apart(object: &str, known: &Known) -> Option<Finding> {
    let (threads, together) = most(object, known)?;
    let apart = known.found(NAME, &padded(object, threads))?;
    Some(finding!(
        Question::Experiment,
        "With one {object} for each of {threads} threads, in lines of its own, they together complete an operation every {apart}; with \
         one for all every {together}: {ratio}.",
        together = together.named(&format!("{object} of all threads")),
        apart = apart.named(&format!("{object} of each thread")),
        ratio = together.times_as("long", apart, &format!("{object}, one for all over one for each"))
    ).about(object))
}

fn each(object: &str, known: &Known) -> Option<Finding> {
    let (threads, _) = most(object, known)?;
    let figure = |figure| known.found(NAME, &of(object, threads, figure));
    let (own, unfairness) = (figure(OWN)?, figure(UNFAIRNESS)?);
    Some(finding!(
        Question::Experiment,
        "{object}, {threads} threads: {end} {own}, their waiting included, and the thread with fewest operations of a round does \
         {unfairness} less than an equal share.",
        object = capitalize(object),
        // A median of several states is none.
        end = if own.is_of_one_state() { "half of a thread's operations end within" } else { "a thread's operations take" },
        own = own.named(&format!("{object}, for its thread")),
        unfairness = unfairness.counted(1e-6, Dimension::Share).named(&format!("{object}, unfairness"))
    ).about(object))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::questions::cpu::contention::{OPERATION, TICKET};
    use fathom_described::plant;

    fn text(planted: &[(Point, f64)], hand_over: Option<f64>) -> String {
        text_at(planted, hand_over, &[])
    }

    /// Of CPUs at so many distances, each a line's time.
    fn text_at(planted: &[(Point, f64)], hand_over: Option<f64>, lines_ns: &[f64]) -> String {
        let machine = fathom_described::machine();
        let mut known = Known::new(&machine, None);
        plant(&mut known, &super::super::CpuContention, planted.iter().cloned());
        let pair = core_to_core::of_two_cores(&machine).unwrap();
        plant(&mut known, &core_to_core::CoreToCore, hand_over.map(|ns| (pair, ns)));
        let look = |line_ns: &f64| LineLooks { line_ns: *line_ns, share: 0.5, looks: 20 };
        known.line_looks = lines_ns.iter().map(look).collect();
        findings(&known).iter().map(|finding| finding.statement.plain() + "\n").collect()
    }

    #[test]
    fn of_cpus_that_were_moved_no_number_of_hand_overs_is_claimed() {
        let planted = ticket(&[(1, 10.0), (2, 134.0)]);
        let claims =
            |lines_ns: &[f64]| text_at(&planted, Some(62.0), lines_ns).contains("hand-overs of a line");
        assert!(claims(&[62.0]) && !claims(&[62.0, 210.0]));
    }

    fn ticket(by_threads: &[(u64, f64)]) -> Vec<(Point, f64)> {
        by_threads.iter().map(|(threads, ns)| (of(TICKET, *threads, OPERATION), *ns)).collect()
    }

    #[test]
    fn the_curve_says_from_where_on_more_threads_do_less_and_what_a_hand_over_costs() {
        let text = text(&ticket(&[(1, 10.0), (2, 134.0), (4, 400.0)]), Some(62.0));
        assert!(
            text.contains(
                "an operation every {10}; 4 threads together complete one every {400}, {40} times as long."
            ) && text.contains("From 2 threads on, all of them together do less than one alone.")
                && text.contains("A second thread adds the time of {2} hand-overs")
                && text.contains("{62} each), which no longer describes 4 threads: {400}."),
            "{text}"
        );
    }

    #[test]
    fn without_a_hand_over_of_this_run_there_is_no_model() {
        let text = text(&ticket(&[(1, 10.0), (2, 134.0)]), None);
        assert!(
            text.contains("Two threads together do less than one alone.") && !text.contains("hand-over"),
            "{text}"
        );
    }

    #[test]
    fn each_thread_and_objects_of_their_own_are_told() {
        let planted = [
            (alone(MUTEX), 10.0),
            (of(MUTEX, 2, OPERATION), 100.0),
            (of(MUTEX, 2, OWN), 220.0),
            (of(MUTEX, 2, UNFAIRNESS), 5e5),
            (padded(MUTEX, 2), 5.0),
        ];
        let text = text(&planted, None);
        assert!(
            text.contains(
                "complete an operation every {5}; with one for all every {100}: {20} times as long."
            ) && text.contains("half of a thread's operations end within {220}")
                && text.contains("does {0.5} less than an equal share"),
            "{text}"
        );
    }
}
