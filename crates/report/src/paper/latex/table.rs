//! The widths of a table's columns, chosen so that it fits on the page: numbers keep their width, words share the remaining
//! room, and if that is too little the letters are smaller.

use crate::paper::{Align, Column, Piece, Row, Table, Text};

/// Font sizes, in points, with LaTeX's names for them.
const SIZES: [(&str, f64); 3] = [("\\footnotesize", 8.0), ("\\scriptsize", 7.0), ("\\tiny", 5.0)];

/// The gap between two columns, in points: twice the document's column separation.
const GAP: f64 = 6.0;

/// The least width of a column of words, as a multiple of the font size.
const NARROWEST: f64 = 5.0;

/// The most room that a column of words keeps for its longest word, in the same measure: what is longer, as a path, is broken.
const LONGEST_WORD: f64 = 8.0;

/// The width of a letter of code, which all have, in the same measure.
const CODE_LETTER: f64 = 0.53;

/// The approximate maximum number of lines of a head.
const MOST_HEAD: f64 = 3.0;

/// The columns of a table that a file shows, with their widths.
pub(super) struct Tabular {
    /// The command that sets the font size.
    pub size: &'static str,
    /// The indices of the columns shown.
    pub shown: Vec<usize>,
    /// The total width, in points.
    pub width: f64,
    /// The column specification: `r`, `l`, or words of some width.
    pub shape: String,
    pub heads: Vec<Vec<String>>,
}

impl Tabular {
    /// For a table with this room in points; with or without the columns that may be omitted.
    pub(super) fn of(table: &Table, room: f64, optional: bool) -> Self {
        let shown: Vec<usize> =
            (0..table.columns.len()).filter(|place| optional || !table.columns[*place].optional).collect();
        let columns: Vec<MeasuredColumn> =
            shown.iter().map(|place| MeasuredColumn::of(table, *place)).collect();
        let room_for = |(_, points): &(&str, f64)| {
            (room - GAP * columns.len().saturating_sub(1) as f64).max(0.0) / points
        };
        let fits = |size: &&(&'static str, f64)| {
            columns.iter().map(|column| column.least).sum::<f64>() <= room_for(size)
        };
        let size = SIZES.iter().find(fits).unwrap_or(&SIZES[SIZES.len() - 1]);
        let widths = fitted(&columns, room_for(size));
        let shape = columns.iter().zip(&widths).map(|(column, width)| column.shape(*width, size.1)).collect();
        let heads = columns.iter().zip(&widths).map(|(column, width)| lines(&column.head, *width)).collect();
        let width = widths.iter().sum::<f64>() * size.1 + GAP * columns.len().saturating_sub(1) as f64;
        Tabular { size: size.0, shown, width, shape, heads }
    }
}

/// A column and its widths, as multiples of the font size.
struct MeasuredColumn {
    align: Align,
    head: String,
    /// The width with every cell on one line.
    natural: f64,
    /// The least width, with words broken into lines.
    least: f64,
}

impl MeasuredColumn {
    fn of(table: &Table, place: usize) -> Self {
        let column: &Column = &table.columns[place];
        let rows = table.groups.iter().flat_map(|group| &group.rows);
        let cells = || rows.clone().filter_map(|row: &Row| row.cells.get(place)).map(words);
        let head = words(&column.title());
        let of_head = head.split(' ').map(width).fold(width(&head) / MOST_HEAD, f64::max);
        let natural = cells().map(|cell| width(&cell)).fold(of_head, f64::max);
        let texts = rows.clone().filter_map(|row: &Row| row.cells.get(place));
        let longest_word = texts.map(longest_word).fold(0.0, f64::max).min(LONGEST_WORD);
        let least = match column.align {
            Align::Words => natural.min(NARROWEST.max(of_head).max(longest_word)),
            Align::Numbers | Align::Signs => natural,
        };
        MeasuredColumn { align: column.align, head, natural, least }
    }

    fn shape(&self, width: f64, points: f64) -> String {
        match self.align {
            Align::Numbers => "r".to_owned(),
            Align::Signs => "c".to_owned(),
            Align::Words if width >= self.natural => "l".to_owned(),
            Align::Words => format!(">{{\\raggedright\\arraybackslash}}p{{{:.1}pt}}", width * points),
        }
    }
}

