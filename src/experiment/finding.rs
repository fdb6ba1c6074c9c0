//! Findings: what results say, each an answer to a question, in sentences whose figures the report rounds.
//!
//! A statement is written as it is read:
//!
//! ```text
//! said!["A process costs ", process.named("a process"), ", a thread ", thread.named("a thread"), "."]
//! ```

use super::found::Found;
use super::point::Point;

/// What readers ask of results: the comparisons of the published reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Question {
    /// Nearness to base hardware and prediction.
    Prediction,
    /// Why a prediction missed.
    Miss,
    /// One more argument.
    Argument,
    /// A system call against a procedure call; cached against uncached.
    SystemCall,
    /// A thread against a process.
    Thread,
    /// A page fault against a load.
    Fault,
    /// Levels found against levels declared.
    Caches,
    /// Of memory, against the theory; read and write; one thread and many.
    Bandwidth,
    /// Software and network.
    Software,
    /// TCP against ICMP echo.
    Ping,
    /// The adapter's part.
    Adapter,
    /// Opening and ending connections.
    SetUp,
    /// The page cache against memory.
    FileCache,
    /// Sequence against random order.
    Order,
    /// Files over a network.
    Penalty,
    /// Processes that read at once.
    Contention,
    /// Published figures.
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

    /// The question as it is asked.
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

    /// The name for programs.
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
    /// What it is of, for programs and for tables.
    pub name: String,
    /// Its value, interval and what it counts.
    pub found: Found,
}

/// A part of a statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// Words.
    Text(String),
    /// A number.
    Figure(Figure),
    /// A point, which the report names as it does everywhere.
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
    /// Goes on with more words, a figure, or another statement.
    pub fn push(&mut self, more: impl Into<Statement>) {
        self.0.extend(more.into().0);
    }

    /// A point, by its name.
    pub fn point(experiment: &str, point: &Point) -> Self {
        Statement(vec![Piece::Point { experiment: experiment.to_owned(), point: point.clone() }])
    }

    /// Several with something between them; `None` where there are none.
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

    /// The words, with every figure as its bare value in braces: for tests, which round nothing.
    pub fn plain(&self) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Figure(figure) => format!("{{{}}}", figure.found.value),
            Piece::Point { point, .. } => format!("<{point}>"),
        };
        self.0.iter().map(piece).collect()
    }

    /// Changes all words, those of the figures' names too, and all points.
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

/// What results say, and which question that answers.
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

    /// Whether it tells why a prediction missed.
    pub fn is_miss(&self) -> bool {
        self.question == Question::Miss
    }
}

/// A statement from words, figures and other statements.
macro_rules! said {
    ($($piece:expr),+ $(,)?) => {{
        let mut statement = $crate::experiment::Statement::default();
        $(statement.push($piece);)+
        statement
    }};
}
pub(crate) use said;

impl Found {
    /// As a figure of a statement.
    pub fn named(self, name: &str) -> Figure {
        Figure { name: name.to_owned(), found: self }
    }

    /// How many times as much, long or fast (`much`) as the other, as far as the two intervals tell them apart; `~` marks a ratio that
    /// has none.
    pub fn times_as(self, much: &str, other: Found, name: &str) -> Statement {
        let times = said![self.over(other).named(name), format!(" times as {much}")];
        match self.differs_from(&other) {
            Some(true) => times,
            Some(false) => said!["the two are not significantly different"],
            None => said!["~", times],
        }
    }
}
