//! Read-around: a page fault on an uncached file reads the window around its page (`do_sync_mmap_readahead` of
//! mm/filemap.c), which is wasted if the next page is elsewhere.

use super::{Conclusion, Premises, Rule};
use fathom_core::experiment::At::{Name, Number};
use fathom_core::experiment::{Dimension, Found, Known, Selector, Statement, statement};
use fathom_core::quantity::Unit;

pub(super) const RULE: Rule = Rule {
    name: "read_around",
    condition: "a fault on a cold file reads more than a page, and random blocks cost significantly more through a \
                mapping with read-around than without",
    judge,
    points: &[READ, RANDOM, WITHOUT, IN_ORDER],
};

const READ: Selector =
    Selector::only("memory/fault_extent", &[("method", Name("residency")), ("state", Name("cold"))]);
/// A random block of a cold file through a mapping.
pub(crate) const RANDOM: Selector = Selector::only(
    "filesystem/read",
    &[
        ("call", Name("mmap")),
        ("order", Name("random")),
        ("state", Name("cold")),
        ("block", Number(4096)),
        ("file", Number(64 << 20)),
    ],
);
/// The same with the pages around it not read.
pub(crate) const WITHOUT: Selector = Selector::only(
    "filesystem/read",
    &[
        ("call", Name("mmap")),
        ("order", Name("random")),
        ("state", Name("cold")),
        ("read_ahead", Name("off")),
        ("block", Number(4096)),
        ("file", Number(64 << 20)),
    ],
);
const IN_ORDER: Selector = Selector::only(
    "filesystem/read",
    &[
        ("call", Name("mmap")),
        ("order", Name("sequential")),
        ("state", Name("cold")),
        ("block", Number(4096)),
        ("file", Number(64 << 20)),
    ],
);

fn judge(premises: &Premises) -> Option<Conclusion> {
    let known = premises.known;
    let (read, random, without) = (READ.found(known)?, RANDOM.found(known)?, WITHOUT.found(known)?);
    let page = known.machine.page_bytes() as f64;
    let dearer = random.value > without.value && random.differs_from(&without) == Some(true);
    if read.value <= page || !dearer {
        return None;
    }
    let beside = statement!(
        "a block through a mapping takes {random}, with read-around turned off by madvise(2) {without}",
        random = random.named("random block by mapping"),
        without = without.named("random block by mapping, no read-around")
    );
    // Of several states there is no one ratio.
    let ratio = (!random.is_mixture && !without.is_mixture).then(|| {
        let ratio = random.over(without).named("random by mapping, with read-around over without");
        statement!(", {ratio} times as much", ratio)
    });
    let headline = statement!(
        "A page fault on a file that is not cached reads {read} around its page: in random order, {beside}{ratio}.",
        read = read.named("read by one fault"),
        beside,
        ratio
    );
    let because =
        statement!("{in_order}{window}", in_order = in_order(known), window = window(read.value, known));
    Some(Conclusion::of(headline, because))
}

/// In sequential order the same window is useful.
fn in_order(known: &Known) -> Statement {
    IN_ORDER.found(known).map_or_else(Statement::default, |each| {
        statement!(
            "In sequential order the pages read around are used: {each} a block. ",
            each = each.named("block in sequence by mapping")
        )
    })
}

/// The bytes read compared with the device's window.
fn window(read: f64, known: &Known) -> Statement {
    let device = known.machine.storage.device.value();
    let Some(bytes) = device.and_then(|device| device.read_ahead_bytes.value().copied()) else {
        return Statement::default();
    };
    let window = Found::exact(bytes as f64, Dimension::Of(Unit::Bytes));
    let same = if read as u64 == bytes { ", as much as a fault reads" } else { "" };
    statement!(
        "The device's window of read-ahead is {window}{same}.",
        window = window.named("window of read-ahead")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::planted::{self, Plant as _};

    fn text(read: f64, random: f64) -> Option<String> {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        READ.plant(&mut known, read);
        RANDOM.plant(&mut known, random);
        WITHOUT.plant(&mut known, 60e3);
        judge(&Premises { known: &known, points: &[] }).map(|conclusion| conclusion.headline.plain())
    }

    #[test]
    fn random_blocks_pay_for_what_is_read_around_them() {
        let text = text(8_388_608.0, 6e6).expect("a mechanism");
        assert!(text.contains(
            "reads {8388608} around its page: in random order, a block through a mapping takes {6000000}, with read-around turned off by \
             madvise(2) {60000}, {100} times as much."
        ));
    }

    #[test]
    fn of_a_time_of_two_states_there_is_no_ratio() {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        READ.plant(&mut known, 8_388_608.0);
        RANDOM.plant(&mut known, 6e6);
        let of_two =
            Found { is_mixture: true, ..fathom_described::found(60e3, Dimension::Of(Unit::Nanoseconds)) };
        known.learn(WITHOUT.experiment, &WITHOUT.point(&[]), of_two);
        let text = judge(&Premises { known: &known, points: &[] }).expect("a mechanism").headline.plain();
        assert!(text.ends_with("by madvise(2) {60000}."), "{text}");
    }

    #[test]
    fn where_nothing_is_read_around_or_it_costs_nothing_there_is_no_case() {
        assert_eq!(text(4096.0, 6e6), None);
        assert_eq!(text(8_388_608.0, 60e3), None);
    }
}
