//! What a trial's process says of a long preparation, before its answer and on the same way, so that a run does not stand
//! silent meanwhile. Nothing is said while anything is observed.

use std::io::Write;

/// How a line begins that is not the answer, which is JSON.
const MARK: &[u8] = b"preparing: ";

/// Says what this trial does before it observes anything: a line without an end.
pub fn say(doing: &str) {
    let mut out = std::io::stdout().lock();
    // Whoever does not listen any more has ended the trial.
    let _ = out.write_all(MARK).and_then(|()| writeln!(out, "{doing}"));
}

/// Takes whole lines off the front of what a process has told: passes on what is said of preparations, and returns the
/// first line that is an answer.
pub(super) fn hear(told: &mut Vec<u8>, listener: &mut dyn FnMut(&str)) -> Option<Vec<u8>> {
    loop {
        let end = told.iter().position(|byte| *byte == b'\n')?;
        let line: Vec<u8> = told.drain(..=end).take(end).collect();
        match line.strip_prefix(MARK) {
            Some(doing) => listener(String::from_utf8_lossy(doing).as_ref()),
            None => return Some(line),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_and_the_answers_are_told_apart_wherever_they_are_torn() {
        let text = b"preparing: one\n{\"broke\":\"preparing: no\"}\npreparing: two\n{}\n{\"torn";
        for torn in 0..text.len() {
            let (mut told, mut said, mut answers) = (vec![], vec![], vec![]);
            for part in [&text[..torn], &text[torn..]] {
                told.extend_from_slice(part);
                while let Some(answer) = hear(&mut told, &mut |doing| said.push(doing.to_owned())) {
                    answers.push(answer);
                }
            }
            assert_eq!(said, ["one", "two"], "torn at {torn}");
            assert_eq!(answers, [b"{\"broke\":\"preparing: no\"}".to_vec(), b"{}".to_vec()]);
            assert_eq!(told, b"{\"torn", "what has no end is no answer");
        }
    }
}
