//! Levels of curves that are planted.

use super::*;

fn steps(steps: &[(f64, f64)], last: f64) -> LevelCurve {
    let quarters = (40..=(last * 4.0) as u32).map(|quarter| f64::from(quarter) / 4.0);
    let y = |x: f64| steps.iter().rev().find(|(from, _)| x > *from).map_or(1.0, |(_, y)| *y);
    LevelCurve { points: quarters.map(|x| (x, y(x), None)).collect(), core: None, alone: vec![] }
}

/// A curve of these sizes (octaves) and times, each within 4 %.
fn measured(points: &[(f64, f64)]) -> LevelCurve {
    let point = |(x, y): &(f64, f64)| (*x, *y, Some(Interval { low: 0.96 * y, high: 1.04 * y }));
    LevelCurve { points: points.iter().map(point).collect(), core: None, alone: vec![] }
}

#[test]
fn memory_begins_where_no_point_takes_less_than_it_and_what_is_before_is_a_transition() {
    let at = |from: f64, values: &[f64]| -> Vec<(f64, f64)> {
        values.iter().enumerate().map(|(nth, y)| (from + 0.25 * nth as f64, *y)).collect()
    };
    let cache = at(16.0, &[4.0; 17]);
    let rising = at(20.25, &[30.0, 60.0, 90.0, 127.0, 128.0, 131.0, 130.0]);
    let memory = at(22.0, &[178.0, 182.0, 180.0, 181.0, 179.0, 180.0, 181.0, 180.0, 180.0]);
    let curve = measured(&[cache.clone(), rising, memory.clone()].concat());
    let limits = limits(&[20]);
    let shown = text(&limits, &curve);
    assert!(shown.contains("from {4194304} on, before which a load takes {130} at {3526975}"), "{shown}");
    assert_eq!(levels(&limits, &curve).last().and_then(|level| level.from), Some(4_194_304.0));
    let sharp = text(&limits, &measured(&[cache, at(20.25, &[180.0; 7]), memory].concat()));
    assert!(sharp.contains("memory: {") && !sharp.contains("before which"), "{sharp}");
}

/// Memory "154 ns (114 to 209)" of sets that took 135, 160 and 170 ns, each known well enough to tell them apart.
#[test]
fn memory_whose_sets_are_apart_is_not_flat() {
    let said = |last: f64| {
        let mut points: Vec<CurvePoint> = (0..17)
            .map(|nth| (16.0 + 0.25 * f64::from(nth), 4.0, Some(Interval { low: 3.9, high: 4.1 })))
            .collect();
        let within = |by: f64, ns: f64| Some(Interval { low: ns - by, high: ns + by });
        let sets = [
            (8.0, 142.0),
            (30.0, 150.0),
            (40.0, 155.0),
            (40.0, 155.0),
            (40.0, 155.0),
            (30.0, 155.0),
            (4.0, last),
        ];
        let sets = sets.iter().enumerate();
        points.extend(sets.map(|(nth, (by, ns))| (20.5 + 0.25 * nth as f64, *ns, within(*by, *ns))));
        text(&limits(&[20]), &LevelCurve { points, core: None, alone: vec![] })
    };
    let (rising, flat) = (said(170.0), said(150.0));
    assert!(rising.contains("memory: {") && rising.contains("and not flat: {170}"), "{rising}");
    assert!(flat.contains("memory: {") && !flat.contains("not flat"), "{flat}");
}

/// A wide interval does not make memory of a set whose median is far below it.
#[test]
fn memory_begins_with_a_set_that_takes_as_long() {
    let mut points: Vec<CurvePoint> = (0..36)
        .map(|nth| {
            let at = 16.0 + 0.25 * f64::from(nth);
            let ns = if at > 20.0 { 180.0 } else { 4.0 };
            (at, ns, Some(Interval { low: 0.96 * ns, high: 1.04 * ns }))
        })
        .collect();
    points[17].1 = 107.0;
    points[17].2 = Some(Interval { low: 28.0, high: 182.0 });
    let shown = levels(&limits(&[20]), &LevelCurve { points, core: None, alone: vec![] });
    let from = shown.last().and_then(|level| level.from).expect("memory");
    assert!((from.log2() - 20.5).abs() < 1e-6, "{from}");
}

