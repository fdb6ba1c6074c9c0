//! What predictions rest on.

/// What a prediction rests on: the kinds are counted apart, because the later ones are easier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ground {
    /// Data sheets, published tables, first principles and assumptions.
    Independent,
    /// The proportions of one published machine, whatever they are applied to.
    Scaled,
    /// A measurement of the same run.
    ThisRun,
}

impl Ground {
    /// All of them, the hardest first.
    pub const ALL: [Ground; 3] = [Ground::Independent, Ground::Scaled, Ground::ThisRun];

    /// Its name, in a few words.
    pub const fn name(self) -> &'static str {
        match self {
            Ground::Independent => "independent",
            Ground::Scaled => "scaled from a published machine",
            Ground::ThisRun => "from this run",
        }
    }

    /// Its name where there is little room.
    pub const fn short_name(self) -> &'static str {
        match self {
            Ground::Independent => "independent",
            Ground::Scaled => "scaled",
            Ground::ThisRun => "this run",
        }
    }
}
