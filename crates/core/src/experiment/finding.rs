//! Findings: statements on the results, each an answer to a question, in sentences whose figures the report rounds.
//!
//! A statement is written as it is read:
//!
//! ```text
//! said!["A process costs ", process.named("a process"), ", a thread ", thread.named("a thread"), "."]
//! ```

use super::found::Found;
use super::point::Point;

/// Questions about results: the comparisons of the published reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Question {
    /// Measurement compared with base hardware and prediction.
    Prediction,
    /// The reason why a prediction missed.
    Miss,
    /// The cost of one more argument.
    Argument,
    /// A system call compared with a procedure call; cached with uncached.
    SystemCall,
    /// A thread compared with a process.
    Thread,
    /// A page fault compared with a load.
    Fault,
    /// Levels found compared with levels declared.
    Caches,
    /// Memory bandwidth compared with the theoretical one; read with write; one thread with many.
    Bandwidth,
    /// Shares of software and network.
    Software,
    /// TCP compared with ICMP echo.
    Ping,
    /// The effect of the network adapter.
    Adapter,
    /// Opening and ending connections.
    SetUp,
    /// The page cache compared with memory.
    FileCache,
    /// Sequential compared with random order.
    Order,
    /// Files over a network.
    Penalty,
    /// Processes that read concurrently.
    Contention,
    /// Comparison with published figures.
    Published,
    /// The experiment's own question.
    Experiment,
}

impl Question {
    /// Every question, in the order of the reports.
    pub const ALL: [Question; 18] = [
        Question::Prediction,
        Question::Miss,
        Question::Argument,
        Question::SystemCall,
        Question::Thread,
        Question::Fault,
        Question::Caches,
        Question::Bandwidth,
        Question::Software,
        Question::Ping,
        Question::Adapter,
        Question::SetUp,
        Question::FileCache,
        Question::Order,
        Question::Penalty,
        Question::Contention,
        Question::Published,
        Question::Experiment,
    ];

    /// The question in words.
    pub fn asked(self) -> &'static str {
        match self {
            Question::Prediction => {
                "How close is each result to the cost of the base hardware and to its prediction?"
            }
            Question::Miss => "Where a prediction missed by more than a factor of two, what was wrong?",
            Question::Argument => "What does one more argument cost?",
            Question::SystemCall => {
                "What does a system call cost in procedure calls, and what does a call cost whose answer is cached?"
            }
            Question::Thread => {
                "What does it cost to create and to switch to a thread, compared with a process?"
            }
            Question::Fault => {
                "What does a byte cost through a page fault, compared with a load from memory?"
            }
            Question::Caches => "Are the levels of the memory hierarchy as declared?",
            Question::Bandwidth => {
                "How much of the memory's theoretical bandwidth do one and many threads reach, reading and writing?"
            }
            Question::Software => {
                "How much of the time between two hosts is software, and how much is the network?"
            }
            Question::Ping => "How long is a TCP round trip, compared with a ping?",
            Question::Adapter => "Is the network adapter the limit?",
            Question::SetUp => "What does it cost to open and to end a connection, in round trips?",
            Question::FileCache => "How much of the memory can the page cache use for a file?",
            Question::Order => {
                "What does random order cost compared with sequential order, by the size of the file?"
            }
            Question::Penalty => {
                "What does the network add to reading a file, compared with what its round trip and bandwidth predict?"
            }
            Question::Contention => {
                "What does one more reading process cost, compared with a device that serves one request after the \
                 other?"
            }
            Question::Published => "How do results compare with published ones?",
            Question::Experiment => "What else do the results show?",
        }
    }

    /// The name in JSON and other machine-readable output.
    pub fn name(self) -> &'static str {
        match self {
            Question::Prediction => "prediction",
            Question::Miss => "miss",
            Question::Argument => "argument",
            Question::SystemCall => "system_call",
            Question::Thread => "thread",
            Question::Fault => "fault",
            Question::Caches => "caches",
            Question::Bandwidth => "bandwidth",
            Question::Software => "software",
            Question::Ping => "ping",
            Question::Adapter => "adapter",
            Question::SetUp => "set_up",
            Question::FileCache => "file_cache",
            Question::Order => "order",
            Question::Penalty => "penalty",
            Question::Contention => "contention",
            Question::Published => "published",
            Question::Experiment => "experiment",
        }
    }
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
    },
}

/// Words and figures, in the order in which they are read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Statement(pub Vec<Piece>);

impl Statement {
    /// Appends words, a figure, or another statement.
    pub fn push(&mut self, more: impl Into<Statement>) {
        self.0.extend(more.into().0);
    }

    /// A statement of a point's name.
    pub fn point(experiment: &str, point: &Point) -> Self {
        Statement(vec![Piece::Point { experiment: experiment.to_owned(), point: point.clone() }])
    }

    /// Statements joined by a separator; `None` if there are none.
    pub fn joined(parts: Vec<Statement>, between: &str) -> Option<Statement> {
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
    /// The answer.
    pub statement: Statement,
}

impl Finding {
    /// An answer to a question.
    pub fn of(question: Question, statement: Statement) -> Self {
        Finding { question, statement }
    }

    /// Whether it gives the reason why a prediction missed.
    pub fn is_miss(&self) -> bool {
        self.question == Question::Miss
    }
}

/// A statement from words, figures and other statements.
#[macro_export]
macro_rules! said {
    ($($piece:expr),+ $(,)?) => {{
        let mut statement = $crate::experiment::Statement::default();
        $(statement.push($piece);)+
        statement
    }};
}

impl Found {
    /// This value as a figure of a statement.
    pub fn named(self, name: &str) -> Figure {
        Figure { name: name.to_owned(), found: self }
    }

    /// The ratio to the other value in words, "times as" with `much` ("much", "long" or "fast"), if the intervals show a
    /// difference; `~` marks a ratio without an interval.
    pub fn times_as(self, much: &str, other: Found, name: &str) -> Statement {
        let times = said![self.over(other).named(name), format!(" times as {much}")];
        match self.differs_from(&other) {
            Some(true) => times,
            Some(false) => said!["the two are not significantly different"],
            None => said!["~", times],
        }
    }
}
