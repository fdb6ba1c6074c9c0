use super::*;
use fathom_core::statistics::{Interval, Measured};

/// The finding for loops of `each` ns per iteration and `entered` ns to enter them, at 2 GHz.
fn said_of(each: f64, entered: f64) -> String {
    let machine = fathom_described::machine();
    let mut known = Known::new(&machine, Some(2e9));
    for count in (0..14).map(|power| 1 << power) {
        let found = Found::bare(entered + each * count as f64, Unit::Nanoseconds);
        known.learn(ABOUT.name, &Point::new().named(&FORM, "register").with(&COUNT, count), found);
    }
    against_a_cycle(&known).unwrap().statement.plain()
}

#[test]
fn a_loop_of_other_instructions_is_found_out_without_counters() {
    let judged = |form: &str, listed: f64| {
        let observed = Observed { stated: [(LISTED.to_owned(), listed)].into(), ..Observed::default() };
        let point = Point::new().named(&FORM, form).with(&COUNT, 8);
        LoopOverhead.evidence(&point, &observed).iter().map(|check| check.holds).collect::<Vec<_>>()
    };
    assert_eq!((judged("register", 2.0), judged("memory", 4.0)), (vec![true], vec![true]));
    // As a compiler writes it that unrolls, and one that keeps the counter in memory.
    assert_eq!((judged("register", 16.0), judged("register", 4.0)), (vec![false], vec![false]));
}

/// The findings for loops of memory that take `early` ns for each of the first 128 iterations and 0.64 for each further one.
fn of_two_regimes(early: f64) -> String {
    let machine = fathom_described::machine();
    let mut known = Known::new(&machine, Some(2e9));
    for count in [0].into_iter().chain((0..14).map(|power| 1_u64 << power)) {
        let (first, further) = (count.min(128) as f64, count.saturating_sub(128) as f64);
        let memory = early * first + 0.64 * further;
        let pointer = 0.7 * count as f64;
        for (form, ns) in
            [("register", 0.4 * count as f64), ("memory", memory), ("memory-and-pointer", pointer)]
        {
            let found = fathom_described::found_within(0.004, 0.5 + ns, Unit::Nanoseconds);
            known.learn(ABOUT.name, &Point::new().named(&FORM, form).with(&COUNT, count), found);
        }
    }
    LoopOverhead
        .findings(&known)
        .iter()
        .map(|finding| finding.statement.plain())
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn a_slope_has_the_range_in_which_it_holds_and_shorter_loops_their_own_cost() {
    let two = of_two_regimes(1.4);
    assert!(two.contains("for each further iteration from 128 iterations on, one in a register"), "{two}");
    assert!(two.contains("An iteration of shorter loops costs more, up to {1.4"), "{two}");
    assert!(two.contains("With a store through a pointer in its body an iteration costs {0."), "{two}");
    let one = of_two_regimes(0.64);
    assert!(one.contains("per iteration, one in a register") && !one.contains("shorter loops"), "{one}");
}

#[test]
fn entering_a_loop_is_a_loop_of_no_iteration() {
    let told = |intercept: Option<Measured>| {
        let machine = fathom_described::machine();
        let mut known = Known::new(&machine, None);
        let point = Point::new().named(&FORM, "register").with(&COUNT, 0);
        known.learn(ABOUT.name, &point, fathom_described::found_within(0.1, 0.4, Unit::Nanoseconds));
        let both =
            intercept.map(|of| (Found::bare(0.4, Unit::Nanoseconds), Found::measured(of, Unit::Nanoseconds)));
        known.learn_line(ABOUT.name, &point, COUNT.name, both);
        entered(&known).expect("a loop of none").statement.plain()
    };
    let line = |low: f64, high: f64| {
        Some(Measured { value: f64::midpoint(low, high), interval: Some(Interval { low, high }) })
    };
    assert!(told(None).ends_with("costs {0.4}."));
    assert!(
        told(line(-44.0, 28.0))
            .ends_with("; the line through the longer ones begins there at nothing certain, {28} at most.")
    );
    assert!(told(line(-9.0, -1.0)).contains("ones lies below zero there"));
    assert!(told(line(5.0, 17.0)).contains("begins at {11} there, more than that: short loops take less"));
    assert!(told(line(0.1, 16.5)).contains("{8.3} there, not significantly different from that"));
}

#[test]
fn a_time_round_is_set_against_a_cycle_and_its_plateau_found() {
    let one = said_of(0.5, 0.75);
    assert!(one.contains("without an interval, so") && one.contains("From 32 iterations on"), "{one}");
    let within = |share: f64, cycles: f64| {
        beside_an_addition(fathom_described::found_within(share, cycles, Dimension::Cycles))
    };
    assert!(within(0.25, 1.29).starts_with("not shown to be more"), "its interval begins at one");
    assert!(within(0.03, 1.0).starts_with("as many as a single addition"));
    assert!(within(0.1, 1.5).starts_with("more than a single"), "one and a half pass unremarked");
    assert!(within(0.1, 0.5).starts_with("less than a single"));
}

/// A loop of no iteration took 0.433 ns, one of a single iteration 0.344, intervals apart.
#[test]
fn a_loop_of_none_that_takes_more_than_one_of_one_is_no_cost_of_entering() {
    let said = |of_one: f64| {
        let machine = fathom_described::machine();
        let mut known = Known::new(&machine, None);
        let point = |count| Point::new().named(&FORM, "register").with(&COUNT, count);
        fathom_described::plant(&mut known, &LoopOverhead, [(point(0), 0.4), (point(1), of_one)]);
        entered(&known).map(|finding| finding.statement.plain())
    };
    assert!(said(0.5).is_some_and(|text| text.contains("of no iteration, costs {0.4}")));
    assert_eq!(said(0.3), None);
}
