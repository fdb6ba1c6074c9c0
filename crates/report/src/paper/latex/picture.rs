//! A drawing as a `picture` of LaTeX, from the elements of drawings. Lines and marks are operators of PDF (ISO 32000, 8.5),
//! which `pdflatex` passes on unchanged, so no package for drawings is needed; text is set by LaTeX.

use super::letters::plain;
use crate::figure::Svg;
use std::fmt::Write;

/// An element of a drawing with its attributes and its text.
struct Element<'a> {
    name: &'a str,
    attributes: &'a str,
    words: &'a str,
}

impl<'a> Element<'a> {
    fn all(body: &'a str) -> impl Iterator<Item = Self> {
        body.split('<').filter(|piece| !piece.starts_with('/')).filter_map(|piece| {
            let (tag, words) = piece.split_once('>')?;
            let (name, attributes) = tag.trim_end_matches('/').split_once(' ').unwrap_or((tag, ""));
            Some(Element { name, attributes, words })
        })
    }

    fn get(&self, attribute: &str) -> &'a str {
        let value = |(name, rest): (&str, &'a str)| {
            let is_it = name.rsplit(' ').next() == Some(attribute);
            is_it.then(|| rest.split('"').next().unwrap_or_default())
        };
        let ends = self.attributes.match_indices("=\"");
        ends.map(|(at, sign)| (&self.attributes[..at], &self.attributes[at + sign.len()..]))
            .find_map(value)
            .unwrap_or_default()
    }

    fn number(&self, attribute: &str) -> f64 {
        self.get(attribute).parse().unwrap_or(0.0)
    }

    fn is(&self, class: &str) -> bool {
        self.get("class").split(' ').any(|known| known == class)
    }
}

/// The greatest length of a unit of a drawing, in points of LaTeX, of which there are 72.27 per inch; PDF has 72.
const UNIT: f64 = 0.5;

/// The length of the control handles of the four Bézier curves that approximate a circle, as a share of the radius.
const HANDLE: f64 = 0.5523;

/// The colours of series, rules and lesser lines: red, green and blue, as on a printed page.
const SERIES: [[u8; 3]; 6] =
    [[11, 98, 181], [181, 72, 11], [26, 122, 61], [139, 47, 168], [138, 101, 0], [176, 32, 95]];
const RULE: [u8; 3] = [187; 3];
const FAINT: [u8; 3] = [68; 3];
const INK: [u8; 3] = [0; 3];

/// The length of a broad drawing along the side of the page, in points.
const BROAD: f64 = 640.0;

/// The picture, at most `most` points high; a broad one is turned along the side of the page.
pub(super) fn picture(drawing: &Svg, most: f64) -> String {
    let (width, height) = drawing.size();
    let unit = if drawing.is_broad() { BROAD / width } else { UNIT.min(most / height) };
    let mut picture = TexPicture { height, painted: String::new(), words: String::new() };
    Element::all(drawing.body()).for_each(|element| picture.element(&element));
    let scale = unit * 72.0 / 72.27;
    let picture = format!(
        "\\setlength{{\\unitlength}}{{{unit:.3}pt}}\n\\begin{{picture}}({width:.0},{height:.0})\n\\put(0,0){{\\pdfliteral{{q {scale:.4} 0 0 -{scale:.4} 0 {:.2} cm\n{}Q}}}}\n\
         {}\\end{{picture}}",
        scale * height,
        picture.painted,
        picture.words
    );
    if drawing.is_broad() { format!("\\rotatebox{{90}}{{{picture}}}") } else { picture }
}

/// Lines and marks have coordinates from the top, as in the drawing; text from the bottom.
struct TexPicture {
    height: f64,
    painted: String,
    words: String,
}

impl TexPicture {
    fn element(&mut self, element: &Element) {
        let number = |name: &str| element.number(name);
        match element.name {
            "line" => {
                let (from, to) = ((number("x1"), number("y1")), (number("x2"), number("y2")));
                self.paint(element, &path(&[from, to]), "S");
            }
            "polyline" => self.paint(element, &path(&points(element)), "S"),
            "polygon" => self.fill(element, &path(&points(element))),
            "circle" => {
                let circle = circle((number("cx"), number("cy")), number("r"));
                self.fill(element, &circle);
            }
            "rect" => {
                let sides = ["x", "y", "width", "height"].map(|name| format!("{:.1} ", number(name)));
                self.paint(element, &format!("{}re ", sides.concat()), "f");
            }
            "text" => self.write(element),
            _ => {}
        }
    }

    /// Draws a mark: filled, or hollow.
    fn fill(&mut self, element: &Element, path: &str) {
        self.paint(element, path, if element.is("hollow") { "b" } else { "f" });
    }

    /// Draws a path with the colour and line of its class: stroked, filled, or filled with white and stroked.
    fn paint(&mut self, element: &Element, path: &str, operator: &str) {
        let colour = colour(element);
        let ground = match element.get("fill-opacity").parse::<f64>() {
            Ok(cover) => colour.map(|part| 1.0 - cover * (1.0 - part)),
            Err(_) if operator == "b" => [1.0; 3],
            Err(_) => colour,
        };
        let rgb = |parts: [f64; 3]| parts.map(|part| format!("{part:.2} ")).concat();
        let thick = if element.is("line") || element.is("bar") { 1.8 } else { 1.0 };
        let dash = match () {
            () if element.is("landmark") => "5 4",
            () if element.is("guide") => "1 3",
            () => "",
        };
        let _ = writeln!(
            self.painted,
            "{}RG {}rg {thick} w [{dash}] 0 d {path}{operator}",
            rgb(colour),
            rgb(ground)
        );
    }

