//! Answers that came early.

/// Answers that came before they were waited for: a server may answer in another order than it was asked.
#[derive(Default)]
pub struct Early(Vec<(u64, Vec<u8>)>);

impl Early {
    /// Keeps an answer.
    pub fn keep(&mut self, ticket: u64, answer: Vec<u8>) {
        self.0.push((ticket, answer));
    }

    /// The answer to a request, if it has come.
    pub fn take(&mut self, ticket: u64) -> Option<Vec<u8>> {
        let place = self.0.iter().position(|(kept, _)| *kept == ticket)?;
        Some(self.0.swap_remove(place).1)
    }
}
