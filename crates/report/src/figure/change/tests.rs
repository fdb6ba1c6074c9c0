//! What captions say of curves that are planted.

use super::*;
use fathom_core::experiment::Scale;
use fathom_core::quantity::Unit;
use fathom_core::statistics::{Mode, ModeList};

fn mark(value: f64, core: Option<&'static str>) -> Mark {
    let words = String::new();
    Mark { core, ..Mark::of(value, None, words) }
}

#[test]
fn the_ends_of_a_curve_are_of_the_state_that_most_of_its_marks_are_of() {
    let marks = |states: &[Option<&'static str>]| -> Vec<(f64, Mark)> {
        states.iter().map(|state| (1.0, mark(1.0, *state))).collect()
    };
    assert_eq!(commonest(&marks(&[Some("shared"), Some("alone"), Some("alone")])), Some("alone"));
    assert_eq!(commonest(&marks(&[Some("shared"), Some("alone")])), Some("shared"), "the first");
    assert_eq!(commonest(&marks(&[None, None])), None);
    let curve = |values: &[f64]| -> Vec<(f64, Mark)> {
        let of = |(place, value): (usize, &f64)| (place as f64, mark(*value, None));
        values.iter().enumerate().map(of).collect()
    };
    let ends = |marks: &[(f64, Mark)]| {
        extremes(marks, None).map(|span| span.map(|(place, mark)| (place, mark.value)))
    };
    assert_eq!(ends(&curve(&[24.0, 37.0, 22.0])), Some([(1.0, 37.0), (2.0, 22.0)]), "a hump");
    assert_eq!(ends(&curve(&[1.0, 1.0, 9.0, 9.0])), Some([(0.0, 1.0), (3.0, 9.0)]), "flat at both ends");
    assert_eq!(ends(&curve(&[1.0])), None);
    let mut two = curve(&[22.0, 38.0, 24.0]);
    two[1].1.states = vec![(38.0, None), (22.0, None)];
    assert_eq!(ends(&two), Some([(0.0, 22.0), (2.0, 24.0)]), "a median between states");
}

/// An increment took from 1.79 ns at 32 B, of CPUs 32.9 ns apart, to 0.307 ns; that at 8 B, of CPUs 160 ns apart, rose to it.
#[test]
fn the_ends_of_a_curve_are_of_one_distance_of_the_cpus() {
    let values = [(1.12, true), (1.79, false), (0.31, false), (0.2, true)];
    let of = |(place, (value, is_apart)): (usize, &(f64, bool))| {
        let ends = Some((0.99 * value, 1.01 * value));
        (place as f64, Mark { is_apart: *is_apart, ends, ..mark(*value, None) })
    };
    let marks = values.iter().enumerate().map(of).collect();
    let said = of_delays(vec![Curve::of(String::new(), marks)]).visible();
    assert!(
        said.contains("Among marks of one distance of the CPUs") && said.contains("from 1.79 ns"),
        "{said}"
    );
    assert!(said.contains("to 0.31") && !said.contains("0.2") && !said.contains("1.12"), "{said}");
}

/// A caption had 6.36 GB/s as the end of its largest factor, of a stream that the summary forbade to use.
#[test]
fn what_must_not_be_used_is_no_end_of_a_curve() {
    let values = [(1.0, false), (5.0, false), (6.4, true)];
    let of = |(place, (value, is_doubtful)): (usize, &(f64, bool))| {
        let ends = Some((0.99 * value, 1.01 * value));
        (place as f64, Mark { is_doubtful: *is_doubtful, ends, ..mark(*value, None) })
    };
    let marks = values.iter().enumerate().map(of).collect();
    let said = of_delays(vec![Curve::of(String::new(), marks)]).visible();
    assert_eq!(said, " From 1.00 ns at delay 0 to 5.00 ns at delay 1.");
}

