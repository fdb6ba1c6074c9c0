//! Excerpts of the timed code: whole functions from the sources, as they were compiled (R-REP-05).

/// A function of the timed code, for an experiment where it says more than the method.
#[derive(Debug, Clone, Copy)]
pub struct TimedCode {
    /// The variant of the operation that it is.
    pub of: &'static str,
    /// The text of the source file.
    pub source: &'static str,
    /// The beginning of the function's first line, without indentation.
    pub begins: &'static str,
}

impl TimedCode {
    /// The text from the line with this beginning to the closing brace, without the common indentation; `None` if there is none.
    pub fn function(&self) -> Option<String> {
        let mut lines = self.source.lines().skip_while(|line| !line.trim_start().starts_with(self.begins));
        let first = lines.next()?;
        let indent = first.len() - first.trim_start().len();
        let cut = |line: &str| line.get(indent..).unwrap_or_default().to_owned();
        let mut text = vec![cut(first)];
        for line in lines {
            text.push(cut(line));
            if text.last().is_some_and(|line| line == "}") {
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
    }
}