/// Page walks "31.4 ns, from 3 072 pages on", where those of 4 096 and 5 120 took less, by intervals that held it.
#[test]
fn memory_begins_where_no_median_is_less_unless_its_largest_sets_scatter() {
    let said = |sets: &[f64]| {
        let of = |nth: usize, by: f64, ns: f64| {
            (16.0 + 0.25 * nth as f64, ns, Some(Interval { low: ns * (1.0 - by), high: ns * (1.0 + by) }))
        };
        let cache = (0..17).map(|nth| of(nth, 0.02, 4.0));
        let sets = sets.iter().enumerate().map(|(nth, ns)| of(17 + nth, 0.5, *ns));
        let shown = levels(
            &limits(&[20]),
            &LevelCurve { points: cache.chain(sets).collect(), core: None, alone: vec![] },
        );
        shown.last().and_then(|level| level.from).expect("memory").log2()
    };
    let from = said(&[31.0, 25.0, 26.0, 31.0, 32.0, 31.0, 31.0, 32.0]);
    assert!((from - 21.0).abs() < 1e-6, "those before it take less: {from}");
    let scattered = said(&[31.0, 32.0, 31.0, 32.0, 31.0, 31.0, 32.0, 25.0]);
    assert!((scattered - 20.25).abs() < 1e-6, "only the largest is less, by chance: {scattered}");
}

/// Memory "117 ns, from 24 MiB on", where the sets from there on took 126 to 156.
#[test]
fn the_time_of_memory_is_of_the_sets_that_it_is_said_of() {
    let mut points: Vec<CurvePoint> = (0..17)
        .map(|nth| (16.0 + 0.25 * f64::from(nth), 4.0, Some(Interval { low: 3.9, high: 4.1 })))
        .collect();
    let mib = |size: f64| 20.0 + size.log2();
    points.extend([
        (mib(12.0), 75.1, Some(Interval { low: 40.8, high: 106.0 })),
        (mib(16.0), 86.4, Some(Interval { low: 51.7, high: 124.7 })),
        (mib(24.0), 132.9, Some(Interval { low: 101.2, high: 140.6 })),
        (mib(32.0), 126.5, Some(Interval { low: 113.9, high: 142.0 })),
        (mib(64.0), 150.3, Some(Interval { low: 128.0, high: 161.1 })),
        (mib(128.0), 156.2, Some(Interval { low: 151.4, high: 160.5 })),
    ]);
    let shown = levels(&limits(&[20]), &LevelCurve { points, core: None, alone: vec![] });
    let memory = shown.last().expect("memory");
    assert!(memory.from.is_some_and(|from| (from.log2() - mib(24.0)).abs() < 1e-6), "{:?}", memory.from);
    assert!((126.5..156.2).contains(&memory.value), "{}", memory.value);
}

#[test]
fn a_limit_that_the_curve_contradicts_is_said_to_be() {
    let curve = steps(&[(14.0, 4.0), (20.0, 16.0)], 24.0);
    let text = |at: &[u32]| {
        let all = statements(&limits(at), &curve, Along::BYTES);
        all.iter().map(Statement::plain).collect::<Vec<_>>().join("; ")
    };
    let masked = text(&[14, 16, 20]);
    assert!(masked.contains("L2") && masked.contains("is contradicted by the curve"), "{masked}");
    assert!(!text(&[14, 20]).contains("contradicted"), "{}", text(&[14, 20]));
}

fn limits(at: &[u32]) -> Vec<Limit> {
    at.iter()
        .enumerate()
        .map(|(index, at)| Limit {
            name: format!("L{}", index + 1),
            at: 1 << at,
            origin: "declared".to_owned(),
            expected: None,
            is_measured: false,
        })
        .collect()
}

fn text(limits: &[Limit], curve: &LevelCurve) -> String {
    Statement::joined(statements(limits, curve, Along::BYTES), "; ").unwrap_or_default().plain()
}

#[test]
fn a_place_is_a_whole_number_of_bytes() {
    let at = 327_680_f64.log2();
    assert_eq!(Along::BYTES.place(at, Interval { low: at, high: at }, "end").plain(), "{327680}");
}

