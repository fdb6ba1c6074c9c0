//! Parsing the output of tools: the number before or after a word.

/// The number before the first word with this prefix.
pub(super) fn before(text: &str, word: &str) -> Option<f64> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let at = words.iter().position(|found| found.trim_start_matches('(').starts_with(word))?;
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