#[test]
fn a_change_within_the_intervals_is_not_named() {
    let shown = |noise: f64| {
        let curve = |name: &str, values: [f64; 2], noise: f64| {
            let mark = |value: f64| Mark { ends: Some((value - noise, value + noise)), ..mark(value, None) };
            let marks = values.iter().enumerate().map(|(place, value)| (place as f64, mark(*value)));
            Curve::of(name.to_owned(), marks.collect())
        };
        let members = vec![curve("noisy", [100.0, 200.0], noise), curve("calm", [100.0, 140.0], 1.0)];
        of_delays(members).visible()
    };
    assert_eq!(
        shown(10.0),
        " The largest factor is that of noisy: from 100 ns at delay 0 to 200 ns at delay 1."
    );
    assert_eq!(
        shown(49.0),
        " The largest factor, not significantly larger than that of one other, is that of noisy: from 100 ns at delay 0 to 200 ns at delay 1."
    );
    assert_eq!(
        shown(51.0),
        " The largest factor, not significantly larger than that of one other, is that of calm: from 100 ns at delay 0 to 140 ns at delay 1."
    );
    let noisy = |values: [f64; 2]| {
        let mark = |value: f64| Mark { ends: Some((1.0, 999.0)), ..mark(value, None) };
        let marks = values.iter().enumerate().map(|(place, value)| (place as f64, mark(*value)));
        of_delays(vec![Curve::of("all".to_owned(), marks.collect())]).visible()
    };
    assert_eq!(noisy([100.0, 200.0]), "");
    assert_eq!(noisy([100.0, 110.0]), " Nothing in it changes by more than a factor of 1.25.");
}

#[test]
fn where_marks_of_other_states_are_drawn_as_well_the_state_is_said() {
    let of = |place: f64, value: f64, core| {
        let ends = Some((0.9 * value, 1.1 * value));
        (place, Mark { ends, ..mark(value, core) })
    };
    let shared = Some("core shared");
    let curve = |name: &str, last| {
        let marks = vec![of(0.0, 1.0, shared), of(1.0, 20.0, shared), of(2.0, 30.0, last)];
        Curve::of(name.to_owned(), marks)
    };
    let said = |last| of_delays(vec![curve("loads", last), curve("stores", last)]).visible();
    assert_eq!(
        said(Some("core alone")),
        " Among marks with the core shared, which end at 1, the largest factor, not significantly larger than that of one other, is that of stores: from 1.00 ns at delay 0 to 20.0 ns at delay 1."
    );
    assert_eq!(
        said(shared),
        " The largest factor, not significantly larger than that of one other, is that of stores: from 1.00 ns at delay 0 to 30.0 ns at delay 2."
    );
}

/// The largest factor of `filesystem/copy` was said to be 14, in a picture of 1 463.
#[test]
fn marks_of_one_state_are_compared_on_every_curve_and_their_range_is_named() {
    let of = |place: f64, value: f64, core| {
        let ends = Some((0.99 * value, 1.01 * value));
        (place, Mark { ends, ..mark(value, core) })
    };
    let alone = Some("core alone");
    let curve = |name: &str, marks| Curve::of(name.to_owned(), marks);
    let mostly_alone =
        |name| curve(name, vec![of(0.0, 1.0, alone), of(1.0, 20.0, alone), of(2.0, 99.0, None)]);
    let mostly_not = |most| curve("read", vec![of(0.0, 1.0, alone), of(1.0, 2.0, None), of(2.0, most, None)]);
    assert_eq!(
        of_delays(vec![mostly_alone("sendfile"), mostly_not(39.0)]).visible(),
        " Among marks with the core alone, which end at 1, the largest factor is that of sendfile: from 1.00 ns at delay 0 to 20.0 ns at delay 1.",
        "what reads take is of other marks"
    );
    assert_eq!(
        of_delays(vec![mostly_alone("sendfile"), mostly_not(60.0)]).visible(),
        " Among marks that name no state of the core, which begin at 1, the largest factor is that of read: from 2.00 ns at delay 1 to 60.0 ns at delay 2."
    );
}