#[test]
fn an_end_that_may_be_anywhere_between_two_levels_is_no_end() {
    let of = |high: f64, load: f64| {
        let ends = Crossing { at: 15.0, interval: Interval { low: 14.5, high } };
        let (from, to, value) = (10.0, 15.0, 2.0);
        let interval = Interval { low: 1.9, high: 2.1 };
        let plateau = Plateau { from, to, value, interval, ends: None, rise: Some(ends), points: 5 };
        end(
            &plateau,
            ends,
            &[(14.0, load, Some(Interval { low: load, high: 2.0 * load }))],
            (Along::BYTES, "L1"),
        )
        .plain()
    };
    let text = |high: f64| of(high, 2.0);
    assert_eq!(text(15.5), " up to {32768}");
    assert_eq!(text(20.0), ", whose end is uncertain by more than a factor of 4");
    let higher = of(15.5, 2.5);
    assert_eq!(
        higher, " up to {32768} (rising from {16384} on)",
        "a load from within takes more for certain"
    );
}

#[test]
fn levels_that_end_where_they_are_declared_are_named() {
    let text = text(&limits(&[15, 20]), &steps(&[(15.0, 4.0), (20.0, 100.0)], 24.0));
    assert!(
        text.contains("L1: {1} up to {")
            && text.contains("L2: {4} up to {")
            && text.contains("declared {32768}"),
        "{text}"
    );
}

#[test]
fn a_level_without_a_plateau_of_its_own_is_said_not_to_be_told_apart() {
    let text = text(&limits(&[15, 20, 25]), &steps(&[(15.0, 4.0), (20.0, 100.0)], 28.0));
    assert!(text.contains("L3 ({33554432} declared): no separate plateau"), "{text}");
}

#[test]
fn a_level_before_one_without_a_plateau_ends_half_way_to_what_is_published_of_that() {
    // The second level ends at 1 MiB; from there latency rises continuously into memory, which is not a third level.
    let rising = |x: f64| match x {
        x if x <= 15.0 => 1.0,
        x if x <= 20.0 => 4.0,
        x => (4.0 * (x - 20.0).mul_add(0.8, 0.3).exp()).min(150.0),
    };
    let points = (40..116).map(|quarter| f64::from(quarter) / 4.0).map(|x| (x, rising(x), None)).collect();
    let curve = LevelCurve { points, core: None, alone: vec![] };
    let mut limits = limits(&[15, 20, 25]);
    for (limit, expected) in limits.iter_mut().zip([(1.0, 4.0), (4.0, 14.0), (14.0, 90.0)]) {
        limit.expected = Some(expected);
    }
    let text = text(&limits, &curve);
    assert!(
        text.contains("L2: {4} up to {") && text.contains("L3 ({33554432} declared): no separate plateau"),
        "{text}"
    );
    assert!(!text.contains("L3: {150"), "{text}");
}

#[test]
fn a_plateau_far_below_a_declared_last_cache_is_memory_and_the_one_before_it_that_cache() {
    // L3 ends at 8 MiB and is declared as 256 MiB; the sweep goes to 1 GiB.
    let curve = steps(&[(15.0, 4.0), (20.0, 35.0), (23.0, 142.0)], 30.0);
    let mut limits = limits(&[15, 20, 28]);
    for (limit, expected) in limits.iter_mut().zip([(1.0, 4.0), (4.0, 33.0), (33.0, 110.0)]) {
        limit.expected = Some(expected);
    }
    let text = text(&limits, &curve);
    assert!(text.contains("L3: {34.99") && text.contains("declared {268435456}"), "{text}");
    assert!(text.contains("declared {268435456}, of which the larger part is not to be seen"), "{text}");
    assert_eq!(text.matches("the larger part").count(), 1, "the others end where they are declared to");
    assert!(text.contains("memory: {141.99") && !text.contains("nothing is declared"), "{text}");
}

