//! Findings on waiting: from which length on sleeping takes less, what it adds, and what further calls take.

use super::{
    ABOUT, CALL, CPU_TIME, FUTEX, INHERITING, LATENCY, LENGTHS, REQUEUE, SPIN, SpinOrSleep, USUAL, at,
    spins_in_the_kernel,
};
use fathom_core::prelude::*;

pub fn findings(known: &Known) -> Vec<Finding> {
    [break_even(known), latency(known), spun_by_length(known), further(known)].into_iter().flatten().collect()
}

fn result(way: &str, length: u64, figure: &str, known: &Known) -> Option<Found> {
    known.found(ABOUT.name, &at(way, length, figure))
}

/// The CPU time of a wait asleep, of the wait whose length is nearest to its own CPU time: a wait as long as that is the one from which
/// sleeping takes less. The time grows with the wait, and a longer wait tells less of it. Of several that are about as near, the one that
/// is known best. `None` if sleeping surely takes less at no length.
pub fn sleeping_wins_from(known: &Known) -> Option<(u64, Found)> {
    let all =
        LENGTHS.into_iter().filter_map(|length| Some((length, result(FUTEX, length, CPU_TIME, known)?)));
    let all: Vec<(u64, Found)> = all.collect();
    let wins = |(length, time): &(u64, Found)| time.ends().is_some() && most(time) < *length as f64;
    all.iter().find(|wait| wins(wait))?;
    let apart = |(length, time): &(u64, Found)| (*length as f64 / time.value).ln().abs();
    let width = |(_, time): &(u64, Found)| time.ends().map_or(f64::INFINITY, |(low, high)| high / low);
    let nearest = all.iter().map(apart).fold(f64::INFINITY, f64::min);
    let near = all.iter().filter(|wait| apart(wait) <= nearest + AS_NEAR.ln());
    near.min_by(|one, other| width(one).total_cmp(&width(other))).copied()
}

/// The least that a figure may be, in any of its states.
fn least(of: &Found) -> f64 {
    of.in_each_state().iter().map(Found::at_least).fold(f64::INFINITY, f64::min)
}

/// The most that a figure may be, in any of its states.
fn most(of: &Found) -> f64 {
    of.in_each_state().iter().map(Found::upper_end).fold(f64::NEG_INFINITY, f64::max)
}

/// The factor up to which one length is as near to its CPU time as another.
const AS_NEAR: f64 = 1.5;

fn break_even(known: &Known) -> Option<Finding> {
    let Some((length, time)) = sleeping_wins_from(known) else {
        let (length, time) = LENGTHS
            .into_iter()
            .filter_map(|length| Some((length, result(FUTEX, length, CPU_TIME, known)?)))
            .next_back()?;
        return Some(finding!(
            Question::Experiment,
            "A wait of {length} takes {time} of CPU time asleep: spinning takes no more at any length measured.",
            length = of_length(length),
            time = time.named("CPU time of a wait asleep")
        ));
    };
    // Of a wait asleep that takes times which are not all known there is no length.
    if time.has_unknown_states() {
        return None;
    }
    let sooner = spinning_answers_sooner(known).unwrap_or_default();
    if let Some(range) = beyond_what_is_measured(&time, known) {
        return Some(finding!(
            Question::Experiment,
            "Sleeping takes less CPU time than spinning {range}: a wait asleep (of {length}) takes {time} of both threads together, \
             while one spent spinning uses as much as it lasts.{sooner}",
            range,
            length = of_length(length),
            time = time.named("CPU time of a wait asleep"),
            sooner
        ));
    }
    Some(finding!(
        Question::Experiment,
        "Sleeping takes less CPU time than spinning in waits longer than {time}: that is what both threads together use for a wait \
         asleep (of {length}), while a wait spent spinning uses as much as it lasts.{sooner}",
        length = of_length(length),
        time = time.named("CPU time of a wait asleep"),
        sooner
    ))
}

/// At which lengths sleeping takes less, if it surely does at all that were measured: what of shorter ones holds, nothing shows.
fn beyond_what_is_measured(time: &Found, known: &Known) -> Option<Statement> {
    let asleep = |length| Some((length, result(FUTEX, length, CPU_TIME, known)?));
    let measured: Vec<(u64, Found)> = LENGTHS.into_iter().filter_map(asleep).collect();
    let (shortest, _) = *measured.first()?;
    let is_less = |(length, time): &(u64, Found)| most(time) < *length as f64;
    let is_beyond = most(time) < shortest as f64 && measured.iter().all(is_less);
    is_beyond.then(|| {
        if let [_] = measured.as_slice() {
            return "at the one length measured".into();
        }
        statement!("at every length measured, from {shortest} on", shortest = of_length(shortest))
    })
}

