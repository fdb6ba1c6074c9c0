//! Places for words in a drawing, so that none covers others.

use super::axis::Axis;
use super::svg;

/// Height of a line of words above and below its baseline, in SVG pixels.
const ABOVE: f64 = 9.5;
const BELOW: f64 = 3.0;

/// Distance between two lines of names, in SVG pixels.
pub(super) const LINE: f64 = 15.0;

/// The space that words take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TextBox {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

impl TextBox {
    /// Of words with this anchor (start, middle or end) at a place on their baseline.
    pub fn of(anchor: &str, (x, y): (f64, f64), words: &str) -> Self {
        let width = svg::width(words);
        let left = match anchor {
            "end" => x - width,
            "middle" => x - width / 2.0,
            _ => x,
        };
        TextBox { left, right: left + width, top: y - ABOVE, bottom: y + BELOW }
    }

    /// With the space between two words beside it.
    fn apart(self) -> Self {
        TextBox { right: self.right + svg::LETTER, ..self }
    }

    /// Whether any of it covers any of the other.
    pub fn covers(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}

/// The ticks of an axis across the page with their words, as many as have room beside each other.
pub(super) fn ticks(axis: &Axis, most: usize, words: impl Fn(f64) -> String) -> Vec<(f64, String)> {
    let of = |most: usize| -> Vec<(f64, String)> {
        let ticks = axis.ticks(most).into_iter().map(|tick| (axis.place(tick), words(tick)));
        ticks.filter(|(_, words)| !words.is_empty()).collect()
    };
    let boxed = |(x, words): &(f64, String)| TextBox::of("middle", (*x, 0.0), words).apart();
    let are_apart =
        |ticks: &[(f64, String)]| ticks.windows(2).all(|pair| !boxed(&pair[0]).covers(&boxed(&pair[1])));
    let mut fewest = of(1);
    if let Some(ticks) = (1..=most).rev().map(of).find(|ticks| are_apart(ticks)) {
        return ticks;
    }
    let mut last: Option<TextBox> = None;
    fewest.retain(|tick| {
        let words = boxed(tick);
        let is_free = last.is_none_or(|last| !last.covers(&words));
        last = if is_free { Some(words) } else { last };
        is_free
    });
    fewest
}

/// Names along the upper edge of a plot, on as few lines as keep them apart.
pub(super) struct Names {
    boxes: Vec<TextBox>,
    /// The middle of the words and the line, from the lowest, of each name.
    places: Vec<(f64, usize)>,
}

impl Names {
    /// Places names as near as possible to the given positions, between `left` and `right`.
    pub fn placed<'a>(names: impl Iterator<Item = (f64, &'a str)>, (left, right): (f64, f64)) -> Self {
        let mut all = Names { boxes: vec![], places: vec![] };
        for (x, words) in names {
            let half = svg::width(words) / 2.0;
            let middle = x.min(right - half).max(left + half);
            let at = |line: usize| TextBox::of("middle", (middle, -(line as f64) * LINE), words);
            let is_free = |line: &usize| all.boxes.iter().all(|other| !other.covers(&at(*line)));
            // There are never more lines than names.
            let line = (0..all.boxes.len()).find(is_free).unwrap_or(all.boxes.len());
            all.boxes.push(at(line));
            all.places.push((middle, line));
        }
        all
    }

    /// The height of all lines.
    pub fn height(&self) -> f64 {
        self.places.iter().map(|(_, line)| *line + 1).max().unwrap_or(0) as f64 * LINE
    }

    /// The middles of the names on their baselines, the lowest of which is at `bottom`.
    pub fn above(&self, bottom: f64) -> impl Iterator<Item = (f64, f64)> {
        self.places.iter().map(move |(x, line)| (*x, bottom - *line as f64 * LINE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_would_cover_each_other_stand_on_several_lines() {
        let near =
            [(100.0, "L2 512 KiB"), (120.0, "L3, the share here"), (400.0, "L3 32 MiB"), (719.0, "end")];
        let placed = Names::placed(near.into_iter(), (0.0, 720.0));
        let lines: Vec<usize> = placed.places.iter().map(|(_, line)| *line).collect();
        assert_eq!(lines, [0, 1, 0, 0]);
        assert!(placed.height() > LINE);
        assert!(placed.boxes.iter().all(|words| words.left >= -0.1 && words.right <= 720.1));
        let covered = |one: usize| (0..one).any(|other| placed.boxes[one].covers(&placed.boxes[other]));
        assert!(!(0..4).any(covered));
    }
}
