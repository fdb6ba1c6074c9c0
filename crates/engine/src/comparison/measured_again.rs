//! What a gate measures again, and what the comparison is with that.

use super::{Comparison, NotCompared, Row, Verdict, family};

impl Comparison {
    /// The rows to be measured again: suspects, and all of the families that got worse. Every trial shows the cycle of the core;
    /// instructions are measured for that, or whatever there is.
    pub fn suspects(&self) -> Vec<&Row> {
        let is_of = |row: &Row, name: &str| row.family() == Some(name);
        let has_instructions = self.rows.iter().any(|row| is_of(row, family::INSTRUCTIONS));
        let shows = |row: &Row, name: &str| match name {
            family::CYCLE => !has_instructions || is_of(row, family::INSTRUCTIONS),
            _ => is_of(row, name),
        };
        let regressed: Vec<&str> =
            self.families.iter().filter(|family| family.regressed()).map(|family| family.name).collect();
        let is_suspect = |row: &&Row| row.is_suspect() || regressed.iter().any(|name| shows(row, name));
        self.rows.iter().filter(is_suspect).collect()
    }

    /// The points that both sides have, each in a state of the machine of its own: measured at another moment they may be comparable.
    pub fn unlike(&self) -> Vec<&NotCompared> {
        self.not_compared.iter().filter(|point| point.because.is_of_the_moment()).collect()
    }

    /// Adds the rows of [unlike](Comparison::unlike) points that a second measurement found in a state that both sides have.
    pub fn complete(&mut self, again: &Comparison) {
        self.not_compared.retain(|point| {
            let is_it = |row: &&Row| row.experiment == point.experiment && row.point == point.point;
            match again.rows.iter().find(is_it).filter(|_| point.because.is_of_the_moment()) {
                Some(row) => {
                    self.rows.push(row.clone());
                    false
                }
                None => true,
            }
        });
    }

    /// Replaces the suspects' rows and families by the results of measuring them again, with their verdicts; a suspect missing
    /// from these is neither confirmed nor cleared.
    pub fn confirm(&mut self, again: &Comparison) {
        for family in self.families.iter_mut().filter(|family| family.regressed()) {
            match again.families.iter().find(|other| other.name == family.name) {
                Some(other) => *family = other.clone(),
                None => family.verdict = Verdict::Inconclusive,
            }
        }
        for row in self.rows.iter_mut().filter(|row| row.is_suspect()) {
            let same = |other: &&Row| other.experiment == row.experiment && other.point == row.point;
            match again.rows.iter().find(same) {
                Some(other) => *row = other.clone(),
                None => row.verdict = Verdict::Inconclusive,
            }
        }
    }
}
