//! Findings on competition: whether order still matters, whether more processes slow each other further, how unequal they become,
//! and whether the size of the files matters.

use super::{ALL_RANDOM, ALL_SEQUENTIAL, EACH, NAME, OTHER_FILES, PROCESSES, UNFAIRNESS, USUAL_FILE, point};
use fathom_core::prelude::*;
use fathom_core::quantity::declared;
use fathom_core::sorting;

pub fn findings(known: &Known) -> Vec<Finding> {
    let patterns = [ALL_SEQUENTIAL, ALL_RANDOM];
    let of_patterns = patterns.into_iter().flat_map(|pattern| {
        [plateau(pattern, known), fairness(pattern, known), by_file(pattern, known)].into_iter().flatten()
    });
    order_lost(known).into_iter().chain(of_patterns).collect()
}

/// A process's time per block, by the number of processes, ascending.
fn each(pattern: &str, file: u64, known: &Known) -> Vec<(u64, Found)> {
    let mut times = known.found_along(NAME, &point(pattern, EACH, file, 1), &PROCESSES);
    sorting::by_key(&mut times, |(processes, _)| *processes);
    times
}

/// The advantage of sequential order for one process alone and for the maximum number: interleaved sequences are not sequential
/// to the device (R-FS-31).
fn order_lost(known: &Known) -> Option<Finding> {
    let (sequential, random) = (each(ALL_SEQUENTIAL, USUAL_FILE, known), each(ALL_RANDOM, USUAL_FILE, known));
    let at = |processes: u64, times: &[(u64, Found)]| {
        times.iter().find(|(count, _)| *count == processes).map(|(_, time)| *time)
    };
    let most =
        sequential.iter().map(|(count, _)| *count).filter(|count| at(*count, &random).is_some()).max()?;
    let pair = |processes: u64| Some((at(processes, &random)?, at(processes, &sequential)?));
    let (first, last) = (pair(1)?, pair(most)?);
    let (alone, among) = (first.0.over(first.1), last.0.over(last.1));
    // Only an advantage that one process alone has can be lost among many.
    let helps_one = alone.ends().is_some_and(|(low, _)| low > 1.0);
    let judged = match among.value < alone.value {
        _ if !helps_one => ": that sequential order helps one process is not shown",
        _ if last.0.is_like(&last.1) => {
            ": interleaved with the others', the blocks are not sequential for the device"
        }
        true if among.differs_from(&alone) == Some(true) => {
            ": interleaved with the others', sequential order helps the device less"
        }
        _ => "",
    };
    (most > 1).then(|| {
        finding!(
            Question::Contention,
            "A block at random against a sequential one: where one process reads, {alone}; where {most} processes read, \
             {among}{judged}.",
            alone = both(first, "one process alone"),
            among = both(last, "most processes")
        )
    })
}

/// A block at random and one in order, and how many times as long the first takes.
fn both((random, sequential): (Found, Found), readers: &str) -> Statement {
    statement!(
        "{random} and {sequential}, {ratio}",
        ratio = random.times_as("long", sequential, &format!("random over sequential, {readers}")),
        random = random.named(&format!("random, {readers}")),
        sequential = sequential.named(&format!("sequential, {readers}"))
    )
}

/// The number of processes from which another one adds no time: report 001 looks for that point (R-FS-34).
fn plateau(pattern: &str, known: &Known) -> Option<Finding> {
    let times = each(pattern, USUAL_FILE, known);
    let (processes, time) = (0..times.len()).find_map(|from| first_of_plateau(&times[from..]))?;
    let (most, _) = times.last()?;
    Some(
        finding!(
            Question::Contention,
            "{pattern}: from {processes} processes to {most} a block costs the same, {time}.",
            pattern = capitalize(pattern),
            time = time.named(&format!("{pattern}, where further processes add nothing"))
        )
        .about(pattern),
    )
}

/// The first time, if at least two further ones are equal to it.
fn first_of_plateau(times: &[(u64, Found)]) -> Option<(u64, Found)> {
    let (first, rest) = times.split_first()?;
    (rest.len() >= 2 && rest.iter().all(|(_, later)| later.is_like(&first.1))).then_some(*first)
}

/// Whether the slowest process falls farther behind among many than among few.
fn fairness(pattern: &str, known: &Known) -> Option<Finding> {
    let mut deviations = known.found_along(NAME, &point(pattern, UNFAIRNESS, USUAL_FILE, 1), &PROCESSES);
    sorting::by_key(&mut deviations, |(processes, _)| *processes);
    let ((few, near), (many, far)) = (*deviations.first()?, *deviations.last()?);
    let judged = match far.differs_from(&near) {
        Some(true) if far.value > near.value => ": with more processes the difference grows",
        Some(true) => ": with more processes the difference shrinks",
        Some(false) => ": the two are not significantly different",
        None => "",
    };
    (few < many).then(|| {
        finding!(
            Question::Contention,
            "{pattern}: the slowest of {few} processes is {near} behind the mean of all, that of {many} \
             {far}{judged}.",
            pattern = capitalize(pattern),
            near = near.named(&format!("{pattern}, slowest of few")),
            far = far.named(&format!("{pattern}, slowest of many"))
        )
        .about(pattern)
    })
}

