//! What of the shortest system calls is entering the kernel and leaving it, and what the kernel does on the way to protect itself.

use super::{Conclusion, Premises, Rule};
use fathom_core::experiment::At::Name;
use fathom_core::experiment::{Dimension, Found, Known, Selector, Statement, statement};
use fathom_core::machine::Machine;

pub(super) const RULE: Rule = Rule {
    name: "kernel_entry",
    condition: "a system call without a service was measured, and getppid takes significantly longer",
    judge,
    points: &[ALONE, GETPPID, GETPID, NOTHING],
};

pub(super) const ALONE: Selector =
    Selector::only("cpu/system_call", &[("call", Name("a number that is no call's"))]);
const GETPID: Selector = Selector::only("cpu/system_call", &[("call", Name("getpid"))]);
pub(super) const GETPPID: Selector = Selector::only("cpu/system_call", &[("call", Name("getppid"))]);

/// A write that has nothing to write.
pub(super) const NOTHING: Selector =
    Selector::only("cpu/system_call", &[("call", Name("write nothing to /dev/null"))]);

/// Core cycles of two mode switches on Nehalem (Soares and Stumm, OSDI 2010).
const PUBLISHED: f64 = 150.0;

fn judge(premises: &Premises) -> Option<Conclusion> {
    let known = premises.known;
    let (alone, getppid) = (ALONE.found(known)?, GETPPID.found(known)?);
    let service = getppid.beyond(alone)?;
    let headline = statement!(
        "Of the {getppid} of getppid {alone} are entering the kernel and leaving it, before any service.",
        getppid = getppid.named("getppid"),
        alone = alone.named("entering and leaving the kernel")
    );
    let in_cycles = known.counted_in_cycles(alone).map(|cycles| {
        let ratio = cycles.over(Found::exact(PUBLISHED, Dimension::Cycles));
        statement!(
            ", {cycles}: {ratio} times the {PUBLISHED} of the two instructions alone on Nehalem (Soares and Stumm, OSDI 2010); here registers are \
             saved, the number is looked up and the library sets `errno` as well",
            cycles = cycles.named("core cycles of entering and leaving the kernel"),
            ratio = ratio.named("core cycles of entering the kernel over published")
        )
    });
    let because = statement!(
        "A number that is no call's is answered in {alone}{in_cycles}. getppid, with its way to its function and back and the parent's id, takes \
         {service} more{getpid}.{protected}{nested}",
        alone = alone.named("entering and leaving the kernel"),
        in_cycles,
        service = service.named("the service of getppid"),
        getpid = getpid(known, alone),
        protected = protected(known.machine),
        nested = nested(known, alone)
    );
    Some(Conclusion::of(headline, because))
}

/// What a call takes whose service is less; nothing if it is of another state of the core than the others, which would then all be stated with
/// the core shared for its sake.
fn getpid(known: &Known, alone: Found) -> Option<Statement> {
    let service = GETPID.found(known)?.beyond(alone).filter(Found::is_of_one_core_state)?;
    Some(statement!(", getpid {service}", service = service.named("the service of getpid")))
}

/// That the guest is one of a guest, where the way into the kernel is far longer than published: a candidate that no run measures.
fn nested(known: &Known, alone: Found) -> Option<Statement> {
    let cycles = known.counted_in_cycles(alone)?;
    let word = known.machine.nested().filter(|_| cycles.value > FAR * PUBLISHED)?;
    Some(
        format!(
            " The guest is probably nested ({word}): whether that makes this way longer was not measured."
        )
        .into(),
    )
}

/// How many times the published way is far longer.
const FAR: f64 = 2.0;

/// What the kernel does for its protection on every such way, as the machine's description says.
fn protected(machine: &Machine) -> Statement {
    let mitigations = machine.mitigations();
    let is_in_force = |name: &str, what: &str| mitigations.get(name).is_some_and(|says| says.contains(what));
    let all = [
        (machine.kernel.page_table_isolation.value() == Some(&true))
            .then_some("changes of the page tables on both ways (pti)"),
        is_in_force("spec_rstack_overflow", "Safe RET")
            .then_some("returns of the kernel's functions that are each predicted wrongly (Safe RET)"),
        is_in_force("spectre_v2", "Retpolines")
            .then_some("indirect calls that are each predicted wrongly (Retpolines)"),
    ];
    let all: Vec<&str> = all.into_iter().flatten().collect();
    if all.is_empty() {
        return Statement::default();
    }
    format!(" All have in them, by this kernel's description of itself, {}; how much that is the run does not measure.", all.join(", "))
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::planted::{Plant as _, machine};
    use fathom_core::experiment::{CoreUse, Known};
    use fathom_core::machine::Fact;

    fn told(machine: &Machine, alone: f64, getppid: f64) -> Option<String> {
        let mut known = Known::new(machine, Some(2e9));
        ALONE.plant(&mut known, alone);
        GETPPID.plant(&mut known, getppid);
        let conclusion = judge(&Premises { known: &known, points: &[] })?;
        Some(format!("{} {}", conclusion.headline.plain(), conclusion.because.plain()))
    }

    #[test]
    fn the_entry_is_told_apart_from_the_service_with_what_protects_it() {
        let mut machine = machine();
        let safe = [("spec_rstack_overflow".to_owned(), "Mitigation: Safe RET".to_owned())];
        machine.kernel.mitigations = Fact::known(safe.into(), "a test");
        let text = told(&machine, 150.0, 200.0).expect("a cause");
        assert!(text.contains("Of the {200} of getppid {150} are entering"), "{text}");
        assert!(text.contains("{300}: {2} times the 150 of the two instructions alone"), "{text}");
        assert!(
            text.contains("{50} more") && text.contains("(Safe RET)") && !text.contains("Retpolines"),
            "{text}"
        );
        assert_eq!(told(&machine, 200.0, 200.0), None, "no service shows");
    }

    #[test]
    fn nesting_is_a_candidate_where_the_entry_is_far_above_the_published_one() {
        let mut machine = machine();
        let nested = |machine: &Machine, alone| told(machine, alone, 400.0).expect("a cause");
        assert!(!nested(&machine, 190.0).contains("nested"), "it is no guest of a guest");
        machine.kernel.command_line = Fact::known("quiet nested_pvm=1".to_owned(), "a test");
        assert!(nested(&machine, 190.0).contains("The guest is probably nested (nested_pvm=1): whether"));
        assert!(!nested(&machine, 140.0).contains("nested"), "as published, with its registers saved");
    }

    #[test]
    fn a_call_of_another_state_of_the_core_is_left_out_and_the_others_stay() {
        let machine = machine();
        let text = |core: CoreUse| {
            let mut known = Known::new(&machine, Some(2e9));
            for (call, ns, core) in
                [(ALONE, 150.0, CoreUse::Alone), (GETPPID, 200.0, CoreUse::Alone), (GETPID, 190.0, core)]
            {
                call.plant(&mut known, ns);
                let point = call.point(&[]);
                let planted = known.found(call.experiment, &point).expect("a figure");
                known.learn(call.experiment, &point, Found { core: Some(core), ..planted });
            }
            judge(&Premises { known: &known, points: &[] }).expect("a cause").because.plain()
        };
        assert!(text(CoreUse::Alone).contains("getpid {40}"), "{}", text(CoreUse::Alone));
        assert!(!text(CoreUse::Shared).contains("getpid {"), "{}", text(CoreUse::Shared));
    }
}
