//! Adjacent-line prefetch: the line next to a requested one is fetched as well, which makes loads look fast if their order
//! stays within small windows (Intel 64 and IA-32 Architectures Optimization Reference Manual, "spatial prefetcher": pairs
//! of 128 bytes). Windows need fewer entries of the TLB as well, and their lines lie in fewer rows of the DRAM, of which a row that is open
//! already answers sooner. The prefetch is a cause only where the run excludes the former, and the difference is more than the latter saves.

use super::{Conclusion, Premises, Rule};
use fathom_core::experiment::At::{Name, Number};
use fathom_core::experiment::{Dimension, Found, Selector, statement};
use fathom_core::quantity::Unit;

pub(super) const RULE: Rule = Rule {
    name: "adjacent_line",
    condition: "a load from memory takes significantly less in random order within windows of 256 KiB than over the \
                whole array; the prefetch is a cause where it also takes less than over an array of few huge pages, by more than an open \
                row of the DRAM saves (40 ns at most)",
    judge,
    points: &[WHOLE, WINDOWED, FEW_PAGES],
};

/// The array, bytes.
const SIZE: u64 = 1 << 30;

/// An array of 64 huge pages of 2 MiB, which the TLBs of current cores hold, bytes.
const SMALLER: u64 = 128 << 20;

/// The most that a load saves whose row of the DRAM is open already, nanoseconds: the time to close another row and to open this one, tRP and
/// tRCD, which the speed bins of JEDEC have as 12.5 to 17.5 ns each for DDR4 (JESD79-4) and DDR5 (JESD79-5) and 18 to 21 for LPDDR4 (JESD209-4).
const OPEN_ROW_NS: f64 = 40.0;

const LOADS: &str = "memory/load_latency";
const WHOLE: Selector = Selector::only(
    LOADS,
    &[("order", Name("random cycle")), ("pages", Name("huge")), ("size", Number(SIZE))],
);
const FEW_PAGES: Selector = Selector::only(
    LOADS,
    &[("order", Name("random cycle")), ("pages", Name("huge")), ("size", Number(SMALLER))],
);
const WINDOWED: Selector = Selector::only(
    LOADS,
    &[("order", Name("random within windows of 256 KiB")), ("pages", Name("huge")), ("size", Number(SIZE))],
);

fn judge(premises: &Premises) -> Option<Conclusion> {
    let (whole, windowed) = (WHOLE.found(premises.known)?, WINDOWED.found(premises.known)?);
    if !is_less(windowed, whole) {
        return None;
    }
    let few_pages = FEW_PAGES.found(premises.known).filter(|few| is_less(windowed, *few));
    let size = |bytes: u64, name| Found::exact(bytes as f64, Dimension::Of(Unit::Bytes)).named(name);
    // The TLB's part of the difference, where the array of few pages shows one.
    let is_in_part = few_pages.is_some_and(|few| is_less(few, whole));
    let row = Found::exact(OPEN_ROW_NS, whole.dimension);
    let beyond_rows = few_pages.and_then(|few| few.minus(windowed).beyond(row));
    let cause = match (few_pages, beyond_rows) {
        (Some(_), Some(_)) => "in part probably because the prefetcher also fetches the adjacent line",
        (Some(_), None) => {
            "the prefetch of the adjacent line or rows of the DRAM that are open already, which this run does not separate"
        }
        (None, _) => {
            "the prefetch of the adjacent line, open rows of the DRAM or fewer misses of the TLB, which this run does not separate"
        }
    };
    let headline = statement!(
        "A load from {size} of memory takes {whole} in random order over the whole array, and {windowed} within \
         windows of 256 KiB: {cause}.",
        size = size(SIZE, "size of the array"),
        whole = whole.named("random over the whole"),
        windowed = windowed.named("random within windows")
    );
    let measured = few_pages.unwrap_or(whole);
    let beside = few_pages.map(|few| {
        let rest = if is_in_part {
            ", and the rest of the difference comes with the size of the array"
        } else {
            ", so fewer pages are not the cause"
        };
        statement!(
            " Over {smaller}, an array of few huge pages, a load in random order takes {few}{rest}.",
            smaller = size(SMALLER, "size of the smaller array"),
            few = few.named("random over few pages")
        )
    });
    let row = row.named("an open row of the DRAM, at most");
    let rows = if let Some(beyond) = beyond_rows {
        statement!(
            " Lines of a window also lie in fewer rows of the DRAM: one that is open already saves {row} at most (to close a row and to open \
             another: JEDEC), so {beyond} of the difference or more are not that; how the rest divides, no figure of this run tells.",
            beyond = beyond.named("the difference beyond an open row"),
            row
        )
    } else {
        statement!(
            " Lines of a window also lie in fewer rows of the DRAM, of which one that is open already saves up to {row} (to close a row and \
             to open another: JEDEC).",
            row
        )
    };
    let over = if few_pages.is_some() { "to the load over few pages" } else { "measured" };
    let because = statement!(
        "Within a window both lines of a pair are visited shortly after each other.{beside}{rows} If the second line of a pair were \
         free, the ratio {over} would be 0.5; it is {share}. Tools that chase within windows report that value as memory latency.",
        share = windowed.share_of(measured).named("random within windows over random"),
        beside,
        rows
    );
    Some(Conclusion::of(headline, because))
}

