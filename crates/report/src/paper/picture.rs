//! A drawing as a file of its own, in SVG with the colours of the page, light and dark.

use super::html::FIGURE_STYLES;
use crate::figure::Svg;
use crate::text::escape;

/// The drawing with its style, on a ground of its own.
pub fn render(drawing: &Svg) -> String {
    let (width, height) = drawing.size();
    let mut text = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" class="figure" role="img" width="{width:.0}" height="{height:.0}" viewBox="0 0 {width:.0} {height:.0}">"#
    );
    text += "\n<title>";
    escape(&mut text, &drawing.name);
    text += "</title>\n<desc>";
    escape(&mut text, &drawing.description);
    text += "</desc>\n<style>\n";
    text += FIGURE_STYLES;
    text += "</style>\n<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n";
    text += drawing.body();
    text += "\n<metadata>Made by Fathom from the run file.</metadata>\n</svg>\n";
    text
}
