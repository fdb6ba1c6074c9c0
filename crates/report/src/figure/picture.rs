//! The machine in one picture: what its main operations take, on one logarithmic axis.

use super::axis::Axis;
use super::drawn::DrawnFigure;
use super::mark::{Mark, extent, mark};
use super::operations::KINDS;
use super::rows;
use super::svg::{self, Drawing};
use crate::{cpu_distance, occupancy, run, states, verdict, words};
use fathom_core::quantities;
use fathom_core::quantity::Unit;
use fathom_core::statistics::Estimate;
use fathom_engine::results::{PointResult, Results};

/// A slide's shape, in SVG pixels.
const WIDTH: f64 = 1200.0;

/// The usual ends of the axis, nanoseconds.
const ENDS: [f64; 2] = [1.0, 1e7];

const ROW: f64 = 18.5;
/// Space between two kinds of operations.
const BETWEEN: f64 = 6.0;
/// The upper edge of the rows, below titles and legend.
const TOP: f64 = 96.0;
/// The right end of the names, and the ends of the axis.
const NAMES: f64 = 278.0;
const LEFT: f64 = 288.0;
const RIGHT: f64 = 850.0;
/// The columns of values.
const VALUES: f64 = 872.0;
const SHARED: f64 = 1080.0;

/// An operation with its marks.
struct PictureRow<'run> {
    kind: &'static str,
    name: String,
    /// Of the state of the core.
    sign: &'static str,
    point: &'run PointResult,
    mark: Mark,
    shared: Option<&'run Estimate>,
    y: f64,
}

/// The picture; `None` if none of the operations was measured.
pub(crate) fn figure(results: &Results) -> Option<DrawnFigure> {
    let rows = rows_of(results);
    let bottom = rows.last()?.y + ROW * 0.5 + 4.0;
    let axis = axis(&rows);
    let mut drawing = Drawing::sized(WIDTH, bottom + 48.0);
    titles(&mut drawing, results);
    legend(&mut drawing, rows.iter().any(|row| row.shared.is_some()));
    frame(&mut drawing, &axis, bottom);
    kinds(&mut drawing, &rows);
    for row in &rows {
        draw(&mut drawing, &axis, row);
    }
    // By the names that are seen: a setting alone does not say of what.
    let words: Vec<String> = rows.iter().map(|row| format!("{}, {}", row.name, row.mark.words)).collect();
    let svg = drawing.finish("The machine in one picture", &words.join("; "));
    let of_files = rows.iter().any(|row| row.point.point.get("file").is_some());
    let of_files = if of_files { "; in brackets, the size of the file" } else { "" };
    let apart = apart(&rows);
    let caption = format!(
        "The machine in one picture: what its main operations take, with 95 % intervals{of_files}.{}{apart}",
        signs(rows.iter().map(|row| row.sign))
    );
    Some(DrawnFigure::of(caption, Unit::Nanoseconds, svg, &axis))
}

/// The sign behind the name of an operation: of the core alone as in tables, of another state of the core the caveat, and none where the run tells
/// no states or the core was never shared.
fn sign(point: &PointResult) -> &'static str {
    if occupancy::state(point) == Some(occupancy::ALONE) {
        occupancy::MARK
    } else if occupancy::beside_a_neighbour(point).is_some() || occupancy::is_whatever_the_core_did(point) {
        occupancy::CAVEAT
    } else {
        ""
    }
}

/// What the caption says of the signs: nothing where one state of the core is shown.
fn signs(of: impl Iterator<Item = &'static str>) -> String {
    let mut all: Vec<&str> = of.filter(|sign| !sign.is_empty()).collect();
    all.sort_unstable();
    all.dedup();
    match all[..] {
        [] => String::new(),
        [occupancy::CAVEAT] => format!(" {}: {NOT_ALONE}.", occupancy::CAVEAT),
        [_] => format!(" {}: {}.", occupancy::MARK, occupancy::ALONE),
        _ => format!(
            " {}: {}; {}: {NOT_ALONE}. Two rows of unlike signs differ by the neighbour as well as by their work.",
            occupancy::MARK,
            occupancy::ALONE,
            occupancy::CAVEAT
        ),
    }
}

const NOT_ALONE: &str =
    "with the core shared, which the last column then says, or with whatever the core did";

