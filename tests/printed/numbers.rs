//! Rules over single numbers: how long they are, which sign and unit they have.

use super::Findings;

/// The most digits of a number.
const MOST_DIGITS: usize = 6;

/// Names that are numbers: they identify and measure nothing. The kernel's own text is quoted as it is.
const NAMES: &[&str] = &["seed", "Seed", "cpu MHz"];

/// A number of a text, with what stands before and after it.
pub struct Number<'text> {
    pub text: &'text str,
    pub value: f64,
    before: &'text str,
    pub after: &'text str,
}

pub fn is_space(letter: char) -> bool {
    matches!(letter, ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}')
}

/// Whether a space at this place separates groups of three digits.
fn groups(rest: &str) -> bool {
    let mut letters = rest.chars();
    letters.next().is_some_and(|space| space == '\u{202f}' || space == ' ')
        && letters.by_ref().take(3).filter(char::is_ascii_digit).count() == 3
        && !letters.next().is_some_and(|letter| letter.is_ascii_digit())
}

/// The numbers of a text; digits within words, versions, dates and paths are none.
pub fn all(text: &str) -> Vec<Number<'_>> {
    let mut found = vec![];
    let mut at = 0;
    while let Some(start) = text[at..].find(|letter: char| letter.is_ascii_digit()).map(|start| at + start) {
        let end = end(text, start);
        let (before, after) = (&text[..start], &text[end..]);
        let number: String = text[start..end].chars().filter(|letter| !is_space(*letter)).collect();
        let joined = |letter: char| letter.is_alphanumeric() || ".:/#_-@".contains(letter);
        let free = !before.ends_with(joined) && !is_joined_after(after);
        if let (true, Ok(value)) = (free, number.parse()) {
            found.push(Number { text: &text[start..end], value, before, after });
        }
        at = end;
    }
    found
}

fn is_joined_after(after: &str) -> bool {
    let mut letters = after.chars();
    match letters.next() {
        Some('.' | ':' | '-' | '/') => letters.next().is_some_and(char::is_alphanumeric),
        Some(letter) => letter.is_alphanumeric() || letter == '_',
        None => false,
    }
}

/// The end of the number that begins here.
fn end(text: &str, start: usize) -> usize {
    let mut end = start;
    let mut fraction = false;
    while let Some(letter) = text[end..].chars().next() {
        let next = &text[end + letter.len_utf8()..];
        let digit_follows = next.starts_with(|letter: char| letter.is_ascii_digit());
        match letter {
            '0'..='9' => end += 1,
            '.' if !fraction && digit_follows => {
                fraction = true;
                end += 1;
            }
            _ if !fraction && groups(&text[end..]) => end += letter.len_utf8(),
            _ => break,
        }
    }
    end
}

impl Number<'_> {
    /// Whether it stands directly behind these words and another number.
    pub fn follows(&self, words: &str) -> bool {
        self.before
            .strip_suffix(words)
            .is_some_and(|earlier| earlier.ends_with(|letter: char| letter.is_ascii_digit()))
    }

    /// Its digits without zeros at either end.
    pub fn digits(&self) -> usize {
        let digits: String = self.text.chars().filter(char::is_ascii_digit).collect();
        digits.trim_matches('0').len()
    }

    /// Half of its last digit.
    pub fn half_a_digit(&self) -> f64 {
        let places = self.text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        // Three digits are printed, whether they are zeros or not; those after them stand for the size.
        let whole: String = self.text.chars().filter(char::is_ascii_digit).collect();
        let zeros = (whole.len() - whole.trim_end_matches('0').len()).min(whole.len().saturating_sub(3));
        let zeros = if places > 0 { 0 } else { zeros };
        0.5 * 10_f64.powi(zeros as i32 - places as i32) * (1.0 + 1e-9)
    }

    /// The word after it.
    pub fn unit(&self) -> &str {
        let rest = self.after.strip_prefix(is_space).unwrap_or_default();
        rest.split(|letter: char| !(letter.is_alphanumeric() || "%/".contains(letter)))
            .next()
            .unwrap_or_default()
    }

    pub fn is_negative(&self) -> bool {
        self.before.ends_with('−')
    }

    fn line(&self) -> String {
        let before: String =
            self.before.chars().rev().take_while(|letter| *letter != '\n').take(60).collect();
        let after: String = self.after.chars().take_while(|letter| *letter != '\n').take(40).collect();
        before.chars().rev().collect::<String>() + self.text + &after
    }

    /// Whether it is a change by each of something, which may be a fall.
    fn is_slope(&self) -> bool {
        let after = self.after.lines().next().unwrap_or_default();
        after.contains(" per ") || self.before.trim_end_matches('−').ends_with("slope by medians ")
    }

    /// Whether it is alone on its line, as the marks of an axis are: an interval that reaches below zero has an axis that does.
    fn is_tick(&self) -> bool {
        self.before.trim_end_matches('−').ends_with('\n')
            && self.after.trim_start().starts_with(self.unit())
            && self.after.lines().next().is_some_and(|line| line.trim() == self.unit())
    }

    /// Whether it is an end of an interval, which may be below zero where the value is near it.
    fn is_end(&self) -> bool {
        self.after.starts_with(" to ") || self.before.trim_end_matches('−').ends_with(" to ")
    }
}

