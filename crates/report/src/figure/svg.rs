//! Marks, lines and words in SVG. Colours and line widths are classes, so that the page's style sheet can change them for
//! light and dark; positions have a resolution of a tenth of a pixel.

use crate::text;
use std::fmt::Write;

/// Width of every figure, in SVG pixels: as many as keep its smallest letters, of 12, above six points where a figure is printed beside
/// its text or another, 9.35 cm wide.
pub(super) const WIDTH: f64 = 528.0;

/// Estimated width of a letter of the figures' text, in SVG pixels; somewhat generous, because no font can be measured.
pub(super) const LETTER: f64 = 6.7;

/// The number of series that differ in colour and shape.
pub const SERIES: usize = 6;

pub struct Drawing {
    width: f64,
    height: f64,
    body: String,
}

impl Drawing {
    /// A drawing of the usual width.
    pub fn new(height: f64) -> Self {
        Drawing::sized(WIDTH, height)
    }

    pub fn sized(width: f64, height: f64) -> Self {
        Drawing { width, height, body: String::new() }
    }

    pub fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let ((x1, y1), (x2, y2)) = (from, to);
        let _ = write!(
            self.body,
            r#"<line class="{class}" x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}"/>"#
        );
    }

    /// A line through several positions.
    pub fn path(&mut self, class: &str, places: &[(f64, f64)]) {
        let points: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = write!(self.body, r#"<polyline class="{class}" points="{}"/>"#, points.join(" "));
    }

    /// A cell whose colour has this coverage: 0 none, 1 full.
    pub fn cell(&mut self, (x, y): (f64, f64), side: f64, cover: f64) {
        let _ = write!(
            self.body,
            r#"<rect class="cell" x="{x:.1}" y="{y:.1}" width="{side:.1}" height="{side:.1}" fill-opacity="{cover:.2}"/>"#
        );
    }

    /// Words; `anchor` is start, middle or end.
    pub fn text(&mut self, class: &str, anchor: &str, at: (f64, f64), words: &str) {
        let ((x, y), words) = (at, escape(words));
        let _ = write!(
            self.body,
            r#"<text class="{class}" x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{words}</text>"#
        );
    }

    /// Words along the left edge, rotated to be read upwards.
    pub fn upright(&mut self, at: (f64, f64), words: &str) {
        let ((x, y), words) = (at, escape(words));
        let _ = write!(
            self.body,
            r#"<text class="name" text-anchor="middle" transform="translate({x:.1} {y:.1}) rotate(-90)">{words}</text>"#
        );
    }

    /// The mark of a series: each has its own shape, so that colour is not needed to distinguish them.
    pub fn mark(&mut self, class: &str, series: usize, at: (f64, f64)) {
        let (x, y) = at;
        let mut polygon = |corners: &[(f64, f64)]| {
            let corners: Vec<String> =
                corners.iter().map(|(dx, dy)| format!("{:.1},{:.1}", x + dx, y + dy)).collect();
            let _ = write!(self.body, r#"<polygon class="{class}" points="{}"/>"#, corners.join(" "));
        };
        match series % SERIES {
            1 => polygon(&[(-3.4, -3.4), (3.4, -3.4), (3.4, 3.4), (-3.4, 3.4)]),
            2 => polygon(&[(0.0, -4.6), (4.3, 3.2), (-4.3, 3.2)]),
            3 => polygon(&[(0.0, -5.0), (5.0, 0.0), (0.0, 5.0), (-5.0, 0.0)]),
            4 => polygon(&[(0.0, 4.6), (4.3, -3.2), (-4.3, -3.2)]),
            5 => polygon(&[(-2.2, -4.6), (2.2, -4.6), (4.6, 0.0), (2.2, 4.6), (-2.2, 4.6), (-4.6, 0.0)]),
            _ => {
                let _ = write!(self.body, r#"<circle class="{class}" cx="{x:.1}" cy="{y:.1}" r="3.8"/>"#);
            }
        }
    }

    /// A cross in place of a mark, for a value that is not to be compared with those of the marks.
    pub fn cross(&mut self, class: &str, (x, y): (f64, f64)) {
        self.line(class, (x - 3.8, y - 3.8), (x + 3.8, y + 3.8));
        self.line(class, (x - 3.8, y + 3.8), (x + 3.8, y - 3.8));
    }

    /// A small dot for one of very many observations of a series.
    pub fn dot(&mut self, series: usize, at: (f64, f64)) {
        let ((x, y), series) = (at, series % SERIES);
        let _ = write!(self.body, r#"<circle class="s{series} dot" cx="{x:.1}" cy="{y:.1}" r="1.7"/>"#);
    }

    /// Adds these words as a tooltip to everything that `draw` draws.
    pub fn titled(&mut self, words: &str, draw: impl FnOnce(&mut Self)) {
        let _ = write!(self.body, "<g><title>{}</title>", escape(words));
        draw(self);
        self.body.push_str("</g>");
    }

    /// Makes everything that `draw` draws one curve of several, which the page may hide.
    pub fn curve(&mut self, name: &str, draw: impl FnOnce(&mut Self)) {
        let _ = write!(self.body, r#"<g class="curve" data-name="{}">"#, escape(name));
        draw(self);
        self.body.push_str("</g>");
    }

    /// The legend of the series in lines below `top`, as far as it fits.
    pub fn legend(&mut self, left: f64, top: f64, names: &[String]) {
        self.legend_from(0, left, top, names);
    }

    /// The same with series numbers from `first` on.
    pub(crate) fn legend_from(&mut self, first: usize, left: f64, top: f64, names: &[String]) {
        let names = fitting(left, names);
        for (place, (x, y)) in legend_places(left, &names).0.into_iter().enumerate() {
            let series = first + place;
            self.mark(&format!("s{series}"), series, (x + 5.0, top + y - 4.0));
            self.text("tick", "start", (x + 15.0, top + y), &names[place]);
        }
    }

    /// The finished drawing, with its text alternative.
    pub fn finish(self, name: &str, description: &str) -> Svg {
        Svg {
            name: name.to_owned(),
            description: description.to_owned(),
            width: self.width,
            height: self.height,
            body: self.body,
        }
    }
}

/// A finished drawing. Its body is markup with every word escaped, and can be made by a [`Drawing`] only.
#[derive(Debug, Clone, PartialEq)]
pub struct Svg {
    /// Its content, in a few words.
    pub name: String,
    /// Its text alternative.
    pub description: String,
    width: f64,
    height: f64,
    body: String,
}

impl Svg {
    /// Width and height, in SVG pixels.
    pub fn size(&self) -> (f64, f64) {
        (self.width, self.height)
    }

    /// Whether it is wider than others.
    pub fn is_broad(&self) -> bool {
        self.width > WIDTH
    }

    /// The marks, without the element around them.
    pub fn body(&self) -> &str {
        &self.body
    }
}

/// The height of a legend, in SVG pixels.
pub(super) fn legend_height(left: f64, names: &[String]) -> f64 {
    legend_places(left, &fitting(left, names)).1
}

/// The names of a legend, none longer than its line; the caption's table has the rest.
fn fitting(left: f64, names: &[String]) -> Vec<String> {
    text::distinct_names(names, letters("", WIDTH - left - 30.0))
}

fn legend_places(left: f64, names: &[String]) -> (Vec<(f64, f64)>, f64) {
    let (mut x, mut y) = (left, 14.0);
    let mut places = vec![];
    for name in names {
        let width = 30.0 + width(name);
        if x > left && x + width > WIDTH {
            (x, y) = (left, y + 18.0);
        }
        places.push((x, y));
        x += width;
    }
    (places, y + 8.0)
}

/// The width of some words in the usual size, in SVG pixels.
pub(super) fn width(words: &str) -> f64 {
    words.chars().count() as f64 * LETTER
}

/// The width of some words of a class, in SVG pixels.
pub(super) fn width_of(class: &str, words: &str) -> f64 {
    width(words) * size(class) / size("")
}

/// The size of letters of a class, in SVG pixels, as in the style sheet.
fn size(class: &str) -> f64 {
    match class {
        "title" => 22.0,
        "op" | "kind" => 14.0,
        "name" | "level" => 13.0,
        _ => 12.0,
    }
}

/// The number of letters of a class that fit into this width.
pub(super) fn letters(class: &str, room: f64) -> usize {
    (room / (LETTER * size(class) / size(""))) as usize
}

/// At most this number of letters.
pub(super) fn shortened(words: &str, most: usize) -> String {
    if words.chars().count() <= most {
        return words.to_owned();
    }
    text::cut(words, most)
}

/// Text with XML's special characters escaped.
fn escape(words: &str) -> String {
    let mut safe = String::with_capacity(words.len());
    text::escape(&mut safe, words);
    safe
}
