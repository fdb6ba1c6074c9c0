//! The atlas: runs of real machines, each reduced to figures that anyone may have, and what is usual among machines of a
//! family.
//!
//! One file a machine stands in the folder `atlas/` of the project (`docs/atlas.md` describes it); all of them are packed into the
//! program. A file is made by [`Entry::of`], which writes nothing of a run but numbers and words of closed lists, and looked at
//! once more by [`secrets::suspects`]. [`Neighbours`] finds the machines of the same processor family and kind and says what is
//! usual among them.

mod entry;
mod library;
mod machine;
mod query;
mod reduction;
pub mod secrets;
mod usual;
mod words;

pub use entry::{Entry, Figure, Invalid, RunFacts, Validity};
pub use library::{Atlas, PACKED_BYTES, compiled};
pub use machine::{MachineFacts, MachineKind};
pub use query::Query;
pub use reduction::{Measured, identity};
pub use usual::{FEWEST, Neighbours, Usual, UsualPlace};
