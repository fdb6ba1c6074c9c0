//! The list of references: what predictions cite, numbered in the order in which it is first cited.

use crate::experiment::Source;
use crate::report::words;
use serde::Serialize;

/// Publications by number.
#[derive(Default)]
pub(super) struct References {
    cited: Vec<String>,
}

/// A source in a table: words, and the number of the publication where there is one.
#[derive(Serialize)]
pub(super) struct Cited {
    /// Where the value comes from.
    pub words: String,
    /// Its number in the list of references.
    pub reference: Option<usize>,
}

impl References {
    /// Puts a source in words; a publication is added to the list.
    pub(super) fn cite(&mut self, source: &Source) -> Cited {
        match source {
            Source::Machine { fact } => Cited { words: format!("this machine: {fact}"), reference: None },
            Source::Measured { experiment, point } => {
                let label = words::label(experiment, point);
                Cited { words: format!("measured in this run: {experiment}, {label}"), reference: None }
            }
            Source::Published { citation } => self.published(citation),
        }
    }

    /// The list.
    pub(super) fn list(self) -> Vec<String> {
        self.cited
    }

    /// A citation may begin with how its cycles became a time: `2 cycles of 0.3846 ns: a book`.
    fn published(&mut self, citation: &str) -> Cited {
        let (words, work) = match citation.split_once(" ns: ") {
            Some((cycles, work)) => (format!("{cycles} ns"), work),
            None => (String::new(), citation),
        };
        let known = self.cited.iter().position(|cited| cited == work);
        let index = known.unwrap_or_else(|| {
            self.cited.push(work.to_owned());
            self.cited.len() - 1
        });
        Cited { words, reference: Some(index + 1) }
    }
}
