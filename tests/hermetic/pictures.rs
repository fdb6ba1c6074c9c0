//! The pictures of runs of real machines: words that can be read, and what their sections are about.

use crate::committed::{SHARED_CORES, run};
use crate::reported::{EVERYTHING, FIXED};
use fathom::experiment::Point;
use fathom::record::Run;
use fathom::report::figure::Svg;
use fathom::report::paper::{Block, Document, Figure, Section};
use fathom::report::{RunReport, Subject, words};
use fathom::results::{Outcome, PointResult, Results};
use std::sync::LazyLock;

/// The style of drawings, which has the sizes of their words.
const STYLE: &str = include_str!("../../crates/report/src/paper/html/figure.css");

/// Width of a letter as a share of its size: the mean of usual fonts without serifs.
const LETTER: f64 = 0.55;

static READ: LazyLock<Vec<(&str, Results<'static>)>> = LazyLock::new(|| {
    let read = |(name, compressed): &(&'static str, &[u8])| {
        let run: &'static Run = Box::leak(Box::new(run(compressed)));
        (*name, Results::of(run))
    };
    SHARED_CORES.iter().map(read).collect()
});

/// Words of a drawing with the space that they take.
#[derive(Debug, Clone)]
struct Words {
    text: String,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Words {
    fn covers(&self, other: &Self) -> bool {
        let apart = self.right <= other.left
            || other.right <= self.left
            || self.bottom <= other.top
            || other.bottom <= self.top;
        !apart
    }
}

fn attribute<'a>(tag: &'a str, name: &str) -> &'a str {
    let rest = tag.split_once(&format!(" {name}=\"")).map_or("", |(_, rest)| rest);
    rest.split('"').next().unwrap_or_default()
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("{text:?} is no number"))
}

fn size(class: &str) -> f64 {
    let of = |selector: &str| {
        let rule = STYLE.lines().find(|line| line.starts_with(&format!("{selector} {{")))?;
        let before = rule.split("px").next()?;
        before.rsplit([' ', ':']).next()?.parse().ok()
    };
    of(&format!(".figure .{class}")).or_else(|| of(".figure text")).expect("a size")
}

fn words_of(body: &str) -> Vec<Words> {
    let each = body.split("<text").skip(1).map(|element| {
        let (tag, rest) = element.split_once('>').expect("an element");
        let text = rest.split("</text>").next().unwrap_or_default();
        let text = ["&lt;", "&gt;", "&amp;", "&quot;", "&#39;"]
            .iter()
            .fold(text.to_owned(), |text, sign| text.replace(sign, "x"));
        let size = size(attribute(tag, "class"));
        let (width, height) = (text.chars().count() as f64 * LETTER * size, size);
        let from = |at: f64, length: f64| match attribute(tag, "text-anchor") {
            "middle" => at - length / 2.0,
            "end" => at - length,
            _ => at,
        };
        if let Some(turned) = attribute(tag, "transform").strip_prefix("translate(") {
            let (x, y) = turned.split(')').next().and_then(|place| place.split_once(' ')).expect("a place");
            let (x, top) = (number(x), from(number(y), width));
            return Words {
                text,
                left: x - 0.75 * height,
                right: x + 0.2 * height,
                top,
                bottom: top + width,
            };
        }
        let (left, y) = (from(number(attribute(tag, "x")), width), number(attribute(tag, "y")));
        Words { text, left, right: left + width, top: y - 0.75 * height, bottom: y + 0.2 * height }
    });
    each.collect()
}

/// Words that cover others, and words that leave the drawing.
fn collisions((width, height): (f64, f64), body: &str) -> Vec<String> {
    let all = words_of(body);
    let outside =
        all.iter().filter(|one| one.left < 0.0 || one.right > width || one.top < 0.0 || one.bottom > height);
    let outside = outside.map(|one| format!("“{}” leaves the drawing", one.text));
    let pairs = all.iter().enumerate().flat_map(|(place, one)| {
        let others = all[place + 1..].iter().filter(|other| one.covers(other));
        others.map(move |other| format!("“{}” and “{}”", one.text, other.text))
    });
    outside.chain(pairs).collect()
}

fn figures<'a>(blocks: &'a [Block], folded: bool, all: &mut Vec<&'a Figure>) {
    for block in blocks {
        match block {
            Block::Figure(figure) => all.push(figure),
            Block::Folded { blocks, .. } if folded => figures(blocks, folded, all),
            _ => {}
        }
    }
}

fn of_sections<'a>(sections: &'a [Section], all: &mut Vec<&'a Figure>) {
    for section in sections {
        figures(&section.blocks, true, all);
        of_sections(&section.sections, all);
    }
}

fn drawings(document: &Document) -> Vec<&Svg> {
    let mut all = vec![];
    of_sections(&document.front, &mut all);
    of_sections(&document.sections, &mut all);
    all.into_iter().flat_map(|figure| [Some(&figure.drawing), figure.otherwise.as_ref()]).flatten().collect()
}