/// The widths after the widest columns of words were narrowed until all fit.
fn fitted(columns: &[MeasuredColumn], room: f64) -> Vec<f64> {
    let mut widths: Vec<f64> = columns.iter().map(|column| column.natural).collect();
    while widths.iter().sum::<f64>() > room {
        let wide = |place: &usize| widths[*place] > columns[*place].least;
        let widest =
            (0..widths.len()).filter(wide).max_by(|one, other| widths[*one].total_cmp(&widths[*other]));
        let Some(place) = widest else { break };
        widths[place] = (widths[place] - 1.0).max(columns[place].least);
    }
    widths
}

/// Words in lines of this width; a longer word has its own line.
fn lines(text: &str, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = vec![];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if width(line) + width(" ") + width(word) <= room => *line = format!("{line} {word}"),
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The words of a text, without its notes.
fn words(text: &Text) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Plain(words) | Piece::Toned(_, words) | Piece::Strong(words) => words.clone(),
        // Letters of code are wider.
        Piece::Code(words) | Piece::Link { words, .. } => {
            format!("{words}{}", "n".repeat(words.chars().count() / 10))
        }
        Piece::Sign(_) => "m".to_owned(),
        Piece::To(_) => "Table A999 of the appendix".to_owned(),
        Piece::Cite(_) => " [999]".to_owned(),
        Piece::Note(_) => "aa".to_owned(),
    };
    text.pieces().iter().map(piece).collect()
}

/// The width of the longest word of a text, as a multiple of the font size.
fn longest_word(text: &Text) -> f64 {
    let of_piece = |piece: &Piece| match piece {
        Piece::Plain(words) | Piece::Toned(_, words) | Piece::Strong(words) => {
            words.split(' ').map(width).fold(0.0, f64::max)
        }
        Piece::Code(words) | Piece::Link { words, .. } => {
            words.split(' ').map(|word| CODE_LETTER * word.chars().count() as f64).fold(0.0, f64::max)
        }
        _ => 0.0,
    };
    text.pieces().iter().map(of_piece).fold(0.0, f64::max)
}

/// The width of text in Times, rounded up, as a multiple of the font size.
fn width(text: &str) -> f64 {
    text.chars().map(of_letter).sum()
}

fn of_letter(letter: char) -> f64 {
    match letter {
        'i' | 'j' | 'l' | 't' | '.' | ',' | ':' | ';' | '\'' | '|' | '/' | ' ' | '·' => 0.29,
        'f' | 'r' | 'I' | '(' | ')' | '[' | ']' | '-' => 0.35,
        'a' | 'c' | 'e' | 'k' | 's' | 'v' | 'x' | 'y' | 'z' => 0.5,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '…' | '—' => 1.0,
        letter if letter.is_ascii_uppercase() => 0.73,
        letter if letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '–' => 0.51,
        _ => 0.6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::Key;

    fn table(words: &str, numbers: usize) -> Table {
        let columns = (0..numbers).map(|_| Column::number("median time", "ns").optional());
        let cells = (0..numbers).map(|_| Text::plain("1234.5"));
        Table::new(Key::of("t"), "T")
            .columns([Column::words("operation")].into_iter().chain(columns))
            .rows([Row::of([Text::plain(words)].into_iter().chain(cells))])
    }

    #[test]
    fn a_narrow_table_is_as_wide_as_its_cells_and_a_wide_one_as_the_paper() {
        assert_eq!(Tabular::of(&table("read", 2), 500.0, true).shape, "lrr");
        let wide = Tabular::of(&table(&"many words ".repeat(30), 2), 500.0, true);
        assert!(wide.shape.starts_with(">{\\raggedright") && wide.width <= 500.0, "{}", wide.shape);
        assert_eq!(wide.size, "\\footnotesize");
    }

    #[test]
    fn many_columns_have_small_letters_or_are_left_out() {
        let crowded = Tabular::of(&table("read", 15), 500.0, true);
        assert!(
            crowded.size == "\\scriptsize" && crowded.width <= 500.0,
            "{} {}",
            crowded.size,
            crowded.width
        );
        assert_eq!(Tabular::of(&table("read", 15), 500.0, false).shown, [0]);
    }

    #[test]
    fn heads_of_numbers_break_where_their_numbers_are_narrower() {
        let layout = Tabular::of(&table("read", 1), 500.0, true);
        assert_eq!(layout.heads[1], ["median", "time", "(ns)"]);
    }
}