/// That the answer of a spinning waiter comes sooner after each wait, where it surely does.
fn spinning_answers_sooner(known: &Known) -> Option<&'static str> {
    let both = |length| Some([SPIN, FUTEX].map(|way| result(way, length, LATENCY, known)));
    let all: Vec<[Found; 2]> =
        LENGTHS.into_iter().filter_map(both).filter_map(|[spun, slept]| Some([spun?, slept?])).collect();
    let is_sooner = !all.is_empty() && all.iter().all(|[spun, slept]| most(spun) < least(slept));
    is_sooner.then_some(match all.as_slice() {
        [_] => " The answer of a spinning waiter comes sooner.",
        _ => " The answer of a spinning waiter comes sooner at every length measured.",
    })
}

/// How late a spinning waiter answers after the shortest and the longest wait, if it is surely later after the longest.
fn spun_by_length(known: &Known) -> Option<Finding> {
    let [short, .., long] = LENGTHS;
    let [first, last] = [short, long].map(|length| result(SPIN, length, LATENCY, known));
    let (first, last) = (first?, last?);
    let is_later = first.is_of_one_state() && last.is_of_one_state() && last.value > first.value;
    let is_certain = last.differs_in_one_core_state(&first) == Some(true);
    (is_later && is_certain).then(|| {
        finding!(
            Question::Experiment,
            "A spinning waiter answers later after a longer wait: {first} after {short}, {last} after {long}.",
            first = first.named("latency spinning, shortest wait"),
            short = of_length(short),
            last = last.named("latency spinning, longest wait"),
            long = of_length(long)
        )
    })
}

fn of_length(length: u64) -> Figure {
    let name = format!("the length of a wait of {length} ns");
    Found::exact(length as f64, Unit::Nanoseconds).named(&name)
}

fn latency(known: &Known) -> Option<Finding> {
    let of = |way, figure| result(way, USUAL, figure, known);
    let (asleep, spun, call) = (of(FUTEX, LATENCY)?, of(SPIN, LATENCY)?, of(FUTEX, CALL)?);
    if let Some(by_length) = latency_by_length(known) {
        return Some(finding!(
            Question::Experiment,
            "A sleeping waiter answers {by_length}; a spinning one answers {spun} after a wait of {usual}. Waking the sleeper costs the \
             other thread {call}.",
            by_length,
            spun = spun.named("latency spinning"),
            usual = of_length(USUAL),
            call = call.named("the call that wakes")
        ));
    }
    let later = match asleep.beyond(spun) {
        Some(later) => statement!("sleeping adds {later}", later = later.named("latency that sleeping adds")),
        None => "sleeping adds nothing significant".into(),
    };
    Some(finding!(
        Question::Experiment,
        "A sleeping waiter answers {asleep} after the end of its wait, a spinning one {spun} after it: {later}. Waking the \
         sleeper costs the other thread {call}.",
        asleep = asleep.named("latency asleep"),
        spun = spun.named("latency spinning"),
        later,
        call = call.named("the call that wakes")
    ))
}

/// The latency asleep after the shortest, the middle and the longest wait, if it surely rises from the first to the last.
fn latency_by_length(known: &Known) -> Option<Statement> {
    let [short, middle, long] = LENGTHS.map(|length| result(FUTEX, length, LATENCY, known));
    let [short, middle, long] = [short?, middle?, long?];
    let rises = long.value > short.value && long.differs_in_one_core_state(&short) == Some(true);
    let of_one_state = [short, middle, long].iter().all(Found::is_of_one_state);
    let [first, second, last] = LENGTHS.map(of_length);
    (rises && of_one_state).then(|| {
        statement!(
            "{short} after the end of a wait of {first}, {middle} of {second} and {long} of {last}, {ratio} times as late after the \
             longest as after the shortest",
            short = short.named("latency asleep, shortest wait"),
            first,
            middle = middle.named("latency asleep"),
            second,
            long = long.named("latency asleep, longest wait"),
            last,
            ratio = long.over(short).named("latency asleep, longest wait over shortest")
        )
    })
}

fn further(known: &Known) -> Option<Finding> {
    let of = |way, figure| result(way, USUAL, figure, known);
    let (moved, inherited) = (of(REQUEUE, CALL)?, of(INHERITING, LATENCY)?);
    let (call, latency) = (of(FUTEX, CALL)?, of(FUTEX, LATENCY)?);
    Some(finding!(
        Question::Experiment,
        "Moving a waiter to another futex takes {moved}, and waking it {call}. A thread that waits in the kernel for a mutex with \
         priority inheritance has it {inherited} after it was given back, and one that sleeps on a futex answers after {latency}: \
         {ratio}.{spins}",
        moved = moved.named("a waiter moved"),
        call = call.named("a waiter woken"),
        inherited = inherited.named("latency, PI mutex"),
        latency = latency.named("latency, futex"),
        ratio = inherited.times_as("long", latency, "PI mutex over futex"),
        spins = if spins_in_the_kernel(known.machine) { SPINS } else { "" }
    ))
}

