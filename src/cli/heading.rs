//! The headings under which a command's help lists its options, so that they are found in a long list.

/// What a run, a report or a comparison is of.
pub(super) const WHAT: &str = "What";
/// How much time is spent, and on how narrow an interval.
pub(super) const LENGTH: &str = "How long, and how precisely";
/// The CPU, the folder, the clock: where it is measured, and with what.
pub(super) const WHERE: &str = "Where, and with what";
/// Another host that takes part.
pub(super) const SECOND_HOST: &str = "Second host and files over a network";
/// Which differences count.
pub(super) const CHANGES: &str = "What counts as a change";
/// When it starts, and beside what.
pub(super) const START: &str = "Start";
/// Files and forms.
pub(super) const OUTPUT: &str = "Output";
