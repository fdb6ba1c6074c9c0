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

/// Takes off what is said, line by line, from the front of what has come so far; the answer is left.
pub(super) fn hear(come: &mut Vec<u8>, listener: &mut dyn FnMut(&str)) {
    while come.starts_with(MARK) {
        let Some(end) = come.iter().position(|byte| *byte == b'\n') else { return };
        let line: Vec<u8> = come.drain(..=end).collect();
        listener(String::from_utf8_lossy(&line[MARK.len()..end]).as_ref());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_and_the_answer_are_told_apart_wherever_they_are_torn() {
        let text = b"preparing: one of two\npreparing: two of two\n{\"broke\":\"preparing: no\"}\n";
        for torn in 0..text.len() {
            let (mut come, mut said) = (vec![], vec![]);
            for part in [&text[..torn], &text[torn..]] {
                come.extend_from_slice(part);
                hear(&mut come, &mut |doing| said.push(doing.to_owned()));
            }
            assert_eq!(said, ["one of two", "two of two"], "torn at {torn}");
            assert_eq!(come, b"{\"broke\":\"preparing: no\"}\n");
        }
    }
}