fn is_less(one: Found, other: Found) -> bool {
    one.value < other.value && one.differs_from(&other) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::planted::{self, Plant as _};
    use fathom_core::experiment::Known;

    fn text(windowed: f64, few_pages: Option<f64>) -> Option<String> {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        WHOLE.plant(&mut known, 160.0);
        WINDOWED.plant(&mut known, windowed);
        if let Some(few) = few_pages {
            FEW_PAGES.plant(&mut known, few);
        }
        let conclusion = judge(&Premises { known: &known, points: &[] })?;
        Some(format!("{} {}", conclusion.headline.plain(), conclusion.because.plain()))
    }

    #[test]
    fn a_load_that_its_neighbour_fetched_takes_less() {
        let text = text(64.0, Some(160.0)).expect("a mechanism");
        assert!(text.contains("the ratio to the load over few pages would be 0.5; it is {0.4}."), "{text}");
        assert!(
            text.contains(": in part probably because the prefetcher also fetches the adjacent line.")
                && text.contains("so fewer pages are not the cause"),
            "{text}"
        );
        assert!(
            text.contains("saves {40} at most") && text.contains("so {56} of the difference or more"),
            "{text}"
        );
    }

    #[test]
    fn where_few_pages_take_less_than_many_the_prefetch_is_a_part_of_the_cause() {
        let text = text(80.0, Some(125.0)).expect("a mechanism");
        assert!(text.contains("so {5} of the difference or more are not that"), "{text}");
        assert!(
            text.contains(": in part probably because the prefetcher") && text.contains("it is {0.64}."),
            "{text}"
        );
        assert!(
            text.contains("comes with the size of the array") && !text.contains("are not the cause"),
            "{text}"
        );
    }

    #[test]
    fn where_few_pages_explain_it_as_well_or_were_not_measured_no_cause_is_named() {
        for few_pages in [None, Some(64.0), Some(60.0)] {
            let text = text(64.0, few_pages).expect("a difference");
            assert!(text.contains("which this run does not separate."), "{text}");
            assert!(!text.contains("also fetches") && !text.contains("are not the cause"), "{text}");
        }
    }

    #[test]
    fn a_difference_that_an_open_row_may_save_is_not_the_prefetchs() {
        let text = text(120.0, Some(158.0)).expect("a difference");
        assert!(
            text.contains("or rows of the DRAM that are open already, which this run does not separate."),
            "{text}"
        );
        assert!(text.contains("saves up to {40}") && !text.contains("also fetches"), "{text}");
    }

    #[test]
    fn where_windows_make_no_difference_nothing_is_fetched_besides() {
        assert_eq!((text(160.0, None), text(200.0, Some(160.0))), (None, None));
    }
}