fn of_delays(members: Vec<Curve<'_>>) -> Curves<'_> {
    Curves {
        of: "memory",
        shared: String::new(),
        statistic: "",
        along: "delay",
        named: "delay".to_owned(),
        scale: Scale::Count,
        unit: Unit::Nanoseconds,
        members,
        elsewhere: 0,
        landmarks: vec![],
    }
}

#[test]
fn a_curve_with_marks_of_several_levels_is_not_said_to_be_flat() {
    let shown = |states: Vec<(f64, Option<(f64, f64)>)>, modes| {
        let curve = |name: &str, values: [f64; 2]| {
            let marks = values.iter().enumerate().map(|(place, value)| (place as f64, mark(*value, None)));
            Curve::of(name.to_owned(), marks.collect())
        };
        let mut members = vec![curve("pipe", [171.0, 170.0]), curve("socket", [238.0, 239.0])];
        members[1].marks[1].1.states = states;
        let modes: Vec<Mode> = (0..modes).map(|_| Mode { centre: 239.0, share: 0.5 }).collect();
        members[1].marks[1].1.modes = ModeList::of(&modes);
        of_delays(members).visible()
    };
    assert!(shown(vec![], 1).starts_with(" No curve changes by more than a factor of 1.25 by delay;"));
    for of_two in [shown(vec![(239.0, None), (500.0, None)], 2), shown(vec![], 2)] {
        assert!(
            of_two.starts_with(" No curve whose marks have one level each changes by more than"),
            "{of_two}"
        );
    }
}

/// Round trips over a socket take 22 or 37 us: with longer messages more of them take 22, and none is quicker.
#[test]
fn a_curve_of_two_levels_does_not_change_with_their_shares() {
    let of = |value: f64, modes: &[(f64, f64)]| {
        let modes: Vec<Mode> =
            modes.iter().map(|(centre, share)| Mode { centre: *centre, share: *share }).collect();
        let ends = Some((0.95 * value, 1.05 * value));
        Mark { ends, modes: ModeList::of(&modes), ..mark(value, None) }
    };
    let shown = |last: &[(f64, f64)]| {
        let curve = |name: &str, marks: [Mark; 2]| {
            Curve::of(name.to_owned(), (0..2).map(f64::from).zip(marks).collect())
        };
        let socket = [of(37.0, &[(22.0, 0.25), (37.0, 0.75)]), of(22.5, last)];
        of_delays(vec![curve("pipe", [of(5.0, &[]), of(7.0, &[])]), curve("socket", socket)]).visible()
    };
    assert_eq!(
        shown(&[(22.4, 0.6), (37.3, 0.4)]),
        " The largest factor is that of pipe: from 5.00 ns at delay 0 to 7.00 ns at delay 1. Marks of socket are of the same levels in other \
         shares of their observations: from 37.0 ns at delay 0 (levels 22.0 and 37.0 ns: 25 % and 75 %) to 22.5 ns at delay 1 (levels 22.4 and \
         37.3 ns: 60 % and 40 %)."
    );
    let quicker = shown(&[(18.0, 0.6), (30.0, 0.4)]);
    assert!(quicker.contains("that of socket: from 37.0 ns"), "{quicker}");
}

#[test]
fn flat_curves_are_not_called_alike_where_one_lies_apart() {
    let shown = |writing: Mark| {
        let curve = |name: &str, marks| Curve::of(name.to_owned(), marks);
        let reading = [171.0, 170.0, 199.0].map(|value| mark(value, None)).into_iter();
        of_delays(vec![
            curve("read", (0..3).map(f64::from).zip(reading).collect()),
            curve("write", vec![(0.0, writing)]),
        ])
        .visible()
    };
    assert_eq!(shown(mark(180.0, None)), " Along delay, read changes by no more than a factor of 1.25.");
    assert_eq!(
        shown(mark(238.0, None)),
        " No curve changes by more than a factor of 1.25 by delay; among them it is from 170 ns (read) to 238 ns (write)."
    );
    assert_eq!(
        shown(mark(238.0, Some("shared"))),
        " No curve changes by more than a factor of 1.25 by delay in one state."
    );
}
