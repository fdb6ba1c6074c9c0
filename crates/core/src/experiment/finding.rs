//! Findings: statements on the results, each an answer to a question, in sentences whose figures the report rounds.
//!
//! A statement is written as it is read:
//!
//! ```text
//! statement!("A process costs {process}, a thread {thread}.", process = process.named("a process"), thread = …)
//! ```

use super::found::Found;
use super::point::Point;
use std::cell::RefCell;
use std::fmt::{self, Write as _};

macro_rules! questions {
    ($($variant:ident: $name:literal, $text:literal;)*) => {
        /// Questions about results: the comparisons of the published reports.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Question {
            $(#[doc = $text] $variant,)*
        }

        impl Question {
            /// Every question, in the order of the reports.
            pub const ALL: [Question; [$($name),*].len()] = [$(Question::$variant),*];

            /// The name in JSON and other machine-readable output.
            pub fn name(self) -> &'static str {
                match self {
                    $(Question::$variant => $name,)*
                }
            }

            /// The question in words.
            pub fn text(self) -> &'static str {
                match self {
                    $(Question::$variant => $text,)*
                }
            }
        }
    };
}

questions! {
    Prediction: "prediction", "How close is each result to the cost of the base hardware and to its prediction?";
    Miss: "miss", "Where a prediction missed by more than a factor of two, what was wrong?";
    Argument: "argument", "What does one more argument cost?";
    SystemCall: "system_call",
        "What does a system call cost in procedure calls, and what does a call cost whose answer is cached?";
    Thread: "thread", "What does it cost to create and to switch to a thread, compared with a process?";
    Fault: "fault", "What does a byte cost through a page fault, compared with a load from memory?";
    Caches: "caches", "Are the levels of the memory hierarchy as declared?";
    Bandwidth: "bandwidth",
        "How much of the memory's theoretical bandwidth do one and many threads reach, reading and writing?";
    Software: "software", "How much of the time between two hosts is software, and how much is the network?";
    Ping: "ping", "How long is a TCP round trip, compared with a ping?";
    Adapter: "adapter", "Is the network adapter the limit?";
    SetUp: "set_up", "What does it cost to open and to end a connection, in round trips?";
    FileCache: "file_cache", "How much of the memory can the page cache use for a file?";
    Order: "order", "What does random order cost compared with sequential order, by the size of the file?";
    Penalty: "penalty",
        "What does the network add to reading a file, compared with what its round trip and bandwidth predict?";
    Contention: "contention",
        "What does one more reading process cost, compared with a device that serves one request after the other?";
    Published: "published", "How do results compare with published ones?";
    Experiment: "experiment", "What else do the results show?";
}

/// A number in a statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Its name, for programs and for tables.
    pub name: String,
    /// Its value, interval and dimension.
    pub found: Found,
}

/// A part of a statement.
#[allow(
    clippy::large_enum_variant,
    reason = "of a report's few thousand pieces most are figures, with their modes"
)]
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// Words.
    Text(String),
    /// A number.
    Figure(Figure),
    /// A point, written as everywhere in the report.
    Point {
        /// Its experiment.
        experiment: String,
        /// Its parameters.
        point: Point,
        /// Whether another point differs from it by its placement only, so that its name says the usual one as well.
        is_placed: bool,
    },
}

/// Words and figures, in the order in which they are read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Statement(pub Vec<Piece>);

impl Statement {
    /// Appends words, a figure, or another statement. Words after words become one piece.
    pub fn push(&mut self, more: impl Into<Statement>) {
        for piece in more.into().0 {
            match (self.0.last_mut(), piece) {
                (Some(Piece::Text(before)), Piece::Text(text)) => before.push_str(&text),
                (_, piece) => self.0.push(piece),
            }
        }
    }

    /// A statement of a point's name.
    pub fn point(experiment: &str, point: &Point) -> Self {
        Statement(vec![Piece::Point {
            experiment: experiment.to_owned(),
            point: point.clone(),
            is_placed: false,
        }])
    }

    /// Lets the names of those points say their placement.
    pub fn place(&mut self, is_ambiguous: impl Fn(&str, &Point) -> bool) {
        for piece in &mut self.0 {
            if let Piece::Point { experiment, point, is_placed } = piece {
                *is_placed = is_ambiguous(experiment, point);
            }
        }
    }

