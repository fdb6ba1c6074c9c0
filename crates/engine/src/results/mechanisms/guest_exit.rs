//! The cost of a VM exit: CPUID always exits, so its time is that of an exit; many times a published one suggests a nested
//! hypervisor.

use super::{Conclusion, Premises, Rule};
use crate::results::vm_exit;
use fathom_core::experiment::At::Name;
use fathom_core::experiment::{CoreUse, Dimension, Found, Known, Selector, Statement, statement};
use fathom_core::quantity::Unit;

pub(super) const RULE: Rule = Rule {
    name: "guest_exit",
    condition: "the machine is virtual, and a second CPUID in a clock reading takes significant time",
    judge,
    points: POINTS,
};

#[cfg(not(target_arch = "x86_64"))]
const POINTS: &[Selector] = &[GETPPID];
#[cfg(target_arch = "x86_64")]
const POINTS: &[Selector] = &[vm_exit::TWO, vm_exit::ONE, GETPPID];

const GETPPID: Selector = Selector::only("cpu/system_call", &[("call", Name("getppid"))]);

/// A VM exit and return, core cycles: Dall et al., "ARM Virtualization: Performance and Architectural Implications", ISCA
/// 2016, table 2 (KVM on x86, "Hypercall").
const PUBLISHED_EXIT: f64 = 1_300.0;

/// The least ratio that shows nesting: an exit of a nested guest goes to the outer hypervisor, which makes the inner one run
/// and exit again for each of its privileged operations (Ben-Yehuda et al., "The Turtles Project", OSDI 2010, section 3.5),
/// so it takes several exits.
const NESTED: f64 = 4.0;
/// An exit within this factor of the published one is a single exit.
const SINGLE: f64 = 2.0;
/// What another hardware thread on the core costs at most: it takes half of the core.
const NEIGHBOUR: f64 = 2.0;

fn judge(premises: &Premises) -> Option<Conclusion> {
    let known = premises.known;
    let exit = vm_exit::exit(known)?;
    let headline = statement!(
        "A VM exit (CPUID) takes {exit}{published}",
        exit = exit.named("CPUID"),
        published = published(exit, known)?
    );
    let call = GETPPID.found(known).map_or_else(Statement::default, |call| {
        let ratio = exit.over(call);
        let longer = ratio.ends().is_some_and(|(low, _)| low > 1.0);
        statement!(
            " A system call takes {call}, an exit {ratio}{none}.",
            call = call.named("getppid"),
            ratio = if exit.differs_from(&call) == Some(false) {
                "a time that is not significantly different".into()
            } else {
                statement!("{ratio} times as long", ratio = ratio.named("exits in system calls"))
            },
            none = if longer { ": a system call contains none" } else { "" }
        )
    });
    let because = statement!(
        "The cost of one CPUID is the difference between clock readings with two CPUIDs and with one; every \
         x86 hypervisor intercepts CPUID. The published cost is of a hypercall of KVM on x86 (Dall et al., table 2), at this core's \
         frequency.{call} Halting, waking another CPU and notifying a device leave the \
         guest as well, unless the hypervisor lets the guest do them directly.",
        call
    );
    Some(Conclusion::of(headline, because))
}

/// The exit compared with a published one, and the conclusion.
fn published(exit: Found, known: &Known) -> Option<Statement> {
    let one = known.cycle().value * PUBLISHED_EXIT;
    let times = exit.scaled(1.0 / one);
    let times = Found { dimension: Dimension::Ratio, ..times };
    let published = Found::exact(one, Dimension::Of(Unit::Nanoseconds));
    // The published one is a number without an interval.
    let beside = if times.ends().is_some_and(|(low, high)| (low..=high).contains(&1.0)) {
        "not significantly different from".into()
    } else {
        statement!("{times} times", times = times.named("exit over a published one"))
    };
    Some(statement!(
        ", {beside} the published cost ({published}, Dall et al. 2016){verdict}.",
        beside,
        verdict = verdict(times, known.machine.nested())?,
        published = published.named("published exit")
    ))
}

