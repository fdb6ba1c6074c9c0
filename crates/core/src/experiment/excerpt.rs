//! Excerpts of the timed code: whole functions from the sources, as they were compiled (R-REP-05).

/// A function or macro of the timed code.
#[derive(Debug, Clone, Copy)]
pub struct TimedCode {
    /// The variant of the operation that it is.
    pub of: &'static str,
    /// The text of the source file.
    pub source: &'static str,
    /// The beginning of the function's first line, without indentation; more lines if they tell it from another.
    pub begins: &'static str,
}

impl TimedCode {
    /// The text from the line with this beginning to the closing brace or parenthesis, without the common indentation; `None` if there
    /// is none.
    pub fn function(&self) -> Option<String> {
        let line_before = |at: usize| self.source[..at].rsplit('\n').next().unwrap_or_default();
        let begins_a_line = |(at, _): &(usize, &str)| line_before(*at).trim().is_empty();
        let (at, _) = self.source.match_indices(self.begins).find(begins_a_line)?;
        let indent = line_before(at).len();
        let mut text = vec![];
        for line in self.source[at - indent..].lines() {
            text.push(line.get(indent..).unwrap_or_default());
            if text.last().is_some_and(|line| ["}", ");"].contains(line)) {
                return Some(text.join("\n"));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_cut_out_whole_and_moved_to_the_margin() {
        let source =
            "impl X {\n    /// Says.\n    fn a() {\n        if b {\n        }\n    }\n\n    fn c() {}\n}\n";
        let function = |begins| TimedCode { of: "a", source, begins }.function();
        assert_eq!(function("fn a(").unwrap(), "fn a() {\n    if b {\n    }\n}");
        assert_eq!(function("fn d("), None);
        assert_eq!(function("a() {"), None, "not at the beginning of a line");
    }

    #[test]
    fn a_macro_is_told_from_the_one_before_by_its_second_line() {
        let source = "nested!(\n    one,\n    \"a\"\n);\nnested!(\n    two,\n    \"b\"\n);\n";
        let code = TimedCode { of: "a", source, begins: "nested!(\n    two" };
        assert_eq!(code.function().unwrap(), "nested!(\n    two,\n    \"b\"\n);");
    }
}