    /// Statements joined by a separator; `None` if there are none.
    pub fn joined(parts: impl IntoIterator<Item = Statement>, between: &str) -> Option<Statement> {
        let mut parts = parts.into_iter();
        let mut all = parts.next()?;
        for part in parts {
            all.push(between);
            all.push(part);
        }
        Some(all)
    }

    /// The figures, in the order in which they are read.
    pub fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Figure(figure) => Some(figure),
            Piece::Text(_) | Piece::Point { .. } => None,
        })
    }

    /// The words, with every figure as its unrounded value in braces, for tests.
    pub fn plain(&self) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Figure(figure) => format!("{{{}}}", figure.found.value),
            Piece::Point { point, .. } => format!("<{point}>"),
        };
        self.0.iter().map(piece).collect()
    }

    /// Changes all words, including the figures' names, and all points.
    pub fn reword(&mut self, word: impl Fn(&str) -> String, name: impl Fn(&Point) -> Point) {
        for piece in &mut self.0 {
            match piece {
                Piece::Text(text) => *text = word(text),
                Piece::Figure(figure) => figure.name = word(&figure.name),
                Piece::Point { point, .. } => *point = name(point),
            }
        }
    }
}

impl From<&str> for Statement {
    fn from(text: &str) -> Self {
        Statement(vec![Piece::Text(text.to_owned())])
    }
}

impl From<String> for Statement {
    fn from(text: String) -> Self {
        Statement(vec![Piece::Text(text)])
    }
}

impl From<&String> for Statement {
    fn from(text: &String) -> Self {
        text.as_str().into()
    }
}

impl From<usize> for Statement {
    fn from(count: usize) -> Self {
        count.to_string().into()
    }
}

/// A part that a statement may lack.
impl From<Option<Statement>> for Statement {
    fn from(part: Option<Statement>) -> Self {
        part.unwrap_or_default()
    }
}

impl From<Figure> for Statement {
    fn from(figure: Figure) -> Self {
        Statement(vec![Piece::Figure(figure)])
    }
}

/// A statement on results, and the question that it answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The question.
    pub question: Question,
    /// What tells it from the other findings of its experiment, whatever its figures are: its template, and what it is about.
    pub key: String,
    /// The answer.
    pub statement: Statement,
    /// How many values it sets beside each other, where it leaves out those of another state of the core; 0 of one that leaves out none.
    pub compared: usize,
}

impl Finding {
    /// An answer to a question.
    pub fn of(question: Question, key: &str, statement: Statement) -> Self {
        Finding { question, key: key.to_owned(), statement, compared: 0 }
    }

    /// Says how many values of one state of the core it sets beside each other: the same of more, in the other state, takes its place.
    #[must_use]
    pub fn comparing(self, compared: usize) -> Self {
        Finding { compared, ..self }
    }

    /// Says which of several findings from one template it is.
    #[must_use]
    pub fn about(mut self, variant: impl fmt::Display) -> Self {
        self.key += &format!(" ({variant})");
        self
    }

    /// Its template, without what it is about: what it has in common with the same finding about another variant.
    pub fn template(&self) -> &str {
        let of_variant = self.key.strip_suffix(')').and_then(|key| key.rsplit_once(" ("));
        of_variant.map_or(&self.key, |(template, _)| template)
    }

    /// Whether it gives the reason why a prediction missed.
    pub fn is_miss(&self) -> bool {
        self.question == Question::Miss
    }
}

/// The text and the pieces of a `statement!`, in the order of its template.
#[derive(Default)]
pub struct Template(RefCell<Statement>);

/// A piece of a template: it enters the statement where the template's text has got to.
pub struct Inserted<'a> {
    piece: Statement,
    template: &'a Template,
}

impl Template {
    /// A named piece.
    pub fn piece(&self, piece: impl Into<Statement>) -> Inserted<'_> {
        Inserted { piece: piece.into(), template: self }
    }

    /// The statement. `text` names the pieces.
    pub fn statement(&self, text: fmt::Arguments) -> Statement {
        // Neither writing to a statement nor a piece fails; only text whose own `Display` fails is lost.
        let _ = (&mut &*self).write_fmt(text);
        self.0.take()
    }
}

impl fmt::Write for &Template {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.borrow_mut().push(text);
        Ok(())
    }
}

