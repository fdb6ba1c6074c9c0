//! `sysbench memory`.

use super::opinion::{Opinion, OtherTool, before};
use crate::prelude::{Name, Selector};

static TOOL: OtherTool = OtherTool { name: "sysbench", program: "sysbench", package: "sysbench" };

pub(super) const OPINIONS: &[Opinion] = &[Opinion {
    operation: "reading words within L2",
    points: Selector::of(
        "memory/bandwidth",
        &[("kind", Name("read")), ("method", Name("word loop")), ("level", Name("L2"))],
    ),
    command: "sysbench memory --memory-block-size=1M --memory-total-size=100T --memory-oper=read --time=1 run",
    read: |output| Some(before(output, "MiB/sec")? * f64::from(1 << 20)),
    otherwise: "it discards what it reads; Fathom's plain loop adds up one word per iteration, to prove that it was \
                read",
    ..Opinion::by(&TOOL)
}];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_stands_behind_what_was_moved() {
        let said = "Total operations: 94 (   46.50 per second)\n\n6016.00 MiB transferred (2976.08 MiB/sec)\n\n\nGeneral statistics:\n\
                    \x20   total time:                          2.0202s\n";
        assert_eq!((OPINIONS[0].read)(said), Some(2976.08 * f64::from(1 << 20)));
    }
}
