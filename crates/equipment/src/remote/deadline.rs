//! Deadline of a conversation with a server.

use fathom_core::experiment::Failure;
use std::time::{Duration, Instant};

/// Deadline of a conversation: a server that sends a little now and then would otherwise never be given up.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    at: Instant,
    within: Duration,
}

impl Deadline {
    /// A deadline this long from now.
    pub fn within(within: Duration) -> Self {
        Deadline { at: Instant::now() + within, within }
    }

    /// The time left to wait for the next step, at most `most`; a failure if all is used up.
    pub fn remaining(&self, most: Duration) -> Result<Duration, Failure> {
        let remaining = self.at.saturating_duration_since(Instant::now());
        if remaining.is_zero() {
            let within = self.within.as_secs_f64().ceil();
            return Err(Failure::Broke(format!("the conversation has taken longer than {within} s")));
        }
        Ok(remaining.min(most))
    }
}