impl fmt::Display for Inserted<'_> {
    fn fmt(&self, _: &mut fmt::Formatter) -> fmt::Result {
        self.template.0.borrow_mut().push(self.piece.clone());
        Ok(())
    }
}

/// A statement from a template and its pieces: figures, words and other statements. `name` alone stands for `name = name`. As
/// in `format!`, values that are text may be written in the template without more: `{path}`, `{percent:.0}`.
#[macro_export]
macro_rules! statement {
    ($text:literal $(, $name:ident $(= $piece:expr)?)* $(,)?) => {{
        let template = $crate::experiment::Template::default();
        template.statement(format_args!(
            $text $(, $name = $crate::experiment::statement!(@ template $name $(= $piece)?))*
        ))
    }};
    (@ $template:ident $name:ident) => { $template.piece($name) };
    (@ $template:ident $name:ident = $piece:expr) => { $template.piece($piece) };
}

/// A finding: the question, then a template and its pieces as for `statement!`. What an experiment says several times, of one variant
/// after the other, it tells apart with [`Finding::about`].
#[macro_export]
macro_rules! finding {
    ($question:expr, $text:literal $($pieces:tt)*) => {
        $crate::experiment::Finding::of($question, $text, $crate::experiment::statement!($text $($pieces)*))
    };
}

impl Found {
    /// This value as a figure of a statement.
    pub fn named(self, name: &str) -> Figure {
        Figure { name: name.to_owned(), found: self }
    }

    /// The ratio to the other value in words, "times as" with `much` ("much", "long" or "fast"), if the intervals show a
    /// difference; `~` marks a ratio without an interval. A machine in several states has no one ratio.
    pub fn times_as(self, much: &str, other: Found, name: &str) -> Statement {
        if self.states.is_some() || other.states.is_some() {
            return "not compared, because the machine was in several states".into();
        }
        let ratio = self.over(other).named(name);
        match self.differs_from(&other) {
            Some(true) if self.differs_in_shares_alone(&other) => {
                "the two are not distinguished: they are of the same levels, in other shares".into()
            }
            Some(true) => statement!("{ratio} times as {much}", ratio),
            Some(false) => "the two are not significantly different".into(),
            None => statement!("~{ratio} times as {much}", ratio),
        }
    }

    /// The value with its ratio to another where the intervals show a difference, and that there is none where they do not; the ratio's name
    /// is the value's and what it is `over`.
    pub fn beside(self, other: Found, name: &str, over: &str) -> Statement {
        let value = self.named(name);
        if self.states.is_some() || other.states.is_some() {
            return statement!("{value}, not compared", value);
        }
        if self.differs_from(&other) == Some(false) {
            return statement!("{value}, not significantly different", value);
        }
        if self.differs_in_shares_alone(&other) {
            return statement!("{value}, not distinguished: of the same levels, in other shares", value);
        }
        statement!(
            "{value}, {times} times",
            value,
            times = self.over(other).named(&format!("{name} over {over}"))
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Dimension;

    #[test]
    fn a_value_beside_another_has_a_ratio_only_where_they_differ_and_are_of_one_state() {
        use crate::statistics::{Interval, Measured};
        let within = |value: f64| {
            let interval = Some(Interval { low: 0.9 * value, high: 1.1 * value });
            Found::measured(Measured { value, interval }, Dimension::Ratio)
        };
        let said = |value: f64| within(value).beside(within(2.0), "two threads", "one").plain();
        assert_eq!(said(6.0), "{6}, {3} times");
        assert_eq!(said(2.1), "{2.1}, not significantly different");
    }

    #[test]
    fn a_template_takes_text_and_pieces_in_its_own_order() {
        let figure = |value| Found::bare(value, Dimension::Ratio).named("a figure");
        let (path, percent, none) = ("loopback", 12.4, None::<Statement>);
        let inner = statement!("{one}, {{{path}}}", one = figure(1.0));
        let whole = statement!("{two} of {inner}{none}: {percent:.0} %.", inner, none, two = figure(2.0));
        assert_eq!(whole.plain(), "{2} of {1}, {loopback}: 12 %.");
        assert_eq!(whole.0.len(), 4, "text after text is one piece");
        assert_eq!(statement!("").plain(), "");
    }
}
