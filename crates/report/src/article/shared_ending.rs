//! What every sentence of a list ends with, said once.

/// The last sentence that all of these texts have in common, and the texts without it; `None` of fewer than two, where one has nothing else, or
/// where they end otherwise.
pub(super) fn of(texts: &[String]) -> Option<(String, Vec<String>)> {
    let (first, rest) = texts.split_first()?;
    let (_, last) = divided(first)?;
    let is_same = |text: &String| divided(text).is_some_and(|(_, own)| own == last);
    (!rest.is_empty() && rest.iter().all(is_same)).then(|| {
        let others = texts.iter().filter_map(|text| divided(text)).map(|(before, _)| before.to_owned());
        (last.to_owned(), others.collect())
    })
}

/// A text of at least two sentences before its last one, and that.
fn divided(text: &str) -> Option<(&str, &str)> {
    let end = text.rfind(". ")? + 1;
    Some((&text[..end], text[end..].trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_sentences_of_a_list_end_with_is_said_once() {
        let texts = |all: &[&str]| all.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let two = texts(&["A takes 2.5 ns. It is shared.", "B takes 3 ns. So it is. It is shared."]);
        let expected = ("It is shared.".to_owned(), texts(&["A takes 2.5 ns.", "B takes 3 ns. So it is."]));
        assert_eq!(of(&two), Some(expected));
        assert_eq!(of(&texts(&["A takes 2.5 ns. It is shared.", "B takes 3 ns."])), None, "not all of them");
        assert_eq!(of(&two[..1]), None, "one says it itself");
        assert_eq!(of(&texts(&["It is shared.", "It is shared."])), None, "nothing else is said");
        assert_eq!(of(&[]), None);
    }
}
