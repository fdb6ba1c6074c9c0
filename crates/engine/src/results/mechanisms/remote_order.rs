//! Sequential and random order over a network: the order makes no difference by itself; if a sequential read is faster,
//! blocks are read ahead or cached.

use super::{Conclusion, Premises, Rule};
use fathom_core::experiment::At::{Any, Name, Number};
use fathom_core::experiment::{Found, Placement, Point, Selector, Statement, statement};

pub(super) const RULE: Rule = Rule {
    name: "remote_order",
    condition: "blocks of a file that the server has cached were read in both orders, with intervals",
    judge,
    points: &[],
};

const BLOCKS: Selector = Selector::only(
    "filesystem/remote_read",
    &[
        ("state", Name("server-cached")),
        ("block", Number(4096)),
        ("queue_depth", Number(1)),
        ("order", Any),
        ("protocol", Any),
    ],
)
.at(Placement::Free);

fn judge(premises: &Premises) -> Option<Conclusion> {
    let all: Vec<(&Point, Found)> = BLOCKS.all(premises.known);
    let of = |protocol: &str, order: &str| {
        let is = |point: &Point| name(point, "protocol") == protocol && name(point, "order") == order;
        all.iter().find(|(point, _)| is(point)).map(|(_, value)| *value)
    };
    let mut protocols: Vec<&str> = all.iter().map(|(point, _)| name(point, "protocol")).collect();
    protocols.dedup();
    let mut ahead = vec![];
    let protocols = protocols.into_iter().filter_map(|protocol| {
        let (sequence, random) = (of(protocol, "sequential")?, of(protocol, "random")?);
        let quicker = sequence.differs_from(&random)? && sequence.value < random.value;
        if quicker {
            ahead.push(protocol);
        }
        let why = if quicker { "read ahead" } else { "requested one by one" };
        Some(statement!(
            "{protocol}: {random} at random, {sequence} in sequence: blocks are {why}",
            random = random.named(&format!("{protocol}, random")),
            sequence = sequence.named(&format!("{protocol}, in sequence"))
        ))
    });
    let because = statement!("{all}.", all = Statement::joined(protocols, "; ")?);
    let headline = match ahead.as_slice() {
        [] => "Over the network the order makes no difference: no block is read ahead.".to_owned(),
        some => {
            format!(
                "Over the network sequential order is faster with {}, which reads ahead.",
                some.join(" and ")
            )
        }
    };
    Some(Conclusion::of(headline.into(), because).effective(!ahead.is_empty()))
}

fn name<'a>(point: &'a Point, parameter: &str) -> &'a str {
    point.name_of(parameter).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::planted::{self, Plant as _};
    use fathom_core::experiment::Known;
    use serde_json::json;

    fn conclusion(sequence: f64) -> Conclusion {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        for (order, ns) in [("random", 100e3), ("sequential", sequence)] {
            BLOCKS.plant_at(&mut known, &[("order", json!(order)), ("protocol", json!("nfs"))], ns);
        }
        judge(&Premises { known: &known, points: &[] }).expect("a mechanism")
    }

    #[test]
    fn a_quicker_sequence_is_read_ahead_and_one_as_slow_is_not() {
        assert!(conclusion(20e3).headline.plain().contains("faster with nfs, which reads ahead"));
        assert!(conclusion(100e3).headline.plain().contains("the order makes no difference"));
    }
}