/// The rules over every number of a text.
pub fn look(form: &str, text: &str, findings: &mut Findings) {
    for number in all(text) {
        findings.numbers += 1;
        let named =
            NAMES.iter().any(|name| number.before.trim_end_matches([' ', '|', '\n', ':']).ends_with(name));
        if number.digits() > MOST_DIGITS && !named {
            findings.add(form, "more than six digits", &number.line());
        }
        if is_too_small(&number) {
            findings.add(form, "a number that its unit is too large for", &number.line());
        }
        if number.is_negative() && number.unit().ends_with("B/s") && !number.is_slope() {
            findings.add(form, "a rate below zero", &number.line());
        }
        if number.is_negative()
            && ["ns", "µs", "ms", "s"].contains(&number.unit())
            && !number.is_end()
            && !number.is_slope()
            && !number.is_tick()
        {
            findings.add(form, "a time below zero", &number.line());
        }
    }
    for line in text.lines() {
        phrases(form, line, findings);
        if line.split(|letter: char| !letter.is_alphanumeric()).any(|word| word == "ppm") {
            findings.add(form, "a share in ppm", line);
        }
        if let Some(claim) = line.find("(between 0 and 1)").filter(|_| line.contains("share of")) {
            findings.add(form, "a share between 0 and 1 is no claim", &line[..claim]);
        }
    }
}

/// Sizes have a smaller unit below a tenth of one: 64 KiB, not 0.0625 MiB.
const LEAST_SIZE: f64 = 0.1;

/// Words that were once printed and are not so, or not English.
const UNTRUE: &[(&str, &str)] = &[
    ("with zero, or nearly, in its interval", "an interval that is only wide is said to hold zero"),
    ("it takes", "a time that takes a time to pass"),
    ("used the core in ", "used in a share of the time"),
    ("Stop other work and repeat it", "a remedy that does not say whose work"),
    ("the core's frequency (it varied", "a variation without the trials in which it was seen"),
    ("✓ operation checked for ", "a sign that holds beside points that fail"),
    ("All of 1 ", "a plural of one"),
    ("All 1 ", "a plural of one"),
    (" 1 times ", "a plural of one"),
    ("None of 1 ", "a plural of one"),
    ("1 of ", "a plural of one"),
    (".…", "a mark that something is left out after the end of a sentence"),
    (". …", "a mark that something is left out after the end of a sentence"),
    ("0.00000", "a number of which only zeros are read"),
    (" because it keeps ", "an identity as a cause"),
    ("not idle", "a cause without its remedy"),
    ("chases at once", "more loads in flight than there are chases"),
    ("reaches beyond the sweep", "an end of a level that another sentence finds"),
    ("work on the CPU (0 % of", "a share that was not seen, as one of zero"),
    ("used the core 0 % of the time", "a share that was not seen, as one of zero"),
    ("to be one input's error", "a measured value excluded by its distance from a published one"),
    ("and its children ran for", "processor time of several as the time in which one ran"),
    ("at the bandwidth of L3:", "a term of the prediction by the name of what was measured in its place"),
    (" MB/s", "rates in two units"),
    ("at target precision", "a progress that reads as a failure"),
    ("that is read in order maps", "a mean over faults by the name of what one maps"),
    ("steal in ", "a counter's name for what happened"),
];

