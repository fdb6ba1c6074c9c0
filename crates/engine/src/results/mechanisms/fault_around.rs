//! Fault-around: a fault on a mapped file whose pages are cached maps its neighbours too (`do_fault_around` of mm/memory.c), so
//! that a page costs a part of a fault.

use super::{Conclusion, Premises, Rule};
use fathom_core::experiment::At::{Any, Name};
use fathom_core::experiment::{Dimension, Found, Known, Selector, Statement, statement};

pub(super) const RULE: Rule = Rule {
    name: "fault_around",
    condition: "a fault maps more than one page, and costs significantly less per page than a fault that maps one",
    judge,
    points: &[NEIGHBOURS, ALONE],
};

const NEIGHBOURS: Selector = Selector::only(
    "memory/minor_fault",
    &[("access", Name("cached file, read with neighbours")), ("batch", Any)],
);
const ALONE: Selector = Selector::only(
    "memory/minor_fault",
    &[("access", Name("cached file, read, page by page")), ("batch", Any)],
);

/// The beginning of the claim by which the same trials show the pages that a fault mapped: another file, or another state of it, is
/// mapped in other pieces.
const PAGES: &str = "pages that one fault maps";

fn judge(premises: &Premises) -> Option<Conclusion> {
    concluded(premises.known, pages(premises)?)
}

/// The conclusion where a fault maps this number of pages.
fn concluded(known: &Known, pages: f64) -> Option<Conclusion> {
    let (fault, alone) = (NEIGHBOURS.found(known)?, ALONE.found(known)?);
    let each: Found = fault.scaled(1.0 / pages);
    let cheaper = each.value < alone.value && each.differs_from(&alone) == Some(true);
    if pages <= 1.0 || !cheaper {
        return None;
    }
    let headline = statement!(
        "Read in order, a cached file takes a fault for every {pages} pages on average: a page costs {each}, mapped alone \
         {alone}.",
        pages = Found::bare(pages, Dimension::Ratio).named("pages read in order for each fault"),
        each = each.named("a page, mapped with others"),
        alone = alone.named("a page, mapped alone")
    );
    let because: Statement = statement!(
        "A fault that maps its neighbours takes {fault}, one that maps one page {alone}: {ratio}. Fault and pages are of the same trials (memory/minor_fault), which read the whole file; what one fault maps \
         at a random place is in memory/fault_extent, of a file that came into the page cache in another way and may lie in larger folios.",
        fault = fault.named("fault that maps its neighbours"),
        alone = alone.named("a page, mapped alone"),
        ratio = fault.times_as("long", alone, "fault with neighbours over fault alone")
    );
    Some(Conclusion::of(headline, because))
}

/// The pages that a fault mapped in the trials whose time it is, as the page table showed.
fn pages(premises: &Premises) -> Option<f64> {
    let machine = premises.known.machine;
    let of = premises.results().find(|of| NEIGHBOURS.selects(&of.experiment, &of.point, machine))?;
    of.evidence.checks().iter().find(|check| check.claim.starts_with(PAGES))?.quantity
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::planted::{self, Plant as _};
    use serde_json::json;

    fn text(pages: f64, fault: f64) -> Option<String> {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        NEIGHBOURS.plant_at(&mut known, &[("batch", json!(1))], fault);
        ALONE.plant_at(&mut known, &[("batch", json!(1))], 500.0);
        concluded(&known, pages).map(|conclusion| conclusion.headline.plain())
    }

    #[test]
    fn neighbours_are_mapped_for_a_part_of_a_fault() {
        assert!(
            text(16.0, 800.0).is_some_and(|text| text.contains("a page costs {50}, mapped alone {500}."))
        );
    }

    #[test]
    fn a_page_by_itself_is_no_case() {
        assert_eq!((text(1.0, 100.0), text(16.0, 8_000.0)), (None, None));
    }
}
