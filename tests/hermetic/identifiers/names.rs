//! The names in source code: a lexer that passes over comments, literals and tests.

/// A name in code, with what stands directly around it.
#[derive(Debug, Clone, PartialEq)]
pub struct Name {
    pub text: String,
    pub before: String,
    pub after: String,
    /// Whether its definition begins with `pub`.
    pub is_public: bool,
    /// Whether it begins its line, apart from words before it there.
    pub is_outermost: bool,
}

impl Name {
    /// Whether it is the name of a variable, a parameter or a field where that is bound, declared or read without its owner, or
    /// the name of a function where that is declared. Each has at least one such place.
    pub fn is_value(&self) -> bool {
        let is_owned = self.before == "." || self.before == "::" || self.after == "::" || self.after == "!";
        !is_owned && (self.after != "(" || self.before == "fn")
    }

    /// Whether it is the name of a type where that is defined; the types of a trait's implementations are its own.
    pub fn is_type(&self) -> bool {
        ["struct", "enum", "trait", "union"].contains(&self.before.as_str())
            || (self.before == "type" && self.is_outermost)
    }
}

/// The code before the tests of a file.
pub fn without_tests(code: &str) -> &str {
    code.find("#[cfg(test)]\nmod ").map_or(code, |end| &code[..end])
}

/// The names of code and keywords, in order.
pub fn names(code: &str) -> Vec<Name> {
    let tokens = tokens(without_tests(code));
    let text = |at: Option<usize>| at.and_then(|at| tokens.get(at)).map_or("", |(text, _)| text.as_str());
    let is_word = |token: &str| token.starts_with(|letter: char| letter.is_alphabetic() || letter == '_');
    (0..tokens.len())
        .filter(|at| is_word(text(Some(*at))))
        .map(|at| Name {
            text: text(Some(at)).to_owned(),
            before: text(at.checked_sub(1)).to_owned(),
            after: text(Some(at + 1)).to_owned(),
            is_public: ["pub", ")"].contains(&text(at.checked_sub(2))),
            is_outermost: tokens[at].1,
        })
        .collect()
}

/// Words, `::`, `..` and single signs, each with whether its line is not indented; formats in literals are part of the code, as
/// `{name}` is a name.
fn tokens(code: &str) -> Vec<(String, bool)> {
    let (mut rest, mut is_outermost, mut tokens) = (code, true, vec![]);
    while let Some(first) = rest.chars().next() {
        let length = length(rest, first);
        let token = &rest[..length];
        if first == '\n' {
            is_outermost = !rest[1..].starts_with(' ');
        } else if first == '"' {
            tokens.push(("\"".to_owned(), is_outermost));
        } else if !first.is_whitespace() && !token.starts_with("//") && first != '\'' {
            tokens.push((token.to_owned(), is_outermost));
        }
        rest = &rest[length..];
    }
    tokens
}

/// The length of the token at the start of code that begins with this character, bytes.
fn length(code: &str, first: char) -> usize {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    let literal = |code: &str| {
        let mut letters = code[1..].char_indices();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '\\' => drop(letters.next()),
                '"' => return at + 2,
                _ => {}
            }
        }
        code.len()
    };
    match first {
        '/' if code.starts_with("//") => code.find('\n').unwrap_or(code.len()),
        '"' => literal(code),
        'r' if code.starts_with("r\"") || code.starts_with("r#\"") => {
            let end = if code.starts_with("r#") { "\"#" } else { "\"" };
            let from = end.len() + 1;
            code[from..].find(end).map_or(code.len(), |at| from + at + end.len())
        }
        '\'' if code.starts_with("'\\") => code[2..].find('\'').map_or(code.len(), |at| at + 3),
        '\'' => {
            let (letter, rest) = code[1..].split_at(code[1..].chars().next().map_or(0, char::len_utf8));
            // A character, or the name of a lifetime.
            let lifetime = code[1..].find(|letter| !is_letter(letter)).unwrap_or(code.len() - 1);
            if rest.starts_with('\'') { letter.len() + 2 } else { 1 + lifetime }
        }
        _ if is_letter(first) => code.find(|letter| !is_letter(letter)).unwrap_or(code.len()),
        ':' if code.starts_with("::") => 2,
        '.' if code.starts_with("..") => 2,
        _ => first.len_utf8(),
    }
}
