//! Selecting published machines by name.

use super::machine::{Machine, Role};
use super::{machine, machines, same_method::same_methods};
use fathom_core::sorting;
use thiserror::Error;

/// A name that matches no published machine, or several.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Unknown {
    /// No machine has this name.
    #[error("there is no published machine {name}{}; `fathom references` lists the {} that there are", hint(name, known), known.len())]
    None {
        name: String,
        /// The ids of all machines.
        known: Vec<String>,
    },
    /// Several machines match.
    #[error("{name} may be {}: give more of the name", list(candidates))]
    Several {
        name: String,
        /// The ids of which it is a part.
        candidates: Vec<String>,
    },
}

/// Those of the ids that share the longest word with a name, as a question; empty without such a word.
fn hint(name: &str, ids: &[String]) -> String {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
        words.filter(|word| word.len() >= SHORTEST_WORD).map(str::to_lowercase).collect()
    };
    let own = words(name);
    let shared =
        |id: &String| words(id).into_iter().filter(|word| own.contains(word)).map(|word| word.len()).max();
    let longest = ids.iter().filter_map(shared).max();
    let alike: Vec<&str> =
        ids.iter().filter(|id| longest.is_some() && shared(id) == longest).map(String::as_str).collect();
    if alike.is_empty() { String::new() } else { format!(" (did you mean {}?)", alike.join(" or ")) }
}

/// The fewest letters of a word that tells machines apart.
const SHORTEST_WORD: usize = 3;

fn list(ids: &[String]) -> String {
    ids.join(", ")
}

/// The machines of these names, each once and in the order of the sources: an id, a unique part of an id, the number of a
/// report (its own machine), `lmbench`, or `all`.
///
/// # Errors
/// If a name matches no machine or several; the message lists them.
pub fn select(names: &[String]) -> Result<Vec<&'static Machine>, Unknown> {
    let mut chosen: Vec<&'static Machine> = vec![];
    for name in names {
        chosen.extend(called(name)?);
    }
    Ok(machines().iter().filter(|machine| chosen.iter().any(|other| other.id == machine.id)).collect())
}

/// The machines of reports that are nearest to this one by kind: those with its operating system first, and of these the ones whose
/// clock is nearest.
pub fn nearest(here: &fathom_core::machine::Machine, number: usize) -> Vec<&'static Machine> {
    let measured =
        machines().iter().filter(|machine| machine.role == Role::Measured && has_a_mapped_figure(machine));
    let mut measured: Vec<&'static Machine> = measured.collect();
    let hertz = own_clock(here);
    let distance = |machine: &Machine| {
        let apart =
            clock(machine).zip(hertz).map_or(f64::INFINITY, |(there, here)| (there / here).ln().abs());
        (!machine.text("os").is_some_and(|name| name.contains("Ubuntu") || name.contains("Linux")), apart)
    };
    sorting::by(&mut measured, |one, other| {
        let ((of_one, one), (of_other, other)) = (distance(one), distance(other));
        of_one.cmp(&of_other).then(one.total_cmp(&other))
    });
    measured.truncate(number);
    measured
}

/// The clock by which this machine is compared, hertz.
pub fn own_clock(here: &fathom_core::machine::Machine) -> Option<f64> {
    here.nominal_hz().or(here.max_hz())
}

/// That of a published machine.
pub fn clock(machine: &Machine) -> Option<f64> {
    ["base_hz", "tsc_hz", "max_hz"].into_iter().find_map(|key| machine.number(key))
}

fn called(name: &str) -> Result<Vec<&'static Machine>, Unknown> {
    if name == "all" {
        return Ok(machines().iter().filter(|machine| has_a_mapped_figure(machine)).collect());
    }
    if let Some(machine) = machine(name) {
        return Ok(vec![machine]);
    }
    let of_source = of_source(name);
    if !of_source.is_empty() {
        return Ok(of_source);
    }
    let lower = name.to_lowercase();
    let part = |machine: &&Machine| !name.is_empty() && machine.id.contains(&lower);
    let matching: Vec<&'static Machine> = machines().iter().filter(part).collect();
    match matching.as_slice() {
        [] => Err(Unknown::None { name: name.to_owned(), known: ids(machines().iter()) }),
        [_] => Ok(matching),
        _ => Err(Unknown::Several { name: name.to_owned(), candidates: ids(matching.into_iter()) }),
    }
}

/// The machines that a source measured; for a source that measured none, those that it quotes.
fn of_source(name: &str) -> Vec<&'static Machine> {
    let of = |machine: &&Machine| {
        machine.sources.iter().any(|source| source == name) && has_a_mapped_figure(machine)
    };
    let all: Vec<&'static Machine> = machines().iter().filter(of).collect();
    let own: Vec<&'static Machine> =
        all.iter().copied().filter(|machine| machine.role == Role::Measured).collect();
    if own.is_empty() { all } else { own }
}

/// Whether a run can be compared with it at all.
fn has_a_mapped_figure(machine: &Machine) -> bool {
    same_methods().iter().flat_map(|same| &same.figures).any(|figure| figure.machine() == machine.id)
}

fn ids<'a>(machines: impl Iterator<Item = &'a Machine>) -> Vec<String> {
    machines.map(|machine| machine.id.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_answered_in_a_line() {
        let message = |name: &str| select(&[name.to_owned()]).unwrap_err().to_string();
        let listed = format!("; `fathom references` lists the {} that there are", machines().len());
        assert_eq!(message("009"), format!("there is no published machine 009{listed}"));
        let meant = message("Thinkpad 13");
        assert!(meant.contains("(did you mean i7-11gen-thinkpad-x1-ubuntu-22.04?)"), "{meant}");
    }
}
