//! Requests without an answer yet.

use fathom_core::experiment::Failure;

/// Requests without an answer yet, and answers received before they were awaited: a server may answer in another order than that
/// of the requests. At most as many answers as requests are held.
#[derive(Default)]
pub struct Unanswered(Vec<(u64, Option<Vec<u8>>)>);

impl Unanswered {
    /// Adds a request that was sent.
    pub fn add(&mut self, ticket: u64) {
        self.0.push((ticket, None));
    }

    /// Keeps an answer; a failure if no request is waiting for it.
    pub fn keep(&mut self, ticket: u64, answer: Vec<u8>) -> Result<(), Failure> {
        match self.0.iter_mut().find(|(number, _)| *number == ticket) {
            Some((_, place @ None)) => *place = Some(answer),
            _ => return Err(Failure::Broke("the server sent an unrequested answer".to_owned())),
        }
        Ok(())
    }

    /// The answer to a request, if it was received.
    pub fn take(&mut self, ticket: u64) -> Option<Vec<u8>> {
        let place = self.0.iter().position(|(number, answer)| *number == ticket && answer.is_some())?;
        self.0.swap_remove(place).1
    }

    /// Removes a request whose answer is read elsewhere.
    pub fn answered(&mut self, ticket: u64) {
        self.0.retain(|(number, _)| *number != ticket);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_kept_for_those_who_asked_and_once() {
        let mut unanswered = Unanswered::default();
        unanswered.add(1);
        unanswered.add(2);
        assert_eq!(unanswered.take(2), None);
        unanswered.keep(2, vec![2]).unwrap();
        assert!(unanswered.keep(2, vec![2]).is_err(), "twice");
        assert!(unanswered.keep(3, vec![3]).is_err(), "unasked");
        assert_eq!(unanswered.take(2), Some(vec![2]));
        assert!(unanswered.keep(2, vec![2]).is_err(), "after it was taken");
        unanswered.answered(1);
        assert!(unanswered.keep(1, vec![1]).is_err());
    }
}
