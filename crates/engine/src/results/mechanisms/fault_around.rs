//! Fault-around: a fault on a mapped file whose pages are cached maps its neighbours too (`do_fault_around` of mm/memory.c), so
//! that a page costs a part of a fault.

use super::{Conclusion, Premises, Rule};
use fathom_core::experiment::At::{Any, Name};
use fathom_core::experiment::{Found, Selector, Statement, statement};

pub(super) const RULE: Rule = Rule {
    name: "fault_around",
    condition: "a fault maps more than one page, and costs significantly less per page than a fault that maps one",
    judge,
    #[cfg(test)]
    points: &[MAPPED, NEIGHBOURS, ALONE],
};

const MAPPED: Selector =
    Selector::only("memory/fault_extent", &[("method", Name("page table")), ("state", Name("cold"))]);
const NEIGHBOURS: Selector = Selector::only(
    "memory/minor_fault",
    &[("access", Name("cached file, read with neighbours")), ("batch", Any)],
);
const ALONE: Selector = Selector::only(
    "memory/minor_fault",
    &[("access", Name("cached file, read, page by page")), ("batch", Any)],
);

fn judge(premises: &Premises) -> Option<Conclusion> {
    let known = premises.known;
    let (mapped, fault, alone) = (MAPPED.found(known)?, NEIGHBOURS.found(known)?, ALONE.found(known)?);
    let pages = mapped.value / known.machine.page_bytes() as f64;
    let each: Found = fault.scaled(1.0 / pages);
    let cheaper = each.value < alone.value && each.differs_from(&alone) == Some(true);
    if pages <= 1.0 || !cheaper {
        return None;
    }
    let headline = statement!(
        "One fault on a mapped file maps {mapped}: a page costs {each}, mapped alone {alone}.",
        mapped = mapped.named("mapped by one fault"),
        each = each.named("a page, mapped with others"),
        alone = alone.named("a page, mapped alone")
    );
    let because: Statement = statement!(
        "A fault that maps its neighbours takes {fault}, {ratio} times as long as a fault that maps one \
         page, for {pages} pages.",
        fault = fault.named("fault that maps its neighbours"),
        ratio = fault.over(alone).named("fault with neighbours over fault alone")
    );
    Some(Conclusion { headline, because })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::planted::{self, Plant as _};
    use fathom_core::experiment::Known;
    use serde_json::json;

    fn text(pages: f64, fault: f64) -> Option<String> {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        MAPPED.plant(&mut known, pages * machine.page_bytes() as f64);
        NEIGHBOURS.plant_at(&mut known, &[("batch", json!(1))], fault);
        ALONE.plant_at(&mut known, &[("batch", json!(1))], 500.0);
        judge(&Premises { known: &known, points: &[] }).map(|conclusion| conclusion.headline.plain())
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
