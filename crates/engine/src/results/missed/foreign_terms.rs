//! Terms of a prediction that are published of the cores of another vendor: where a prediction is far off they are
//! suspected, as nothing says that this core does the same.

use super::Missed;
use fathom_core::experiment::{Part, Statement, Term};
use fathom_core::machine::Machine;

/// Words by which a source names a vendor's cores, with the vendor as machines state it.
const VENDORS: [(&str, &[&str]); 3] = [
    (
        "GenuineIntel",
        &["Intel", "Nehalem", "Skylake", "Ice Lake", "Golden Cove", "Alder Lake", "Sapphire Rapids"],
    ),
    ("AuthenticAMD", &["AMD", "EPYC", "Zen"]),
    ("Arm", &["Neoverse", "Cortex"]),
];

/// The terms of a missed prediction that are of another vendor's cores, in a sentence; `None` where there are none.
pub(super) fn of(missed: &Missed, machine: &Machine) -> Option<Statement> {
    let vendor = machine.processor.vendor.value()?;
    let terms = missed.prediction.terms.iter().filter(|term| is_foreign(term, vendor));
    let terms: Vec<&str> = terms.map(|term| term.what.as_str()).collect();
    (!terms.is_empty())
        .then(|| format!(" Suspected, as published of another vendor's cores: {}.", terms.join("; ")).into())
}

/// Whether the name and source of a term name cores of others, and none of this machine's.
fn is_foreign(term: &Term, vendor: &str) -> bool {
    let text = format!("{} {}", term.what, term.source.derivation().unwrap_or_default());
    let named = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let is_own = |of: &str| of == vendor || (of == "Arm" && vendor == "ARM");
    let own = VENDORS.iter().filter(|(of, _)| is_own(of)).any(|(_, words)| named(words));
    let others = VENDORS.iter().filter(|(of, _)| !is_own(of)).any(|(_, words)| named(words));
    // Services are of the kernel, whatever core they were measured on.
    term.part == Part::Hardware && others && !own
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::experiment::{Basis, Prediction};

    #[test]
    fn a_term_of_another_vendor_s_core_is_foreign_and_one_of_several_or_of_its_own_is_not() {
        let is_foreign = |citation: &str, vendor: &str| {
            let prediction = Prediction::new().hardware("loads", 1.0, Basis::published(1.0, citation));
            is_foreign(&prediction.terms[0], vendor)
        };
        assert!(is_foreign("fill buffers on Intel's cores", "AuthenticAMD"));
        assert!(!is_foreign("fill buffers on Intel's cores", "GenuineIntel"));
        assert!(!is_foreign("since Zen 2 and Golden Cove", "AuthenticAMD"));
        assert!(!is_foreign("a paper of 2016", "AuthenticAMD"));
        let service = Prediction::new().software("a call", 1.0, Basis::published(1.0, "on an Intel laptop"));
        assert!(!super::is_foreign(&service.terms[0], "AuthenticAMD"));
    }
}
