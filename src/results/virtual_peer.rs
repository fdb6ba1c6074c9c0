//! A virtual peer is called so wherever it is shown. Experiments speak of a peer, whichever it is; what the run file says
//! of it decides what their points and sentences are called, before any report sees them.

use super::{PointResult, TrendResult};
use crate::experiment::{Finding, PEER, Point, Source, Statement, VIRTUAL_PEER};
use crate::record::{PeerKind, Run};

/// Whether the run's second host is one by name only.
pub fn has_one(run: &Run) -> bool {
    run.header.peer.as_ref().is_some_and(|peer| peer.kind == PeerKind::Virtual)
}

/// A point as it is shown of a run with a virtual peer.
pub fn shown(point: &Point) -> Point {
    point.renamed(PEER, VIRTUAL_PEER)
}

/// A point as experiments name it.
pub fn unnamed(point: &Point) -> Point {
    point.renamed(VIRTUAL_PEER, PEER)
}

/// Names it in all that is shown.
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

/// Names it in a statement.
pub fn name_in(statement: &mut Statement) {
    statement.reword(sentence, shown);
}

/// The sentence with the whole word `peer` replaced, where it is not `virtual` already.
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