    fn write(&mut self, element: &Element) {
        let side = match element.get("text-anchor") {
            "start" => "l",
            "end" => "r",
            _ => "c",
        };
        let words = format!("\\makebox[0pt][{side}]{{{}}}", plain(&unescaped(element.words)));
        let turned = element.get("transform").strip_prefix("translate(");
        let turned = turned.and_then(|rest| rest.split(')').next()?.split_once(' '));
        let place = |number: &str| number.parse().unwrap_or(0.0);
        let ((x, y), words) = match turned {
            Some((x, y)) => ((place(x), place(y)), format!("\\rotatebox{{90}}{{{words}}}")),
            None => ((element.number("x"), element.number("y")), words),
        };
        let _ = writeln!(self.words, "\\put({x:.1},{:.1}){{{words}}}", self.height - y);
    }
}

fn points(element: &Element) -> Vec<(f64, f64)> {
    let pairs = element.get("points").split(' ').filter_map(|pair| pair.split_once(','));
    pairs.filter_map(|(x, y)| Some((x.parse().ok()?, y.parse().ok()?))).collect()
}

fn path(points: &[(f64, f64)]) -> String {
    let step = |(place, (x, y)): (usize, &(f64, f64))| {
        format!("{x:.1} {y:.1} {} ", if place == 0 { 'm' } else { 'l' })
    };
    points.iter().enumerate().map(step).collect()
}

fn circle((x, y): (f64, f64), r: f64) -> String {
    let h = r * HANDLE;
    let arcs = [
        [(r, h), (h, r), (0.0, r)],
        [(-h, r), (-r, h), (-r, 0.0)],
        [(-r, -h), (-h, -r), (0.0, -r)],
        [(h, -r), (r, -h), (r, 0.0)],
    ];
    let arc = |arc: [(f64, f64); 3]| {
        let places = arc.map(|(right, down)| format!("{:.2} {:.2} ", x + right, y + down));
        places.concat() + "c "
    };
    format!("{:.2} {y:.2} m {}", x + r, arcs.map(arc).concat())
}

/// The colour of an element's class, each part from 0 to 1.
fn colour(element: &Element) -> [f64; 3] {
    let series = |class: &str| match class.as_bytes() {
        [b's' | b'l', digit @ b'0'..=b'9'] => Some(SERIES[usize::from(digit - b'0') % SERIES.len()]),
        _ => None,
    };
    let parts = match element.get("class").split(' ').find_map(series) {
        Some(parts) => parts,
        None if element.is("cell") => SERIES[0],
        None if element.is("grid") || element.is("guide") => RULE,
        None if element.is("landmark") => FAINT,
        None => INK,
    };
    parts.map(|part| f64::from(part) / 255.0)
}

/// Words without the escapes for a page.
fn unescaped(words: &str) -> String {
    let signs = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    signs.iter().fold(words.to_owned(), |words, (entity, sign)| words.replace(entity, sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(body: &str) -> (String, String) {
        let mut picture = TexPicture { height: 100.0, painted: String::new(), words: String::new() };
        Element::all(body).for_each(|element| picture.element(&element));
        (picture.painted, picture.words)
    }

    #[test]
    fn what_is_drawn_stands_where_it_stood() {
        let (line, _) = drawn(r#"<line class="bar l2" x1="1.0" y1="10.0" x2="5.0" y2="20.0"/>"#);
        assert_eq!(line, "0.10 0.48 0.24 RG 0.10 0.48 0.24 rg 1.8 w [] 0 d 1.0 10.0 m 5.0 20.0 l S\n");
        let (_, words) = drawn(
            r#"<g><title>not &lt;drawn</title><text class="tick" x="3.0" y="4.0" text-anchor="end">a &lt; b_c</text></g>"#,
        );
        assert_eq!(words, "\\put(3.0,96.0){\\makebox[0pt][r]{a \\textless{} b\\_c}}\n");
        let (_, upright) = drawn(
            r#"<text class="name" text-anchor="middle" transform="translate(12.0 40.0) rotate(-90)">up</text>"#,
        );
        assert_eq!(upright, "\\put(12.0,60.0){\\rotatebox{90}{\\makebox[0pt][c]{up}}}\n");
    }

    #[test]
    fn a_hollow_mark_covers_what_is_below_it_and_a_cell_a_share_of_the_ground() {
        let (mark, _) = drawn(r#"<circle class="s1 hollow" cx="2.0" cy="3.0" r="3.8"/>"#);
        assert!(mark.contains(" RG 1.00 1.00 1.00 rg") && mark.ends_with("b\n"), "{mark}");
        let (cell, _) =
            drawn(r#"<rect class="cell" x="0.0" y="0.0" width="4.0" height="4.0" fill-opacity="0.00"/>"#);
        assert!(cell.contains("1.00 1.00 1.00 rg") && cell.ends_with("0.0 0.0 4.0 4.0 re f\n"), "{cell}");
    }

    #[test]
    fn a_circle_ends_where_it_began() {
        let circle = circle((10.0, 20.0), 2.0);
        assert!(circle.starts_with("12.00 20.00 m ") && circle.ends_with("12.00 20.00 c "), "{circle}");
        assert_eq!(circle.matches(" c ").count(), 4);
    }
}
