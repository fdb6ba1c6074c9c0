//! A published report, and the rows of its summary table, each with its figure, its method and the point where Fathom asks the same
//! question.

use super::method::Method;
use super::picture::Picture;
use super::question::{Points, SameQuestion, distinct};
use super::statistic::Statistic;
use fathom_core::experiment::Requirement;
use fathom_core::machine::Machine;
use fathom_core::quantity::Unit;

pub struct Report {
    /// Its number: `000`.
    pub id: &'static str,
    /// The machine it is about, as the reference data call it.
    pub machine: &'static str,
    pub title: &'static str,
    /// What applies to all of its methods: compiler, timer, placement, statistics; and how Fathom's replication differs.
    pub methodology: &'static str,
    /// What its timer needs of the processor, beyond what each method needs.
    pub timer_needs: &'static [Requirement],
    /// The rows of its summary table, in its order, then those of experiments that its summary leaves out.
    pub rows: &'static [Row],
    /// Its figures of measurements, in its order.
    pub figures: &'static [Picture],
}

/// A row of a report's summary table.
pub struct Row {
    /// The section of the report that describes it: `3.4`.
    pub section: &'static str,
    /// The operation, in a few words: "system call (write of nothing to /dev/null)".
    pub operation: &'static str,
    pub unit: Unit,
    /// The divisor, where it is not one operation: "block", "argument"; else empty.
    pub per: &'static str,
    /// The report's figure, by its id in the reference data.
    pub theirs: Theirs,
    pub replica: Replica,
    /// How the report made one figure of its trials.
    pub statistic: Statistic,
    /// The point where Fathom asks the same question.
    pub fathom: SameQuestion,
    /// Where the report's method misleads, and why, in a few sentences. By how much is computed.
    pub misleads: &'static str,
}

impl Row {
    /// The name of the method that fills it.
    pub fn method(&self) -> Option<&'static str> {
        match self.replica {
            Replica::By(method) => Some(method.name),
            Replica::NotHere(_) => None,
        }
    }
}

pub enum Theirs {
    /// It is printed: its id in the reference data.
    Printed(&'static str),
    /// It is not, for this reason: "only in a picture".
    NotPrinted(&'static str),
}

#[derive(Clone, Copy)]
pub enum Replica {
    By(&'static Method),
    /// It cannot be, for this reason.
    NotHere(&'static str),
}

impl Report {
    /// The methods of its rows, each once.
    pub fn methods(&self) -> Vec<&'static Method> {
        let mut methods: Vec<&'static Method> = vec![];
        for row in self.rows {
            let Replica::By(method) = row.replica else { continue };
            if !methods.iter().any(|known| known.name == method.name) {
                methods.push(method);
            }
        }
        methods
    }

    /// The report whose page it is, if it is no more than a page about another, by the methods of that.
    pub fn page_of(&self) -> Option<&'static str> {
        (self.id == "004").then_some("000")
    }

    /// The names of its methods that have any of these words in them; all if there are no words.
    ///
    /// # Errors
    /// The first of the words that no method has.
    pub fn methods_with<'word>(&self, words: &'word [String]) -> Result<Vec<String>, &'word str> {
        let names: Vec<&str> = self.methods().iter().map(|method| method.name).collect();
        let has = |name: &str, word: &String| name.to_lowercase().contains(&word.to_lowercase());
        if let Some(missing) = words.iter().find(|word| !names.iter().any(|name| has(name, word))) {
            return Err(missing);
        }
        let chosen = names.iter().filter(|name| words.iter().any(|word| has(name, word)));
        Ok(chosen.map(|name| (*name).to_owned()).collect())
    }

    /// The points of Fathom's own figures, each once: those of the rows that these methods fill, or of all where none is named.
    pub fn points(&self, machine: &Machine, only: &[String]) -> Points {
        let is_asked = |row: &&Row| {
            only.is_empty() || row.method().is_some_and(|name| only.iter().any(|one| one == name))
        };
        distinct(self.rows.iter().filter(is_asked).flat_map(|row| row.fathom.points(machine)))
    }
}