/// Which operations on both CPUs are of another distance than that of most of the time.
fn apart(rows: &[PictureRow]) -> String {
    let named = rows.iter().filter_map(|row| {
        let state = occupancy::beside_a_neighbour(row.point).map(|state| format!("{state}, "));
        let seldom = cpu_distance::seldom(row.point)?;
        Some(format!("{} ({}{seldom})", row.name, state.unwrap_or_default()))
    });
    let named: Vec<String> = named.collect();
    if named.is_empty() {
        String::new()
    } else {
        format!(" At another distance of the CPUs than at most times: {}.", named.join("; "))
    }
}

fn rows_of<'a>(results: &'a Results) -> Vec<PictureRow<'a>> {
    let mut rows: Vec<PictureRow> = vec![];
    for (kind, operations) in KINDS {
        for operation in operations {
            let Some(point) = operation.result(results) else { continue };
            let Some(mark) = mark(point) else { continue };
            let shared = point.shared();
            let above = rows
                .last()
                .map_or(TOP - ROW * 0.5, |row| if row.kind == kind { row.y } else { row.y + BETWEEN });
            rows.push(PictureRow {
                kind,
                name: operation.name_of(point),
                sign: sign(point),
                point,
                mark,
                shared,
                y: above + ROW,
            });
        }
    }
    rows
}

fn axis(rows: &[PictureRow]) -> Axis {
    let shared = rows.iter().filter_map(|row| row.shared);
    let shared = shared.flat_map(|shared| {
        let (low, high) = quantities::ends(shared).unwrap_or((shared.value, shared.value));
        [low, high]
    });
    let mut values: Vec<f64> = extent(rows.iter().map(|row| &row.mark)).into_iter().chain(shared).collect();
    values.retain(|value| *value > 0.0);
    values.extend(ENDS);
    Axis::of_values(&values, Unit::Nanoseconds, LEFT, RIGHT)
}

/// The machine, its kernel, and how far to trust the run.
fn titles(drawing: &mut Drawing, results: &Results) {
    let title = run::machine(&results.run.header.machine);
    drawing.text(
        "title",
        "start",
        (14.0, 30.0),
        &svg::shortened(&title, svg::letters("title", WIDTH - 28.0)),
    );
    let trust = format!(
        "{} · {}",
        results.run.header.started.split('T').next().unwrap_or_default(),
        verdict::sentence(results)
    );
    drawing.text("op", "start", (14.0, 54.0), &whole_sentences(&trust, svg::letters("op", WIDTH - 28.0)));
}

/// The first sentences of a text that fit together, and of a first one that is longer what fits.
fn whole_sentences(text: &str, most: usize) -> String {
    let ends = text.match_indices(". ").map(|(at, _)| at + 1).chain([text.len()]);
    let fitting = ends.filter(|end| text[..*end].chars().count() <= most).last();
    fitting.map_or_else(|| svg::shortened(text, most), |end| text[..end].to_owned())
}

fn legend(drawing: &mut Drawing, shared: bool) {
    let y = TOP - 14.0;
    let mut x = LEFT;
    let entries = [
        ("s0", 0, if shared { "measured (core alone where possible)" } else { "measured" }),
        ("s1", 1, "core shared"),
        ("s0 hollow", 0, "predicted"),
    ];
    for (class, series, words) in entries.into_iter().filter(|(class, ..)| shared || *class != "s1") {
        drawing.mark(class, series, (x, y - 4.0));
        drawing.text("op", "start", (x + 10.0, y), words);
        x += svg::width_of("op", words) + 34.0;
    }
    drawing.text("op", "start", (VALUES, y), "median, 95 % interval");
    if shared {
        drawing.text("op", "start", (SHARED, y), "shared core");
    }
}

fn frame(drawing: &mut Drawing, axis: &Axis, bottom: f64) {
    for tick in axis.ticks(12) {
        let x = axis.place(tick);
        drawing.line("grid", (x, TOP - 4.0), (x, bottom));
        drawing.text("op", "middle", (x, bottom + 19.0), &quantities::tick(Unit::Nanoseconds, tick));
    }
    drawing.line("axis", (LEFT, bottom), (RIGHT, bottom));
    let middle = f64::midpoint(LEFT, RIGHT);
    drawing.text("op", "middle", (middle, bottom + 38.0), words::quantity(Unit::Nanoseconds));
}