const SPINS: &str = " Since Linux 5.15 a waiter for such a mutex spins in the kernel as long as its owner runs, so that nobody has to be woken.";

/// Why a CPU that was idle for as long is woken later than predicted, where a waiter that a futex wakes after that time is as well: both
/// predictions have the same wake-up.
pub fn woken_after(idle_ns: u64, known: &Known) -> Option<Excess> {
    let waiter = at(FUTEX, idle_ns, LATENCY);
    let late = known.found(ABOUT.name, &waiter)?;
    let predicted = SpinOrSleep.predict(&waiter, known).ok()?.total();
    let is_later = late.ends().is_some_and(|(low, _)| low > predicted);
    is_later.then(|| {
        Excess::shown_by(
            LONGER_AFTER,
            statement!(
                "a waiter that a futex wakes after {idle} is {late} late, where {predicted} is predicted in the same way",
                idle = Found::exact(idle_ns as f64, late.dimension).named("the time for which the waiter was idle"),
                late = late.named("a waiter's wake-up after that time"),
                predicted = Found::exact(predicted, late.dimension).named("the same, predicted")
            ),
        )
    })
}

/// The same of a waiter, where the wake-up is shown to take longer than after the shortest wait.
pub fn longer_after(length: u64, known: &Known) -> Option<Excess> {
    let late = |length| known.found(ABOUT.name, &at(FUTEX, length, LATENCY));
    let (short, long) = (late(LENGTHS[0])?, late(length)?);
    long.beyond(short)?;
    Some(Excess::shown_by(
        LONGER_AFTER,
        statement!(
            "after {idle} of idling a waiter is {short} late, after {length} {long}",
            idle = Found::exact(LENGTHS[0] as f64, short.dimension).named("the shortest wait"),
            short = short.named("a waiter's wake-up after the shortest wait"),
            length = Found::exact(length as f64, long.dimension).named("the wait"),
            long = long.named("a waiter's wake-up after the wait")
        ),
    ))
}

const LONGER_AFTER: &str =
    "the wake-up of a CPU that was idle for so long, which takes longer than the prediction has for it";

#[cfg(test)]
mod tests {
    use super::*;

    fn text(planted: &[(Point, f64)]) -> String {
        fathom_described::statements(&SpinOrSleep, planted.iter().cloned(), findings)
    }

    #[test]
    fn sleeping_wins_from_the_time_that_it_takes_itself() {
        let cpu = |length, ns| (at(FUTEX, length, CPU_TIME), ns);
        let won = text(&[cpu(10_000, 12_000.0), cpu(100_000, 15_000.0), cpu(1_000_000, 20_000.0)]);
        assert!(won.contains("in waits longer than {12000}") && won.contains("(of {10000})"), "{won}");
        let at_once = text(&[cpu(10_000, 4_000.0), cpu(100_000, 5_000.0)]);
        let measured = "at every length measured, from {10000} on: a wait asleep (of {10000}) takes {4000}";
        assert!(at_once.contains(measured) && !at_once.contains("longer than"), "{at_once}");
        let never = text(&[cpu(10_000, 20_000.0)]);
        assert!(never.contains("no more at any length measured"), "{never}");
    }

    #[test]
    fn of_a_wait_asleep_that_takes_two_times_there_are_two_lengths() {
        let machine = fathom_described::machine();
        let said = |has_more_states, spun: f64| {
            let mut known = Known::new(&machine, None);
            let found = |ns| fathom_described::found_within(0.01, ns, Unit::Nanoseconds);
            let states = Some([13_400.0, 8_840.0].map(|ns| found(ns).measured));
            let time = Found { is_mixture: true, states, has_more_states, ..found(13_400.0) };
            known.learn(ABOUT.name, &at(FUTEX, USUAL, CPU_TIME), time);
            known.learn(ABOUT.name, &at(FUTEX, USUAL, LATENCY), found(20_000.0));
            known.learn(ABOUT.name, &at(SPIN, USUAL, LATENCY), found(spun));
            break_even(&known).map(|finding| finding.statement.plain())
        };
        let text = said(false, 120.0).expect("both are known");
        assert!(
            text.contains("at the one length measured: a wait asleep (of {100000}) takes {13400}"),
            "{text}"
        );
        // Of one length it was "at every length measured".
        assert!(text.ends_with(" The answer of a spinning waiter comes sooner."), "{text}");
        assert!(
            said(false, 20_100.0).is_some_and(|text| text.ends_with("as it lasts.")),
            "it may be no sooner"
        );
        assert_eq!(said(true, 120.0), None, "there are others");
    }

