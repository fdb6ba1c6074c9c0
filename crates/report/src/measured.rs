//! Machines of the atlas and their figures, for a terminal and as JSON.

use super::form::{self, Facts};
use super::text::{Style, clean};
use super::words::plural;
use fathom_atlas::{Atlas, Entry, Figure, Validity};
use fathom_core::quantities;
use serde_json::{Value, json};

/// The machines, each in two lines.
pub(super) fn list(atlas: &Atlas, style: Style) -> String {
    let entry = |entry: &Entry| {
        style.title(&entry.id)
            + "\n"
            + &style.wrapped("    ", &entry.machine.title())
            + &style.wrapped("    ", &format!("of the atlas; {}", about(entry)))
    };
    atlas.machines.iter().map(entry).collect()
}

/// The machines with the number of their figures.
pub(super) fn listed(atlas: &Atlas) -> Vec<Value> {
    let entry = |entry: &Entry| json!({ "id": entry.id, "machine": entry.machine, "run": entry.run, "figures": entry.figures.len() });
    atlas.machines.iter().map(entry).collect()
}

/// The run that a machine's figures are of.
fn about(entry: &Entry) -> String {
    let measured = entry.run.measured.as_ref().map(|month| format!(" of {month}")).unwrap_or_default();
    format!(
        "{} of a {} run{measured}, trust {}",
        plural(entry.figures.len(), "figure"),
        entry.run.effort,
        entry.run.trust
    )
}

/// A machine of the atlas with all of its figures.
pub struct AtlasMachine<'a>(pub &'a Entry);

impl Facts for AtlasMachine<'_> {
    fn text(&self, style: Style) -> String {
        let entry = self.0;
        let mut text = style.title(&clean(&entry.id)) + "\n" + &style.wrapped("  ", &entry.machine.title());
        text += &style.wrapped("  ", &about(entry));
        for of_one in entry.figures.chunk_by(|one, other| one.experiment == other.experiment) {
            let first = &of_one[0];
            text +=
                &(style.title(&format!("{}, method version {}", clean(&first.experiment), first.version))
                    + "\n");
            text.extend(of_one.iter().map(|figure| style.wrapped("  ", &line(figure))));
        }
        text
    }

    fn json(&self) -> String {
        let entry = self.0;
        form::pretty(
            &json!({ "id": entry.id, "machine": entry.machine, "run": entry.run, "figures": entry.figures }),
        )
    }
}

fn line(figure: &Figure) -> String {
    let value = quantities::rounded(figure.unit, figure.value, Some((figure.low, figure.high)));
    let range =
        quantities::Measure::of(figure.unit, figure.value).range(figure.value, figure.low, figure.high);
    let core =
        figure.core.as_ref().map(|state| format!(", core {}", state.replace('_', " "))).unwrap_or_default();
    let validity = match figure.validity {
        Validity::Holds | Validity::Unchecked => "",
        Validity::Fails => ", a check fails",
        Validity::SeveralStates => ", of several states of the machine",
    };
    let trials = plural(figure.trials, "trial");
    format!("{}: {value} ({range}), {trials}{core}{validity}", figure.point)
}