/// What the cost of an exit shows of nesting, and whether it bears out what the kernel's command line says of it: an option is no
/// measurement, so no cost is nested by it. Published is that of a core alone. `None` for a cost without an interval.
fn verdict(times: Found, declared: Option<&str>) -> Option<String> {
    let (low, high) = times.ends()?;
    let neighbour = if times.core == Some(CoreUse::Alone) || times.core.is_none() { 1.0 } else { NEIGHBOUR };
    let suggested = |before: &str, after: &str| {
        let words = |word| format!("{before}as {word} on the kernel's command line suggests{after}");
        declared.map(words).unwrap_or_default()
    };
    Some(if low > NESTED * neighbour {
        format!(": the guest is probably nested{}", suggested(", ", ""))
    } else if high < SINGLE {
        format!(", as under one hypervisor{}", suggested("; that there are two, ", ", it does not show"))
    } else {
        ": the cost does not show whether the guest is nested".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::planted::{self, Plant as _};
    use fathom_core::machine::Fact;

    /// The rule's conclusion for a CPUID that takes this multiple of a published exit, on a core of 1 GHz.
    fn text(times: f64, hypervisor: Option<&str>, command_line: &str) -> Option<String> {
        let mut machine = planted::machine();
        machine.virtualization.hypervisor = Fact::known(hypervisor.map(str::to_owned), "a test");
        machine.kernel.command_line = Fact::known(command_line.to_owned(), "a test");
        let mut known = Known::new(&machine, Some(1e9));
        vm_exit::ONE.plant(&mut known, times * PUBLISHED_EXIT);
        vm_exit::TWO.plant(&mut known, 2.0 * times * PUBLISHED_EXIT);
        judge(&Premises { known: &known, points: &[] }).map(|conclusion| conclusion.headline.plain())
    }

    #[test]
    fn an_exit_of_many_published_ones_is_nested_and_one_of_about_one_is_not() {
        let nested = text(8.0, Some("KVM"), "quiet").expect("a mechanism");
        assert!(
            nested.contains(
                "(CPUID) takes {10400}, {8} times the published cost ({1300}, Dall et al. 2016): the guest is probably nested"
            ),
            "{nested}"
        );
        assert!(
            text(8.0, Some("KVM"), "nested_pvm=1")
                .is_some_and(|text| text.contains(": the guest is probably nested, as nested_pvm=1 on"))
        );
        assert!(text(1.2, Some("KVM"), "").is_some_and(|text| text.contains("), as under one hypervisor.")));
        // Of 0.91 to 1.58 times the published cost it was said that the guest was probably nested, as of 8 times.
        for times in [0.91, 1.58, 3.0] {
            let declared = text(times, Some("KVM"), "quiet nested_pvm=1").expect("a mechanism");
            assert!(!declared.contains("probably"), "{declared}");
        }
        let quick = text(1.58, Some("KVM"), "nested_pvm=1").expect("a mechanism");
        assert!(quick.contains("as under one hypervisor; that there are two, as nested_pvm=1 on"), "{quick}");
        assert!(
            text(3.0, Some("KVM"), "")
                .is_some_and(|text| text.contains("does not show whether the guest is nested"))
        );
    }

    #[test]
    fn a_ratio_that_may_be_one_is_no_finding() {
        let said = |share: f64| {
            let dimension = Dimension::Of(Unit::Nanoseconds);
            let exit = fathom_described::found_within(share, 1.3 * PUBLISHED_EXIT, dimension);
            published(exit, &Known::new(&planted::machine(), Some(1e9))).expect("an interval").plain()
        };
        assert!(said(0.4).starts_with(", not significantly different from the published cost ("));
        assert!(said(0.1).starts_with(", {1.3} times the published cost ("));
    }

    #[test]
    fn what_a_neighbour_may_cost_shows_no_nesting() {
        let nested = |times: f64, core| {
            let times = fathom_described::found(times, Dimension::Ratio);
            verdict(Found { core: Some(core), ..times }, None).expect("an interval").contains("probably")
        };
        assert!(nested(7.0, CoreUse::Alone) && !nested(7.0, CoreUse::Shared) && nested(9.0, CoreUse::Shared));
    }

    #[test]
    fn hardware_has_no_guest_to_leave() {
        assert_eq!(text(8.0, None, ""), None);
    }
}
