//! What is said of a figure beside that of the usual way.

/// A figure beside another that is the usual way, by what the intervals show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BesideUsual {
    /// It is less.
    Less,
    /// It is more.
    More,
    /// The intervals show no difference.
    Alike,
    /// Both are of the same levels, in other shares.
    InShares,
    /// One of them is a median over several states of the machine.
    OfStates,
    /// One of them has no interval.
    Unknown,
}

impl BesideUsual {
    /// Behind a figure in a sentence.
    pub const fn in_words(self) -> &'static str {
        match self {
            BesideUsual::Less => ", which is less",
            BesideUsual::More => ", which is more",
            BesideUsual::Alike => ", which is not significantly different",
            BesideUsual::InShares => {
                ", which is not distinguished: both are of the same levels, in other shares"
            }
            BesideUsual::OfStates => ", not compared, because the machine was in several states",
            BesideUsual::Unknown => "",
        }
    }
}
