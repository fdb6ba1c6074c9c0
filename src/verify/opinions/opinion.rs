//! What a second opinion is: an operation, the point by which Fathom measures it, and how a tool is asked and understood.

/// A tool that others have made.
#[derive(Debug)]
pub struct Tool {
    /// What it is called.
    pub name: &'static str,
    /// The program that is executed.
    pub program: &'static str,
    /// The package of Debian that has it.
    pub package: &'static str,
}

/// An operation that a tool measures as Fathom does.
#[derive(Debug)]
pub struct Opinion {
    /// The operation.
    pub operation: &'static str,
    /// The tool.
    pub tool: &'static Tool,
    /// Fathom's experiment, and what tells the point apart from its others.
    pub ours: (&'static str, &'static [(&'static str, &'static str)]),
    /// The command line. `{port}` is a free port of loopback, `{file}` a file that may be made, `{half}` and `{half_mib}` half
    /// of the point's memory in bytes and in MiB.
    pub command: &'static str,
    /// The server that the command talks to; `None` for none.
    pub server: Option<Server>,
    /// What the output says, in the unit of the point.
    pub read: fn(&str) -> Option<f64>,
    /// What the tool measures otherwise than Fathom does; empty where nothing is known.
    pub otherwise: &'static str,
}

/// The other end of a tool that needs two; it runs on the other CPU.
#[derive(Debug)]
pub struct Server {
    /// Its command line.
    pub command: &'static str,
    /// Whether it listens at every address of the machine, so that it gets a network of its own to do so.
    pub listens_everywhere: bool,
}
