//! The form of a second opinion: an operation, Fathom's points of it, how a tool is run, and how its output is parsed.

use fathom_core::experiment::Selector;

#[derive(Debug)]
pub struct OtherTool {
    pub name: &'static str,
    pub program: &'static str,
    /// The Debian package that contains it.
    pub package: &'static str,
}

/// The statistic that a tool reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolStatistic {
    /// The mean over all that happened, or all work over all time.
    Mean,
    /// The median of its observations.
    Median,
}

impl ToolStatistic {
    pub fn name(self) -> &'static str {
        match self {
            ToolStatistic::Mean => "mean",
            ToolStatistic::Median => "median",
        }
    }
}

/// An operation that both a tool and Fathom measure.
#[derive(Debug)]
pub struct Opinion {
    pub operation: &'static str,
    pub tool: &'static OtherTool,
    /// Fathom's points of the operation; the first is measured.
    pub points: Selector,
    /// The command line. `{port}` is a free port of loopback, `{file}` a file that may be created, `{half}` and `{half_mib}`
    /// half of the point's memory in bytes and in MiB.
    pub command: &'static str,
    /// The server that the command talks to; `None` for none.
    pub server: Option<ToolServer>,
    /// Parses the figure from the output, in the unit of the point.
    pub read: fn(&str) -> Option<f64>,
    /// The statistic that it reports of a run.
    pub statistic: ToolStatistic,
    /// How many of Fathom's operations are one of the tool's, as the kernel counts them.
    pub counts: f64,
    /// Known differences between the tool's method and Fathom's; may be empty.
    pub otherwise: &'static str,
}

impl Opinion {
    /// The rest of an opinion by this tool: a mean of Fathom's operations, without a server, whose method is not known to differ.
    pub(super) const fn by(tool: &'static OtherTool) -> Self {
        Self {
            operation: "",
            tool,
            points: Selector::of("", &[]),
            command: "",
            server: None,
            read: |_| None,
            statistic: ToolStatistic::Mean,
            counts: 1.0,
            otherwise: "",
        }
    }
}

/// The server of a tool that needs one; it runs on the other CPU.
#[derive(Debug)]
pub struct ToolServer {
    pub command: &'static str,
    /// Whether it listens at every address of the machine, so that it is run in a network namespace of its own.
    pub listens_everywhere: bool,
}

impl ToolServer {
    /// One that listens on loopback alone.
    pub(super) const fn on_loopback(command: &'static str) -> Option<Self> {
        Some(ToolServer { command, listens_everywhere: false })
    }
}

/// The number before the first word with this prefix.
pub(super) fn before(text: &str, word: &str) -> Option<f64> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let at = words.iter().position(|written| written.trim_start_matches('(').starts_with(word))?;
    number(words.get(at.checked_sub(1)?)?)
}

/// The first number after this word, optionally with an equals sign between.
pub(super) fn behind(text: &str, word: &str) -> Option<f64> {
    let (_, rest) = text.split_once(word)?;
    rest.split_whitespace().find(|part| *part != "=").and_then(number)
}

fn number(word: &str) -> Option<f64> {
    word.trim_start_matches('(').parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_stands_before_its_unit_or_behind_its_name() {
        assert_eq!(before("took\n 0.38 usecs/op\n", "usecs/op"), Some(0.38));
        assert_eq!(before("moved (2976.08 MiB/sec)", "MiB/sec"), Some(2976.08));
        assert_eq!(behind("latency  =  6151 ns", "latency"), Some(6151.0));
        assert_eq!(behind("Time: 0.266", "Time:"), Some(0.266));
    }

    #[test]
    fn what_is_no_time_and_no_rate_is_not_taken_for_one() {
        assert_eq!(before("usecs/op", "usecs/op"), None);
        assert_eq!(before("0.000 usecs/op", "usecs/op"), None);
        assert_eq!(before("nan usecs/op", "usecs/op"), None);
        assert_eq!(behind("failed", "Time:"), None);
    }
}