#[test]
fn no_words_in_a_picture_cover_others() {
    let real = READ.iter().map(|(name, results)| (*name, results));
    let (mut pictures, mut words, mut found) = (0, 0, vec![]);
    for (name, results) in real.chain([("fixed", &FIXED.results), ("everything", &EVERYTHING.results)]) {
        let document = RunReport::of(results).document();
        for drawing in drawings(&document) {
            pictures += 1;
            words += words_of(drawing.body()).len();
            let all = collisions(drawing.size(), drawing.body());
            found.extend(all.into_iter().map(|said| format!("{name}, {}: {said}", drawing.name)));
        }
    }
    println!("{words} texts of {pictures} pictures");
    assert!(pictures > 200 && words > 4000, "{words} of {pictures}");
    assert!(found.is_empty(), "{} collisions:\n{}", found.len(), found.join("\n"));
}

#[test]
fn words_that_cover_others_are_found() {
    let results = &READ[0].1;
    let drawing = RunReport::of(results).picture().expect("a picture");
    assert!(collisions(drawing.size(), drawing.body()).is_empty());
    let moved = drawing.body().replacen("x=\"14.0\"", "x=\"200.0\"", 40);
    assert!(!collisions(drawing.size(), &moved).is_empty());
    let (width, height) = drawing.size();
    assert!(!collisions((width / 2.0, height), drawing.body()).is_empty());
}

/// The section of an experiment.
fn section<'a>(document: &'a Document, experiment: &str) -> Option<&'a Section> {
    let anchor = experiment.replace('/', "-");
    document
        .sections
        .iter()
        .flat_map(|chapter| &chapter.sections)
        .find(|section| section.key.name() == anchor)
}

fn measured<'a>(results: &'a Results, experiment: &'a str) -> Vec<&'a PointResult> {
    let has_value =
        |point: &&PointResult| matches!(point.outcome, Outcome::Value(_) | Outcome::BelowResolution { .. });
    results.of_experiment(experiment).filter(has_value).collect()
}

/// The points that are main figures of an experiment.
fn main_points<'a>(results: &'a Results, experiment: &'a str) -> Vec<&'a PointResult> {
    // The main figures of another version of the method are not known.
    let Some(known) = results.experiment(experiment) else { return vec![] };
    let shown = known.about().shown;
    let landmarks = (shown.landmarks)(&results.run.header.machine);
    let points = measured(results, experiment);
    let of = |wanted: &Point| points.iter().copied().find(|point| point.point == *wanted);
    let worth = |point: &Point| of(point).and_then(PointResult::worth);
    let figures = shown.main_figures.iter().filter(|figure| !figure.slope);
    let chosen = figures.filter_map(|figure| {
        of(figure.choose_best(points.iter().map(|point| &point.point), &landmarks, worth).first()?)
    });
    chosen.collect()
}

/// A section of which two points of a kind have values has them in its table alone.
#[test]
fn every_main_figure_is_in_a_picture_of_its_section() {
    let mut shown = 0;
    for (name, results) in READ.iter() {
        let document = RunReport::of(results).document();
        for experiment in results.experiments().into_iter().filter(|name| !measured(results, name).is_empty())
        {
            let section = section(&document, experiment).unwrap_or_else(|| panic!("no section {experiment}"));
            let mut pictures = vec![];
            figures(&section.blocks, false, &mut pictures);
            for point in main_points(results, experiment) {
                let alike =
                    measured(results, experiment).into_iter().filter(|other| other.unit == point.unit);
                let label = words::label(point, &point.point).replace('&', "&amp;").replace('\'', "&#39;");
                let title = format!("<title>{label}: ");
                let is_in = pictures.iter().any(|picture| picture.drawing.body().contains(&title));
                assert!(is_in || alike.count() < 3, "{name}: {experiment} {label} is in no picture");
                shown += usize::from(is_in);
            }
        }
    }
    // Those of the recorded runs whose methods still have their versions.
    assert!(shown > 40, "{shown}");
}

#[test]
fn variants_are_drawn_from_three_on_and_all_system_calls_together() {
    for (name, results) in READ.iter() {
        let document = RunReport::of(results).document();
        for drawing in drawings(&document) {
            let rows = drawing.body().matches("class=\"guide\"").count();
            assert!(rows == 0 || rows > 2, "{name}: {} has {rows} rows", drawing.name);
        }
        let rows = |experiment: &str, of: fn(&PointResult) -> bool| {
            let mut pictures = vec![];
            figures(&section(&document, experiment).expect("a section").blocks, false, &mut pictures);
            let drawn = pictures[0].drawing.body().matches("class=\"guide\"").count();
            (drawn, measured(results, experiment).into_iter().filter(|point| of(point)).count())
        };
        let (drawn, all) = rows("cpu/system_call", |_| true);
        assert_eq!(drawn, all, "{name}: system calls");
        let (drawn, all) = rows("cpu/context_switch", |point| point.point.number_of("members").is_none());
        assert_eq!(drawn, all, "{name}: switches");
    }
}

#[test]
fn the_machine_is_in_one_picture_with_its_main_operations() {
    for (name, results) in READ.iter() {
        let drawing = RunReport::of(results).picture().expect("a picture");
        let (width, height) = drawing.size();
        let rows = drawing.body().matches("class=\"guide\"").count();
        assert!(rows >= 20, "{name}: {rows} operations");
        assert!((width - 1200.0).abs() < 1.0 && (500.0..=700.0).contains(&height), "{name}: {height}");
    }
}
