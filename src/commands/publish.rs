//! `fathom publish`: a run as a file for the atlas.

use super::output::{Rendered, written};
use super::report::latest;
use crate::cli;
use anyhow::{Result, bail, ensure};
use fathom_atlas::Entry;
use fathom_atlas::secrets::{SecretNames, suspects};
use fathom_core::machine;
use fathom_core::message::tell;
use fathom_core::quantities;
use fathom_engine::record::door::Door;
use fathom_engine::record::{Header, Run, regular};
use fathom_engine::results::Results;
use fathom_report::{Trust, atlas_entry, trust_sentence};
use std::path::{Path, PathBuf};

/// Shows what is in the file, and prints or writes it.
pub(super) fn publish(args: &cli::Publish) -> Result<()> {
    let path = args.run.clone().map_or_else(latest, Ok)?;
    let run = Run::read(&path)?;
    let results = Results::of(&run);
    ensure_trusted(&results, args.anyway)?;
    let entry = atlas_entry(&results);
    ensure!(!entry.figures.is_empty(), "the run has no figure by a method that this program has");
    ensure!(entry.machine.family().is_some(), "the run does not show which processor it was made on");
    let text = entry.text();
    ensure_public(&text, &run.header)?;
    summarise(&entry);
    let output = args.output.as_ref().map(|output| file(output, &entry.id));
    written(&Rendered::text(text), output.as_deref(), Door { sources: &[path], force: args.force })?;
    explain(&entry, output.as_deref());
    Ok(())
}

/// Refuses a run that says little about its machine.
fn ensure_trusted(results: &Results, anyway: bool) -> Result<()> {
    let header = &results.run.header;
    ensure!(results.run.closing.is_some(), "the run did not end, so its figures may be of its beginning");
    ensure!(
        header.tool.build != "debug",
        "the run was made by a debug build, which measures its own slowness"
    );
    let is_altered = header.settings.interleaved.as_ref().is_some_and(|half| !half.setting.is_empty());
    ensure!(!is_altered, "the run was made under a setting of `fathom ab`, and not of the machine as it is");
    if Trust::of(results) == Trust::Low && !anyway {
        bail!(
            "the run cannot be trusted enough: {} `--anyway` publishes it, marked as such",
            trust_sentence(results)
        );
    }
    Ok(())
}

/// Refuses a text in which something may be secret.
fn ensure_public(text: &str, header: &Header) -> Result<()> {
    let suspects = suspects(text, &SecretNames::of(names()).with_run(header));
    ensure!(
        suspects.is_empty(),
        "nothing was written, because something in it may be secret: {}",
        suspects.join("; ")
    );
    Ok(())
}

/// The names of this host, of who runs this, and of the users of this host.
fn names() -> Vec<String> {
    let variables = ["USER", "LOGNAME", "SUDO_USER", "HOME", "HOSTNAME"];
    let of_environment = variables.into_iter().filter_map(|name| std::env::var(name).ok());
    let users = regular::read(Path::new("/etc/passwd")).unwrap_or_default();
    let people = users.lines().filter_map(person);
    machine::host_name().into_iter().chain(of_environment).chain(people).collect()
}

/// The name in a line of the table of users, if it is that of a person.
fn person(line: &str) -> Option<String> {
    const PEOPLE: std::ops::Range<u32> = 1000..65_000;
    let mut fields = line.split(':');
    let (name, number) = (fields.next()?, fields.nth(1)?.parse().ok()?);
    PEOPLE.contains(&number).then(|| name.to_owned())
}

/// What is in the file, on standard error.
fn summarise(entry: &Entry) {
    let experiments: std::collections::BTreeSet<&str> =
        entry.figures.iter().map(|figure| figure.experiment.as_str()).collect();
    let first = entry.text();
    let facts = first.lines().next().and_then(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let facts = facts.unwrap_or_default();
    tell(format!("{}: {}", entry.id, entry.machine.title()));
    for part in ["machine", "run"] {
        let known = facts[part].as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
        let known: Vec<String> = known.map(|(name, value)| format!("{name} {value}")).collect();
        tell(format!("  {part}: {}", known.join(", ")));
    }
    tell(format!(
        "  {} figures of {} experiments, each with its point, method version, unit, median, interval, number of trials, state of \
         the core and validity, and nothing else",
        quantities::count(entry.figures.len()),
        experiments.len()
    ));
    tell(
        "  checked: no name of this host, of its users or of the run's labels and folders, no address, serial number, token \
         or path",
    );
}

/// How to add it to the project.
fn explain(entry: &Entry, output: Option<&Path>) {
    let file =
        output.map_or_else(|| format!("this as atlas/{}.jsonl", entry.id), |path| path.display().to_string());
    tell(format!(
        "  to add it to the project: put {file} into the folder atlas/ of its repository, run `cargo test -p fathom-atlas`, and \
         propose the change; by that you publish it under CC0 1.0 (docs/atlas.md)"
    ));
}

/// The file itself, or one in the folder that is named after the machine.
fn file(output: &Path, id: &str) -> PathBuf {
    if output.is_dir() { output.join(format!("{id}.jsonl")) } else { output.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_told_from_services_by_their_numbers() {
        assert_eq!(person("alice:x:1000:1000:A:/home/alice:/bin/sh").as_deref(), Some("alice"));
        for line in ["root:x:0:0:root:/root:/bin/sh", "nobody:x:65534:65534::/:", "", "x"] {
            assert_eq!(person(line), None, "{line}");
        }
    }
}
