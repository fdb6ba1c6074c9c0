//! The form of a second opinion: an operation, Fathom's point for it, and how a tool is run and parsed.

use fathom_core::experiment::Selector;

/// A tool by others.
#[derive(Debug)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// The program that is executed.
    pub program: &'static str,
    /// The Debian package that contains it.
    pub package: &'static str,
}

/// An operation that both a tool and Fathom measure.
#[derive(Debug)]
pub struct Opinion {
    /// The operation.
    pub operation: &'static str,
    /// The tool.
    pub tool: &'static Tool,
    /// Fathom's points of the operation; the first is measured.
    pub points: Selector,
    /// The command line. `{port}` is a free port of loopback, `{file}` a file that may be created, `{half}` and `{half_mib}`
    /// half of the point's memory in bytes and in MiB.
    pub command: &'static str,
    /// The server that the command talks to; `None` for none.
    pub server: Option<Server>,
    /// Parses the figure from the output, in the unit of the point.
    pub read: fn(&str) -> Option<f64>,
    /// Known differences between the tool's method and Fathom's; may be empty.
    pub otherwise: &'static str,
}

/// The server of a tool that needs one; it runs on the other CPU.
#[derive(Debug)]
pub struct Server {
    /// Its command line.
    pub command: &'static str,
    /// Whether it listens at every address of the machine, so that it is run in a network namespace of its own.
    pub listens_everywhere: bool,
}