#[test]
fn a_plateau_is_of_the_level_whose_time_its_loads_take() {
    // L2 ends where it is declared to, at 2 MiB. Others use most of the last cache: half of a load's way from it to memory.
    let curve = steps(&[(15.5, 6.2), (20.75, 30.0), (21.5, 72.0), (24.0, 147.0)], 30.0);
    let mut limits = limits(&[15, 21, 28]);
    for (limit, expected) in limits.iter_mut().zip([(1.0, 6.0), (6.0, 33.0), (33.0, 110.0)]) {
        limit.expected = Some(expected);
    }
    let text = text(&limits, &curve);
    assert!(
        text.contains("L2: {6.2") && text.contains("L3 ({268435456} declared): no separate plateau"),
        "{text}"
    );
    assert!(text.contains("a plateau of {7"), "{text}");
    let without_l2 = self::text(&limits, &steps(&[(15.5, 6.2), (22.5, 147.0)], 30.0));
    assert!(!without_l2.contains("L3: {6"), "{without_l2}");
}

#[test]
fn a_plateau_that_a_sweep_ends_on_within_the_last_cache_is_not_memory() {
    let mut limits = limits(&[15, 20, 28]);
    for (limit, expected) in limits.iter_mut().zip([(1.0, 4.0), (4.0, 33.0), (33.0, 110.0)]) {
        limit.expected = Some(expected);
    }
    let text = text(&limits, &steps(&[(15.0, 4.0), (20.0, 35.0)], 26.0));
    assert!(!text.contains("memory"), "{text}");
}

#[test]
fn levels_stand_from_the_end_of_the_one_before_to_their_own() {
    let curve = steps(&[(15.0, 4.0), (20.0, 100.0)], 24.0);
    let found = levels(&limits(&[15, 20]), &curve);
    let names: Vec<&str> = found.iter().map(|level| level.name.as_str()).collect();
    assert_eq!(names, ["L1", "L2", "memory"]);
    let near = |place: Option<f64>, truth: f64| place.is_some_and(|at| (at.log2() - truth).abs() <= 0.25);
    assert!(found[0].from.is_none() && near(found[0].to, 15.0), "{found:?}");
    assert!(near(found[1].from, 15.0) && near(found[1].to, 20.0), "{found:?}");
    assert!(near(found[2].from, 20.25) && found[2].to.is_none(), "{found:?}");
}

#[test]
fn what_the_sweep_does_not_reach_is_said_so() {
    let curve = steps(&[(15.0, 4.0)], 24.0);
    let shared = LevelCurve { core: Some(CoreUse::Shared), ..steps(&[(15.0, 4.0)], 24.0) };
    let text_of_shared = text(&limits(&[15, 40]), &shared);
    assert!(
        text_of_shared.contains("the largest setting of the curve with the core shared, {"),
        "{text_of_shared}"
    );
    let text = text(&limits(&[15, 40]), &curve);
    assert!(
        text.contains("L2 is declared larger ({1099511627776}) than the largest setting of the curve"),
        "{text}"
    );
}

/// Where the levels end at unlike sizes, as with pages of unlike sizes, a time is nevertheless of one level.
#[test]
fn a_time_is_of_the_same_level_on_each_kind_of_page() {
    let mut limits = limits(&[15, 19, 25]);
    for (limit, expected) in limits.iter_mut().zip([(1.0, 3.8), (3.8, 17.0), (17.0, 110.0)]) {
        limit.expected = Some(expected);
    }
    let huge = steps(&[(15.0, 4.0), (18.5, 16.0), (20.5, 150.0)], 24.0);
    let base = steps(&[(15.0, 4.4), (17.75, 17.0), (20.0, 153.0)], 24.0);
    let limits = as_shown(limits, [&huge, &base]);
    assert!((limits[1].expected.expect("a level").0 - 4.0).abs() < 0.1, "measured, and no longer published");
    for (curve, own) in [(&huge, ["L2: {4", "L3: {1"]), (&base, ["L2: {4.4", "L3: {1"])] {
        let shown = text(&limits, curve);
        assert!(own.iter().all(|level| shown.contains(level)), "{shown}");
        assert!(!shown.contains("contradicted") && !shown.contains("a plateau of"), "{shown}");
    }
}

