//! By when a conversation must be over.

use crate::experiment::Failure;
use std::time::{Duration, Instant};

/// By when a conversation must be over: a server that says a little now and then would else never be done.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    at: Instant,
    within: Duration,
}

impl Deadline {
    /// So long from now.
    pub fn within(within: Duration) -> Self {
        Deadline { at: Instant::now() + within, within }
    }

    /// How long may be waited for the next step, which has `most`; a failure where all is used up.
    pub fn left(&self, most: Duration) -> Result<Duration, Failure> {
        let left = self.at.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let within = self.within.as_secs_f64().ceil();
            return Err(Failure::Broke(format!("the conversation has taken longer than {within} s")));
        }
        Ok(left.min(most))
    }
}
