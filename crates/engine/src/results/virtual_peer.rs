//! The naming of a virtual peer in everything that is shown. Experiments name any second host a peer; the run file's record
//! of it decides the names in their points and sentences, before any report sees them.

use super::{PointResult, TrendResult};
use crate::record::{PeerKind, Run};
use fathom_core::experiment::{Finding, PEER, Point, Source, Statement, VIRTUAL_PEER};

/// Whether the run's second host is virtual.
pub fn has_one(run: &Run) -> bool {
    run.header.peer.as_ref().is_some_and(|peer| peer.kind == PeerKind::Virtual)
}

/// A point as shown for a run with a virtual peer.
pub fn shown(point: &Point) -> Point {
    point.renamed(PEER, VIRTUAL_PEER)
}

/// A point with the experiments' own names.
pub fn unnamed(point: &Point) -> Point {
    point.renamed(VIRTUAL_PEER, PEER)
}

/// Renames the peer in all results that are shown.
pub fn name(points: &mut [PointResult], trends: &mut [TrendResult], findings: &mut [(String, Vec<Finding>)]) {
    for result in points {
        result.point = shown(&result.point);
        for term in result.prediction.iter_mut().flat_map(|prediction| &mut prediction.terms) {
            term.what = sentence(&term.what);
            if let Source::Measured { point, .. } = &mut term.source {
                *point = shown(point);
            }
        }
    }
    for trend in trends {
        trend.group = shown(&trend.group);
    }
    for finding in findings.iter_mut().flat_map(|(_, findings)| findings) {
        name_in(&mut finding.statement);
    }
}

pub fn name_in(statement: &mut Statement) {
    statement.reword(sentence, shown);
}

/// The sentence with the whole word `peer` replaced, unless `virtual` precedes it already.
fn sentence(text: &str) -> String {
    let mut named = String::new();
    for (at, piece) in text.split(PEER).enumerate() {
        if at > 0 {
            let inside = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
            let whole = !inside(named.chars().last()) && !inside(piece.chars().next());
            let already = named.ends_with("virtual ");
            named += if whole && !already { VIRTUAL_PEER } else { PEER };
        }
        named += piece;
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_are_named_and_none_twice() {
        assert_eq!(sentence("to the peer, with peers"), "to the virtual peer, with peers");
        assert_eq!(sentence("a virtual peer"), "a virtual peer");
        assert_eq!(sentence("peer"), "virtual peer");
        assert_eq!(sentence("nothing"), "nothing");
    }
}
