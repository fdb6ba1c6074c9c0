//! Adjacent-line prefetch: the line next to a requested one is fetched as well, which makes loads look fast if their order
//! stays within small windows (Intel 64 and IA-32 Architectures Optimization Reference Manual, "spatial prefetcher": pairs
//! of 128 bytes).

use super::{Conclusion, Premises, Rule};
use fathom_core::experiment::At::{Name, Number};
use fathom_core::experiment::{Selector, statement};

pub(super) const RULE: Rule = Rule {
    name: "adjacent_line",
    condition: "a load from memory takes significantly less in random order within windows of 256 KiB than over the \
                whole array",
    judge,
    #[cfg(test)]
    points: &[WHOLE, WINDOWED],
};

const WHOLE: Selector = Selector::only(
    "memory/load_latency",
    &[("order", Name("random cycle")), ("pages", Name("huge")), ("size", Number(1 << 30))],
);
const WINDOWED: Selector = Selector::only(
    "memory/load_latency",
    &[
        ("order", Name("random within windows of 256 KiB")),
        ("pages", Name("huge")),
        ("size", Number(1 << 30)),
    ],
);

fn judge(premises: &Premises) -> Option<Conclusion> {
    let (whole, windowed) = (WHOLE.found(premises.known)?, WINDOWED.found(premises.known)?);
    if windowed.value >= whole.value || windowed.differs_from(&whole) != Some(true) {
        return None;
    }
    let headline = statement!(
        "A load from memory takes {whole} in random order over the whole array, and {windowed} within \
         windows of 256 KiB: the prefetcher also fetches the adjacent line.",
        whole = whole.named("random over the whole"),
        windowed = windowed.named("random within windows")
    );
    let because = statement!(
        "Within a window both lines of a pair are visited shortly after each other. If the second were free, \
         the ratio would be 0.5; the measured ratio is {share}. Tools that chase within windows report that \
         value as memory latency.",
        share = windowed.share_of(whole).named("random within windows over whole")
    );
    Some(Conclusion { headline, because })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::planted::{self, Plant as _};
    use fathom_core::experiment::Known;

    fn text(windowed: f64) -> Option<String> {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        WHOLE.plant(&mut known, 160.0);
        WINDOWED.plant(&mut known, windowed);
        judge(&Premises { known: &known, points: &[] }).map(|conclusion| conclusion.because.plain())
    }

    #[test]
    fn a_load_that_its_neighbour_fetched_takes_less() {
        assert!(text(64.0).is_some_and(|text| text.contains("the measured ratio is {0.4}.")));
    }

    #[test]
    fn where_windows_make_no_difference_nothing_is_fetched_besides() {
        assert_eq!((text(160.0), text(200.0)), (None, None));
    }
}