/// The same number of processes with files of other sizes (R-FS-33).
fn by_file(pattern: &str, known: &Known) -> Option<Finding> {
    let usual = each(pattern, USUAL_FILE, known);
    let compared = OTHER_FILES.into_iter().filter_map(|file| {
        let (processes, time) = *each(pattern, file, known).last()?;
        let (_, usual) = usual.iter().find(|(count, _)| *count == processes)?;
        let judged = match time.differs_from(usual) {
            Some(true) => "",
            Some(false) => ", which are not significantly different",
            None => return None,
        };
        Some(statement!(
            "with files of {file} {processes} processes take {time} a block, with those of {usual_file} \
             {usual}{judged}",
            file = declared::size(file),
            time = time.named(&format!("{pattern}, {}", declared::size(file))),
            usual_file = declared::size(USUAL_FILE),
            usual = usual.named(&format!("{pattern}, {}", declared::size(USUAL_FILE)))
        ))
    });
    let comparisons = Statement::joined(compared, "; ")?;
    Some(
        finding!(
            Question::Contention,
            "{pattern}: {comparisons}.",
            pattern = capitalize(pattern),
            comparisons
        )
        .about(pattern),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::statistics::{Interval, Measured};

    /// The findings for these times per block, each known to one percent.
    fn text_of(planted: &[(&str, &str, u64, u64, f64)]) -> String {
        let planted = planted.iter().map(|(pattern, figure, file, processes, value)| {
            (point(pattern, figure, *file, *processes), *value)
        });
        fathom_described::statements(&super::super::Contention, planted, findings)
    }

    fn curve(
        pattern: &'static str,
        times: &[(u64, f64)],
    ) -> Vec<(&'static str, &'static str, u64, u64, f64)> {
        times.iter().map(|(count, ns)| (pattern, EACH, USUAL_FILE, *count, *ns)).collect()
    }

    #[test]
    fn a_sequence_among_many_is_worth_as_much_as_the_figures_say() {
        let both = |sequential: f64| {
            let mut all = curve(ALL_SEQUENTIAL, &[(1, 20e3), (8, sequential)]);
            all.extend(curve(ALL_RANDOM, &[(1, 80e3), (8, 400e3)]));
            text_of(&all)
        };
        assert!(
            both(400e3).contains(
                "where 8 processes read, {400000} and {400000}, the two are not significantly different: interleaved with the others', the"
            ),
            "{}",
            both(400e3)
        );
        assert!(both(200e3).contains("sequential order helps the device less"), "{}", both(200e3));
        assert!(
            both(80e3).contains("where 8 processes read, {400000} and {80000}, {5} times as long."),
            "order is worth more: {}",
            both(80e3)
        );
        let equal = curve(ALL_SEQUENTIAL, &[(1, 80e3), (8, 400e3)]);
        let equal = text_of(&[equal, curve(ALL_RANDOM, &[(1, 80e3), (8, 400e3)])].concat());
        assert!(
            equal.contains("that sequential order helps one process is not shown")
                && !equal.contains("interleaved"),
            "{equal}"
        );
    }

    #[test]
    fn a_plateau_begins_where_no_later_time_differs() {
        let level = curve(ALL_SEQUENTIAL, &[(1, 20e3), (2, 60e3), (4, 100e3), (8, 100.4e3), (16, 99.8e3)]);
        assert!(
            text_of(&level)
                .contains("All sequential: from 4 processes to 16 a block costs the same, {100000}.")
        );
        let grows = curve(ALL_SEQUENTIAL, &[(1, 20e3), (2, 60e3), (4, 100e3), (8, 100.4e3), (16, 200e3)]);
        assert!(!text_of(&grows).contains("costs the same"));
        // An interval that reaches to all of them shows no difference, and no plateau.
        let wide =
            |value| Measured { value, interval: Some(Interval { low: 0.5 * value, high: 3.0 * value }) };
        let time = |ns| Found::measured(wide(ns), Unit::Nanoseconds);
        assert_eq!(first_of_plateau(&[(16, time(200e3)), (32, time(350e3)), (50, time(520e3))]), None);
    }

    #[test]
    fn the_size_of_files_and_how_far_processes_fall_apart_are_told() {
        let mut all = curve(ALL_RANDOM, &[(1, 80e3), (8, 400e3)]);
        all.push((ALL_RANDOM, EACH, 1 << 20, 8, 400.2e3));
        all.push((ALL_RANDOM, UNFAIRNESS, USUAL_FILE, 8, 10_000.0));
        all.push((ALL_RANDOM, UNFAIRNESS, USUAL_FILE, 32, 50_000.0));
        let text = text_of(&all);
        assert!(text.contains("with files of 1 MiB 8 processes take {400200} a block"), "{text}");
        assert!(text.contains("which are not significantly different"), "{text}");
        assert!(
            text.contains(
                "behind the mean of all, that of 32 {50000}: with more processes the difference grows"
            ),
            "{text}"
        );
    }
}