/// A plateau between the measured time of a level and that of memory is not that level, though nearer to its declared end.
#[test]
fn a_level_keeps_the_time_that_it_was_measured_by() {
    let mut limits = limits(&[15, 20, 25]);
    for (limit, expected) in limits.iter_mut().zip([(1.0, 3.8), (3.8, 13.5), (13.5, 110.0)]) {
        limit.expected = Some(expected);
    }
    let curve = steps(&[(15.0, 3.8), (19.0, 20.4), (22.0, 60.4), (23.0, 199.0)], 27.0);
    let shown = text(&as_shown(limits, [&curve]), &curve);
    assert!(shown.contains("L3: {20.4") && !shown.contains("L3: {60"), "{shown}");
}

/// The third level, which no cut shows before points of wide intervals, is found by its time, between the second and memory.
#[test]
fn a_level_before_uncertain_points_is_named_by_its_time() {
    let known = |from: f64, values: &[f64]| {
        let point = |(nth, y): (usize, &f64)| (0.25f64.mul_add(nth as f64, from), *y, 1.05);
        values.iter().enumerate().map(point).collect::<Vec<_>>()
    };
    let second = known(13.0, &[4.0; 19]);
    let rising = vec![(17.75, 6.5, 1.7), (18.0, 10.0, 1.35)];
    let third = vec![(18.25, 16.2, 1.15), (18.5, 15.8, 1.12), (18.75, 16.6, 1.3), (19.0, 16.8, 1.8)];
    let uncertain =
        vec![(19.25, 35.0, 2.7), (19.5, 24.0, 2.4), (20.0, 47.0, 2.7), (20.5, 60.0, 2.7), (21.0, 98.0, 2.0)];
    let memory = known(21.5, &[160.0; 20]);
    let points = [second, rising, third, uncertain, memory].concat();
    let point = |(x, y, reach): (f64, f64, f64)| (x, y, Some(Interval { low: y / reach, high: y * reach }));
    let curve = LevelCurve {
        points: points.into_iter().map(point).collect(),
        core: Some(CoreUse::Shared),
        alone: vec![],
    };
    let mut limits = limits(&[19, 25]);
    let shown = |limits: &[Limit]| text(limits, &curve);
    for (limit, expected) in limits.iter_mut().zip([(4.0, 17.0), (17.0, 110.0)]) {
        limit.expected = Some(expected);
    }
    let named = shown(&limits);
    assert!(named.contains("L2: {16.3") && named.contains("memory: {159.99"), "{named}");
    limits[1].expected = Some((70.0, 110.0));
    assert!(!shown(&limits).contains("L2: {"), "of another time: {}", shown(&limits));
}

/// A neighbour on the core takes part of a cache: with the core alone the same level holds what is declared.
#[test]
fn a_level_that_a_neighbour_makes_shorter_is_told_with_what_it_holds_alone() {
    let point = |(x, y): (f64, f64)| (x, y, Some(Interval { low: 0.96 * y, high: 1.04 * y }));
    let quarters = (40..=80).map(|quarter| f64::from(quarter) / 4.0);
    let shared = |x: f64| point((x, if x > 14.75 { 4.0 } else { 1.4 }));
    let said = |alone: &[(f64, f64)]| {
        let alone = alone.iter().copied().map(point).collect();
        let curve =
            LevelCurve { points: quarters.clone().map(shared).collect(), core: Some(CoreUse::Shared), alone };
        text(&limits(&[15]), &curve)
    };
    let held = "declared {32768}, but with the core alone it holds {32768}, as much as that: the rest is what a neighbour on the core takes";
    assert!(said(&[(13.0, 1.33), (15.0, 1.43)]).contains(held), "{}", said(&[(15.0, 1.43)]));
    for not in [&[(15.0, 3.9)][..], &[(13.0, 1.33)], &[(14.75, 1.33)], &[(14.0, 2.8), (15.0, 1.43)], &[]] {
        assert!(!said(not).contains("with the core alone"), "{not:?}: {}", said(not));
    }
    let wide = CurvePoint::from((15.0, 1.43, Some(Interval { low: 1.3, high: 3.0 })));
    let curve =
        LevelCurve { points: quarters.map(shared).collect(), core: Some(CoreUse::Shared), alone: vec![wide] };
    assert!(!text(&limits(&[15]), &curve).contains("with the core alone"), "it may take more alone as well");
}
