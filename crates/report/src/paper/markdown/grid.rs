//! The lines of a table. A short one is padded, so that it reads as plain text too.

use crate::paper::Align;

/// A table with more rows is not padded: nobody reads it as plain text.
const MOST_PADDED: usize = 150;

/// Longer cells do not widen their column.
const WIDEST: usize = 60;

/// A row of cells, or the head of a group of rows.
pub(super) enum GridLine {
    Head(String),
    Cells(Vec<String>),
}

pub(super) fn written(heads: &[String], aligns: &[Align], lines: &[GridLine]) -> String {
    let widths = widths(heads, lines);
    let row = |cells: &[String]| {
        let cells = cells.iter().zip(&widths).zip(aligns);
        let padded: Vec<String> = cells.map(|((cell, width), align)| aligned(cell, *width, *align)).collect();
        format!("| {} |\n", padded.join(" | "))
    };
    let rules = aligns.iter().zip(&widths).map(|(align, width)| rule(*align, *width));
    let mut text = row(heads) + &format!("|{}|\n", rules.collect::<Vec<_>>().join("|"));
    for line in lines {
        match line {
            GridLine::Cells(cells) => text += &row(cells),
            GridLine::Head(head) => {
                text += &format!("| **{head}** |{}\n", " |".repeat(heads.len().saturating_sub(1)));
            }
        }
    }
    text
}

fn widths(heads: &[String], lines: &[GridLine]) -> Vec<usize> {
    let mut widths = vec![0; heads.len()];
    if lines.len() > MOST_PADDED {
        return widths;
    }
    let rows = lines.iter().filter_map(|line| match line {
        GridLine::Cells(cells) => Some(cells.as_slice()),
        GridLine::Head(_) => None,
    });
    for cells in rows.chain([heads]) {
        for (width, cell) in widths.iter_mut().zip(cells) {
            let length = cell.chars().count();
            *width = (*width).max(if length <= WIDEST { length } else { 0 });
        }
    }
    widths
}

fn aligned(cell: &str, width: usize, align: Align) -> String {
    match align {
        Align::Words => format!("{cell:<width$}"),
        Align::Numbers => format!("{cell:>width$}"),
        Align::Signs => format!("{cell:^width$}"),
    }
}

fn rule(align: Align, width: usize) -> String {
    let dashes = "-".repeat(width.max(2));
    match align {
        Align::Words => format!(":{dashes}-"),
        Align::Numbers => format!("-{dashes}:"),
        Align::Signs => format!(":{dashes}:"),
    }
}
