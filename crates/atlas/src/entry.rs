//! A file of the atlas: a line with the machine and its run, then a line for each figure.

use super::machine::MachineFacts;
use fathom_core::quantity::Unit;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The version of the format that this program writes, and the newest that it reads.
pub(super) const FORMAT: u32 = 1;

/// The licence of every file, by its SPDX name.
pub(super) const LICENCE: &str = "CC0-1.0";

/// A machine of the atlas.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its permanent name: family, kind, and digits that follow from its run.
    pub id: String,
    /// What is known of the machine.
    pub machine: MachineFacts,
    /// What is known of the run.
    pub run: RunFacts,
    /// The figures, in the order of the report.
    pub figures: Vec<Figure>,
}

/// What the first line of a file says.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    atlas: u32,
    id: String,
    licence: String,
    machine: MachineFacts,
    run: RunFacts,
}

/// The conditions and the validity of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunFacts {
    /// The month in which it began, `2026-11`.
    pub measured: Option<String>,
    /// The version of the program.
    pub program: Option<String>,
    /// `quick`, `standard` or `thorough`.
    pub effort: String,
    /// How long it took, seconds.
    pub took_s: Option<f64>,
    /// How far the run can be trusted: `high`, `fair` or `low`.
    pub trust: String,
    /// The share of its values that are known within 5 %.
    pub known_within_5_percent: Option<f64>,
    /// The share of the time in which another hardware thread used the core; `None` if it is unknown.
    pub core_shared: Option<f64>,
    /// Tasks that ran or waited when it began, averaged over a minute.
    pub load: Option<f64>,
    /// Seconds that the hypervisor took from the machine meanwhile.
    pub steal_s: Option<f64>,
}

impl RunFacts {
    /// When it was measured, and how far it can be trusted: `2026-11, trust fair`.
    pub fn measured_in(&self) -> String {
        let month = self.measured.as_deref().unwrap_or("month unknown");
        format!("{month}, trust {}", self.trust)
    }
}

/// A figure of a machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Name of the experiment.
    pub experiment: String,
    /// Version of its method.
    pub version: u32,
    /// The setting of its parameters, in the form of `fathom history --point`; a named level of the memory has no size.
    pub point: String,
    /// What it represents on any machine, such as `L2`, whose setting differs between machines; absent where that is the setting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The unit of its numbers.
    pub unit: Unit,
    /// The median.
    pub value: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The number of trials.
    pub trials: usize,
    /// The state of the core in its observations, as in the report's JSON; absent if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<String>,
    /// The same work with the core shared: median and ends; absent if it was not measured in both states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<[f64; 3]>,
    /// Whether it may be compared.
    pub validity: Validity,
}

/// Whether a figure is of the operation named, and of one state of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Validity {
    /// All of its checks hold.
    Holds,
    /// Nothing of it can be checked.
    Unchecked,
    /// A check fails: it may be of another operation, and is compared with nothing.
    Fails,
    /// The machine was in several states, and the median is of none: it is compared with nothing.
    SeveralStates,
}

/// A text that is no file of the atlas.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Invalid {
    /// A line cannot be read.
    #[error("line {0} of the atlas: {1}")]
    Line(usize, String),
    /// A figure stands before any machine.
    #[error("line {0} of the atlas: a figure before its machine")]
    Orphan(usize),
    /// It was written in a later format.
    #[error("{0} is in format {1}, which this program does not know")]
    Newer(String, u32),
}

impl Entry {
    /// The file's text.
    pub fn text(&self) -> String {
        let head = Head {
            atlas: FORMAT,
            id: self.id.clone(),
            licence: LICENCE.to_owned(),
            machine: self.machine.clone(),
            run: self.run.clone(),
        };
        let figures = self.figures.iter().map(line);
        std::iter::once(line(&head)).chain(figures).collect()
    }

    /// The machines of some files, one after the other.
    pub fn parse(text: &str) -> Result<Vec<Entry>, Invalid> {
        let mut entries: Vec<Entry> = vec![];
        for (place, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let invalid = |error: serde_json::Error| Invalid::Line(place + 1, error.to_string());
            if line.starts_with("{\"atlas\":") {
                entries.push(begun(serde_json::from_str(line).map_err(invalid)?)?);
            } else {
                let figure: Figure = serde_json::from_str(line).map_err(invalid)?;
                entries.last_mut().ok_or(Invalid::Orphan(place + 1))?.figures.push(figure);
            }
        }
        Ok(entries)
    }
}

fn begun(head: Head) -> Result<Entry, Invalid> {
    if head.atlas > FORMAT {
        return Err(Invalid::Newer(head.id, head.atlas));
    }
    Ok(Entry { id: head.id, machine: head.machine, run: head.run, figures: vec![] })
}

/// A line of JSON.
fn line(value: &impl Serialize) -> String {
    // Plain structures of numbers and texts: this cannot fail.
    serde_json::to_string(value).unwrap_or_default() + "\n"
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::machine::MachineKind;

    /// A machine with one figure of this value.
    pub fn entry(id: &str, value: f64) -> Entry {
        Entry {
            id: id.to_owned(),
            machine: MachineFacts {
                design: Some("Zen 5".to_owned()),
                kind: MachineKind::Guest,
                ..MachineFacts::default()
            },
            run: RunFacts {
                measured: Some("2026-11".to_owned()),
                program: None,
                effort: "quick".to_owned(),
                took_s: Some(83.0),
                trust: "fair".to_owned(),
                known_within_5_percent: Some(0.6),
                core_shared: None,
                load: None,
                steal_s: None,
            },
            figures: vec![figure(value)],
        }
    }

    pub fn figure(value: f64) -> Figure {
        Figure {
            experiment: "cpu/system_call".to_owned(),
            version: 1,
            point: "call=getppid placement=one-cpu".to_owned(),
            role: None,
            unit: Unit::Nanoseconds,
            value,
            low: 0.99 * value,
            high: 1.01 * value,
            trials: 9,
            core: Some("alone".to_owned()),
            shared: None,
            validity: Validity::Holds,
        }
    }

    #[test]
    fn a_file_is_read_as_it_was_written_and_files_follow_each_other() {
        let (one, other) = (entry("a", 100.0), entry("b", 200.0));
        let text = one.text() + &other.text();
        assert_eq!(Entry::parse(&text), Ok(vec![one, other]));
        assert_eq!(Entry::parse(""), Ok(vec![]));
    }

    #[test]
    fn what_is_no_file_of_the_atlas_is_refused_with_its_line() {
        let figure = entry("a", 1.0).text().lines().nth(1).unwrap().to_owned();
        assert_eq!(Entry::parse(&figure), Err(Invalid::Orphan(1)));
        assert!(matches!(Entry::parse("\n{}"), Err(Invalid::Line(2, _))));
        let newer = entry("a", 1.0).text().replace("\"atlas\":1", "\"atlas\":9");
        assert_eq!(Entry::parse(&newer), Err(Invalid::Newer("a".to_owned(), 9)));
    }
}
