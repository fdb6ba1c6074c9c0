//! What may have disturbed a run, once it is measured: what its machine warns of beforehand, with what the run itself saw in place of what was
//! only to be expected.

use crate::occupancy;
use crate::run;
use fathom_core::machine::Warning;
use fathom_core::quantities;
use fathom_engine::results::Results;

/// The name of the warning of time that a hypervisor takes.
const STEAL: &str = "steal";

/// The name of the warning of other work on the core.
pub(super) const NEIGHBOUR: &str = "neighbour";

/// Below this share of the CPUs' time what a hypervisor took is no warning.
const NOTABLE_STEAL: f64 = 0.001;

/// The warnings.
pub(super) fn of(results: &Results) -> Vec<Warning> {
    let before = results.run.header.machine.warnings_of_run();
    let neighbour = occupancy::share_of_time(results).map(|problem| Warning {
        id: NEIGHBOUR.to_owned(),
        problem,
        remedy: "It cannot be stopped from inside: compare values of one state of the core, or repeat the run at another hour.".to_owned(),
    });
    neighbour.into_iter().chain(with_taken(before, run::share_taken(results))).collect()
}

/// The warnings with the share of the CPUs' time that the hypervisor took during the run: since boot it says nothing of the run.
fn with_taken(mut before: Vec<Warning>, share: Option<f64>) -> Vec<Warning> {
    let Some(share) = share else { return before };
    let place = before.iter().position(|warning| warning.id == STEAL);
    before.retain(|warning| warning.id != STEAL);
    if share >= NOTABLE_STEAL {
        let warning = Warning {
            id: STEAL.to_owned(),
            problem: format!(
                "The hypervisor took {} of the CPUs' time during the run for other guests (steal).",
                quantities::percent(share)
            ),
            remedy: "Use a machine with dedicated CPUs.".to_owned(),
        };
        before.insert(place.unwrap_or(0), warning);
    }
    before
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::machine::Fact;

    /// "The machine is not idle: on average 2.83 tasks ran or waited on 2 CPUs in the last minute" stood in a report.
    #[test]
    fn a_report_does_not_speak_of_the_time_before_its_run_as_the_present() {
        let mut machine = fathom_described::machine();
        let fact = |value: f64| Fact::known(value, "a test");
        let load = 99.5 * machine.allowed_cpus().len().max(1) as f64;
        machine.conditions.load_average = Fact::known([load; 3], "a test");
        (machine.conditions.memory_pressure, machine.conditions.steal) = (fact(20.0), fact(0.02));
        let said = machine.warnings_of_run();
        let of = |id: &str| said.iter().find(|warning| warning.id == id).expect("it is warned of");
        let load = &of("load").problem;
        assert!(load.starts_with("The machine was not idle when the run began: on average "), "{load}");
        assert!(load.ends_with(" in the minute before."), "{load}");
        assert!(of("pressure").problem.starts_with("Tasks were stalled in the 10 s before the run"));
        assert_eq!(of(STEAL).remedy, "Use a machine with dedicated CPUs.");
    }

    /// Of the time since boot 0.7 % was taken, of the run 3.2 %.
    #[test]
    fn what_was_taken_during_the_run_is_warned_of_in_place_of_what_was_before() {
        let warning = |id: &str| Warning {
            id: id.to_owned(),
            problem: "0.7 % since boot".to_owned(),
            remedy: String::new(),
        };
        let ids = |all: &[Warning]| all.iter().map(|one| one.id.clone()).collect::<Vec<_>>();
        let before = || vec![warning("load"), warning(STEAL), warning("counters")];
        let after = with_taken(before(), Some(0.032));
        assert_eq!(ids(&after), ["load", STEAL, "counters"]);
        assert!(
            after[1].problem.starts_with("The hypervisor took 3.20 % of the CPUs' time during the run"),
            "{after:?}"
        );
        assert_eq!(with_taken(before(), None), before(), "it could not be read");
        assert_eq!(ids(&with_taken(before(), Some(0.0))), ["load", "counters"]);
        assert_eq!(ids(&with_taken(vec![warning("load")], Some(0.1))), [STEAL, "load"], "none was before");
    }
}