    #[test]
    fn a_spinning_waiter_is_later_after_a_longer_wait_only_where_that_is_certain() {
        let spun = |ns| text(&[(at(SPIN, LENGTHS[0], LATENCY), 95.0), (at(SPIN, LENGTHS[2], LATENCY), ns)]);
        assert!(spun(140.0).contains("{95} after {10000}, {140} after {1000000}."), "{}", spun(140.0));
        assert_eq!(spun(95.1), "");
    }

    #[test]
    fn of_waits_as_near_to_their_time_the_one_that_is_known_best_tells_it() {
        let machine = fathom_described::machine();
        let from = |reach: [f64; 2]| {
            let mut known = Known::new(&machine, None);
            for (length, share) in [10_000, 100_000].into_iter().zip(reach) {
                let time = fathom_described::found_within(share, 30_000.0, Unit::Nanoseconds);
                known.learn(ABOUT.name, &at(FUTEX, length, CPU_TIME), time);
            }
            sleeping_wins_from(&known).map(|(length, _)| length)
        };
        assert_eq!([from([0.2, 0.1]), from([0.1, 0.2])], [Some(100_000), Some(10_000)]);
    }

    #[test]
    fn a_latency_that_rises_with_the_wait_is_shown_by_its_length() {
        let asleep = |length, ns| (at(FUTEX, length, LATENCY), ns);
        let with = |longest| {
            text(&[
                asleep(10_000, 20_000.0),
                asleep(USUAL, 30_000.0),
                asleep(1_000_000, longest),
                (at(SPIN, USUAL, LATENCY), 200.0),
                (at(FUTEX, USUAL, CALL), 2_000.0),
            ])
        };
        let rises = with(50_000.0);
        let by_length = "answers {20000} after the end of a wait of {10000}, {30000} of {100000} and {50000} of {1000000}, {2.5} times";
        assert!(rises.contains(by_length), "{rises}");
        let level = with(20_050.0);
        assert!(level.contains("answers {30000} after the end of its wait"), "{level}");
    }

    #[test]
    fn the_latency_that_sleeping_adds_is_a_difference() {
        let planted = [
            (at(FUTEX, USUAL, LATENCY), 50_000.0),
            (at(SPIN, USUAL, LATENCY), 200.0),
            (at(FUTEX, USUAL, CALL), 2_000.0),
        ];
        assert!(text(&planted).contains(
            "{50000} after the end of its wait, a spinning one {200} after it: sleeping adds {49800}"
        ));
    }

    #[test]
    fn a_sleeper_is_later_than_predicted_where_a_waiter_that_idled_as_long_is() {
        let machine = fathom_described::machine();
        let said = |ns: f64| {
            let mut known = Known::new(&machine, None);
            let late = fathom_described::found_within(0.05, ns, Unit::Nanoseconds);
            known.learn(ABOUT.name, &at(FUTEX, 100_000, LATENCY), late);
            Some(woken_after(100_000, &known)?.shown?.plain())
        };
        let text = said(1e6).expect("later");
        assert!(text.contains("wakes after {100000} is {1000000} late, where {"), "{text}");
        assert_eq!(said(100.0), None, "as predicted");
    }

    #[test]
    fn a_waiter_is_late_for_its_idling_only_beyond_the_intervals() {
        let machine = fathom_described::machine();
        let said = |long: f64| {
            let mut known = Known::new(&machine, None);
            for (length, ns) in [(LENGTHS[0], 7e3), (1_000_000, long)] {
                let late = fathom_described::found_within(0.1, ns, Unit::Nanoseconds);
                known.learn(ABOUT.name, &at(FUTEX, length, LATENCY), late);
            }
            Some(longer_after(1_000_000, &known)?.shown?.plain())
        };
        assert_eq!(
            said(39e3).as_deref(),
            Some("after {10000} of idling a waiter is {7000} late, after {1000000} {39000}")
        );
        assert_eq!(said(7.5e3), None, "it may be no later");
    }

    /// Nine of sixteen values were lost, and nothing said that the question stays open.
    #[test]
    fn the_question_is_answered_by_the_processor_time_of_a_wait_asleep() {
        let [clause] = ABOUT.shown.clauses else { panic!("one answer") };
        let machine = fathom_described::machine();
        let answers = |way, figure| (clause.points)(&at(way, USUAL, figure), &machine);
        assert!(answers(FUTEX, CPU_TIME) && !answers(FUTEX, LATENCY) && !answers(SPIN, CPU_TIME));
    }
}
