//! `mbw`, which copies arrays.

use super::opinion::{Opinion, OtherTool, behind};
use crate::prelude::{Name, Selector};

static TOOL: OtherTool = OtherTool { name: "mbw", program: "mbw", package: "mbw" };

/// The point of a copy in memory by the C library, which `perf bench` measures too.
pub(super) const MEMCPY: Selector = Selector::of(
    "memory/bandwidth",
    &[("kind", Name("copy")), ("method", Name("memcpy")), ("level", Name("memory"))],
);

pub(super) const OPINIONS: &[Opinion] = &[Opinion {
    operation: "memcpy in memory",
    points: MEMCPY,
    command: "mbw -q -n 2 -t0 {half_mib}",
    read: copied,
    otherwise: "it uses base pages, Fathom huge pages",
    ..Opinion::by(&TOOL)
}];

/// Bytes per second from the mean over its passes; each byte is read and written.
fn copied(output: &str) -> Option<f64> {
    let mean = output.lines().find(|line| line.starts_with("AVG"))?;
    Some(behind(mean, "Copy:")? * f64::from(1 << 20) * 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_its_passes_is_read() {
        let said = "0\tMethod: MEMCPY\tElapsed: 0.23069\tMiB: 256.00000\tCopy: 1109.700 MiB/s\n\
                    1\tMethod: MEMCPY\tElapsed: 0.23417\tMiB: 256.00000\tCopy: 1093.223 MiB/s\n\
                    AVG\tMethod: MEMCPY\tElapsed: 0.20906\tMiB: 256.00000\tCopy: 1224.500 MiB/s\n";
        assert_eq!(copied(said), Some(2449.0 * f64::from(1 << 20)));
        assert_eq!(
            copied("0\tMethod: MEMCPY\tElapsed: 0.23069\tMiB: 256.00000\tCopy: 1109.700 MiB/s\n"),
            None
        );
    }
}