/// The kinds of operations at the left edge, with a line between two of them.
fn kinds(drawing: &mut Drawing, rows: &[PictureRow]) {
    for of_kind in rows.chunk_by(|one, other| one.kind == other.kind) {
        let first = &of_kind[0];
        drawing.text("kind", "start", (14.0, first.y + 5.0), first.kind);
        if first.y > rows[0].y {
            let y = first.y - f64::midpoint(ROW, BETWEEN);
            drawing.line("grid", (14.0, y), (WIDTH - 14.0, y));
        }
    }
}

fn draw(drawing: &mut Drawing, axis: &Axis, row: &PictureRow) {
    let y = row.y;
    drawing.text("op", "end", (NAMES, y + 5.0), format!("{} {}", row.name, row.sign).trim_end());
    drawing.titled(&row.mark.words, |drawing| {
        rows::draw(drawing, axis, (LEFT, y), &row.mark);
        if let Some(shared) = row.shared {
            if let Some((low, high)) = quantities::ends(shared) {
                drawing.line("bar l1", (axis.place(low), y), (axis.place(high), y));
            }
            drawing.mark("s1", 1, (axis.place(shared.value), y));
        }
    });
    let unit = row.point.unit;
    let value = match row.point.estimate() {
        Some(_) if !row.mark.states.is_empty() => states::written(row.point).unwrap_or_default(),
        Some(estimate) if estimate.interval.is_some() => quantities::with_interval(unit, estimate),
        Some(estimate) => quantities::estimate(unit, estimate),
        None => format!("< {}", quantities::value(unit, row.mark.value)),
    };
    drawing.text("op", "start", (VALUES, y + 5.0), &value);
    let state = occupancy::beside_a_neighbour(row.point);
    let beside = match (row.shared, cpu_distance::line_unless_usual(row.point)) {
        (Some(shared), _) => quantities::estimate(unit, shared),
        (None, apart) => match beside(apart.as_deref(), state) {
            Some(beside) => beside,
            None => return,
        },
    };
    drawing.text("op", "start", (SHARED, y + 5.0), &beside);
}

/// What the last column says of a value that is not of the CPUs and the core as usual. A distance at which they seldom are comes before a
/// neighbour, which the sign behind the name tells.
fn beside(apart: Option<&str>, state: Option<&str>) -> Option<String> {
    let apart = apart.map(|line| format!("← {line} apart"));
    apart.or_else(|| state.map(|state| format!("← {state}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unlike_states_of_the_core_are_told_apart_by_a_sign() {
        let of = |all: &[&'static str]| signs(all.iter().copied());
        assert_eq!(of(&["", ""]), "");
        assert_eq!(of(&["‡", "", "‡"]), " ‡: core alone.");
        assert!(of(&["§"]).starts_with(" §: with the core shared"), "{}", of(&["§"]));
        let both = of(&["§", "‡", "§"]);
        assert!(both.starts_with(" ‡: core alone; §: with the core shared"), "{both}");
        assert!(
            both.ends_with("Two rows of unlike signs differ by the neighbour as well as by their work."),
            "{both}"
        );
    }

    /// A line of 18.5 ns, where the two CPUs were for 6.5 % of the time, was drawn as one "core shared".
    #[test]
    fn a_seldom_distance_is_said_where_its_value_is_drawn() {
        assert_eq!(beside(Some("18.5 ns"), Some("core shared")).as_deref(), Some("← 18.5 ns apart"));
        assert_eq!(beside(None, Some("core shared")).as_deref(), Some("← core shared"));
        assert_eq!(beside(None, None), None);
        let longest = svg::width_of("op", "← 18.5 ns apart");
        assert!(SHARED + longest <= WIDTH, "{longest}");
    }

    #[test]
    fn a_title_ends_with_a_whole_sentence_if_one_fits() {
        let text = "Trust: low. 38 % of all. Others scatter.";
        assert_eq!(whole_sentences(text, 100), text);
        assert_eq!(whole_sentences(text, 27), "Trust: low. 38 % of all.");
        assert!(whole_sentences(text, 8).ends_with('…'), "none fits");
    }
}