/// Whether what makes a phrase wrong is in its line as well.
fn is_untrue(phrase: &str, line: &str) -> bool {
    match phrase {
        "it takes" => line.trim_end_matches('.').ends_with(" pass"),
        "✓ operation checked for " => line
            .split(phrase)
            .nth(1)
            .is_some_and(|rest| rest.split(['.', ':']).next().is_some_and(|of| of.contains(" of "))),
        "1 of " => line.strip_prefix(phrase).is_some_and(words_have),
        // Not the first of a group of thousands.
        "All 1 " => line.split(phrase).skip(1).any(|rest| rest.starts_with(char::is_alphabetic)),
        "not idle" => line.contains("Trust: ") && !line.contains("Stop other work") && !line.contains('…'),
        "chases at once" => more_than_all(line),
        "at the bandwidth of L3:" => !line.contains("in the prediction ("),
        " MB/s" => line.ends_with('.') && mixes_rates(line),
        _ => true,
    }
}

/// Whether rates of a sentence that one unit can write are in two.
fn mixes_rates(line: &str) -> bool {
    let all = all(line);
    let of = |unit: &str| {
        all.iter().filter(|number| number.unit() == unit).map(|number| number.value).collect::<Vec<_>>()
    };
    let (small, large) = (of("MB/s"), of("GB/s"));
    !small.is_empty() && !large.is_empty() && small.iter().all(|small| *small >= 100.0)
}

/// Whether points are said to *have* a value.
fn words_have(rest: &str) -> bool {
    rest.split(" have a value")
        .next()
        .is_some_and(|before| before.len() < rest.len() && before.split_whitespace().count() == 2)
}

/// Whether more loads are said to be in flight than chases go on, as in `with 16 chases at once …: 16.7 loads are in flight`.
fn more_than_all(line: &str) -> bool {
    let all = all(line);
    let before =
        |words: &str| all.iter().find(|number| number.after.starts_with(words)).map(|number| number.value);
    let in_flight = line.split(" loads are in flight").next().filter(|before| before.len() < line.len());
    let in_flight = in_flight.and_then(|text| Some(self::all(text.rsplit(": ").next()?).first()?.value));
    before(" chases at once").zip(in_flight).is_some_and(|(chases, loads)| loads > chases)
}

/// Markup of Markdown that marks nothing: a space beside the asterisks within strong words.
fn broken_markup(line: &str) -> bool {
    let parts: Vec<&str> = line.split("**").collect();
    let within = || parts.iter().skip(1).step_by(2).take(parts.len() / 2);
    within().any(|words| words.trim() != *words || words.is_empty())
}

/// A work that is named in parentheses with its year, and has no number after it: `(Wilson 1927)`.
fn uncited(line: &str) -> bool {
    let named = |part: &str| {
        let words: Vec<&str> = part.split(' ').collect();
        let is_year = |word: &str| word.len() == 4 && word.bytes().all(|digit| digit.is_ascii_digit());
        let is_name =
            |word: &str| word.starts_with(char::is_uppercase) && word.chars().all(char::is_alphabetic);
        words.len() == 2 && is_name(words[0]) && is_year(words[1])
    };
    line.split('(').skip(1).filter_map(|rest| rest.split(')').next()).any(named)
}

/// The rules over the lines of Markdown.
pub fn look_at_markup(form: &str, text: &str, findings: &mut Findings) {
    for line in text.lines().filter(|line| !line.starts_with("    ")) {
        if broken_markup(line) {
            findings.add(form, "strong words that begin or end with a space", line);
        }
        if uncited(line) {
            findings.add(form, "a work that the references lack", line);
        }
    }
    if text.contains("A mixture is of ") && text.matches("mixture").count() < 2 {
        findings.add(form, "a legend of what is not there", "mixture");
    }
}

fn phrases(form: &str, line: &str, findings: &mut Findings) {
    for (phrase, rule) in UNTRUE.iter().filter(|(phrase, _)| line.contains(phrase)) {
        if is_untrue(phrase, line) {
            findings.add(form, rule, line);
        }
    }
}

/// Whether a number is so small in its unit that the next smaller one would be shorter: `0.000318 µs`.
fn is_too_small(number: &Number) -> bool {
    if ["KiB", "MiB", "GiB"].contains(&number.unit()) {
        return number.value > 0.0 && number.value < LEAST_SIZE;
    }
    ["µs", "ms", "s", "kB/s", "MB/s", "GB/s"].contains(&number.unit())
        && number.value > 0.0
        && number.value < 0.000_95
}
