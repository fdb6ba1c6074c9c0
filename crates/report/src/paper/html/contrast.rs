//! A test that everything on the page has enough contrast with its background, computed from the page's own style sheet.
//!
//! Contrast ratio and relative luminance as in WCAG 2.2; success criterion 1.4.3 requires 4.5 for text, 1.4.11 requires 3
//! for everything needed to understand a drawing and to see a control. The lines between rows and of a drawing's grid carry
//! no information.

use super::STYLE;
use std::collections::{BTreeMap, BTreeSet};

const OF_TEXT: f64 = 4.5;
const OF_MARKS: f64 = 3.0;

/// The themes with colours, each with the text that precedes them in the style sheet.
const GROUNDS: [(&str, &str); 3] =
    [("light", ""), ("dark", "@media (prefers-color-scheme: dark)"), ("print", "@media print")];

/// The variable for purely decorative lines.
const DECORATION: &str = "--rule";

/// Cells of a matrix show values by their coverage of the background, so pale ones are intended; a table has their numbers.
const SHADES: &str = ".figure .cell";

type Rgb = [f64; 3];

/// Colours by the names of their variables.
fn colours(style: &str, before: &str) -> BTreeMap<String, Rgb> {
    let from = style.find(before).expect("the style sheet has all grounds");
    let block = style[from..].split_once(":root {").expect("its colours").1;
    let block = block.split('}').next().unwrap_or_default();
    let colour = |line: &str| {
        let (name, value) = line.trim().split_once(':')?;
        Some((name.to_owned(), parsed(value.trim().strip_prefix('#')?)))
    };
    block.split(';').filter_map(colour).collect()
}

/// `0b62b5`, or `fff` for `ffffff`; parts from 0 to 1.
fn parsed(hexadecimal: &str) -> Rgb {
    let digit = |place: usize| {
        let digits = match hexadecimal.len() {
            3 => hexadecimal[place..=place].repeat(2),
            _ => hexadecimal[2 * place..2 * place + 2].to_owned(),
        };
        f64::from(u8::from_str_radix(&digits, 16).expect("a colour")) / 255.0
    };
    [digit(0), digit(1), digit(2)]
}

fn luminance(colour: Rgb) -> f64 {
    let linear = |part: f64| if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) };
    0.2126 * linear(colour[0]) + 0.7152 * linear(colour[1]) + 0.0722 * linear(colour[2])
}

fn contrast(one: Rgb, other: Rgb) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// A colour over the background with this coverage.
fn over(ground: Rgb, colour: Rgb, cover: f64) -> Rgb {
    std::array::from_fn(|part| cover * colour[part] + (1.0 - cover) * ground[part])
}

/// Every declaration of a style sheet: selector, property, value.
fn declarations(style: &str) -> Vec<(&str, &str, &str)> {
    let rules = style.split('}').filter_map(|rule| {
        let (selectors, body) = rule.rsplit_once('{')?;
        Some((selectors.rsplit(['{', '/']).next()?.trim(), body))
    });
    rules
        .flat_map(|(selector, body)| {
            let each = body.split(';').filter_map(|line| line.trim().split_once(':'));
            each.map(move |(property, value)| (selector, property.trim(), value.trim()))
        })
        .collect()
}

/// The variables in the values of these properties, except the decorative one.
fn variables<'a>(
    all: &[(&str, &str, &'a str)],
    is_counted: impl Fn(&str, &str) -> bool,
) -> BTreeSet<&'a str> {
    let values = all.iter().filter(|(selector, property, _)| is_counted(selector, property));
    let named =
        values.flat_map(|(.., value)| value.split("var(").skip(1).filter_map(|rest| rest.split(')').next()));
    named.filter(|name| *name != DECORATION).collect()
}

/// The colours with too little contrast, with their contrast.
fn too_faint(style: &str) -> Vec<String> {
    let all = declarations(style);
    let in_figure = |selector: &str| selector.contains(".figure ");
    let letters = variables(&all, |selector, property| {
        property == "color" || (property == "fill" && selector.ends_with("text"))
    });
    let papers = variables(&all, |_, property| property == "background");
    let marks = variables(&all, |selector, property| {
        (matches!(property, "fill" | "stroke") && in_figure(selector))
            || property.starts_with("border")
            || property == "outline"
    });
    let covers: Vec<f64> = all
        .iter()
        .filter(|(selector, property, _)| property.ends_with("-opacity") && *selector != SHADES)
        .map(|(.., value)| value.parse().expect("a share"))
        .chain([1.0])
        .collect();
    let mut faint = vec![];
    for (ground, before) in GROUNDS {
        let colours = colours(style, before);
        let of = |name: &&str| colours.get(*name).copied().unwrap_or_else(|| panic!("{ground}: {name}"));
        for paper in &papers {
            for letter in letters.iter().filter(|letter| *letter != paper) {
                let ratio = contrast(of(letter), of(paper));
                if ratio < OF_TEXT {
                    faint.push(format!("{ground}: text {letter} on {paper}: {ratio:.2}"));
                }
            }
        }
        // A hollow mark is filled with the colour of the paper.
        for mark in marks.iter().filter(|mark| **mark != "--paper") {
            for cover in &covers {
                let paper = of(&"--paper");
                let ratio = contrast(over(paper, of(mark), *cover), paper);
                if ratio < OF_MARKS {
                    faint.push(format!("{ground}: mark {mark} covering {cover}: {ratio:.2}"));
                }
            }
        }
    }
    faint
}

#[test]
fn contrast_is_that_of_the_guidelines_examples() {
    let of = |one: &str, other: &str| contrast(parsed(one), parsed(other));
    assert!((of("000", "ffffff") - 21.0).abs() < 1e-9);
    // The greys of WebAIM's contrast checker: the last that passes as text on white, and the first that does not.
    assert!(of("767676", "fff") >= OF_TEXT && of("777777", "fff") < OF_TEXT);
}

#[test]
fn everything_can_be_told_from_its_ground() {
    assert_eq!(too_faint(STYLE), [] as [String; 0]);
}

#[test]
fn what_is_too_faint_is_found() {
    let paler = |from: &str, to: &str| {
        assert!(STYLE.contains(from), "{from}");
        too_faint(&STYLE.replace(from, to))
    };
    let text = paler("--faint: #5a636e", "--faint: #8a939e");
    assert!(text.iter().any(|sentence| sentence.starts_with("light: text --faint on --paper")), "{text:?}");
    let mark = paler("--s4: #e0c05a", "--s4: #50401a");
    assert!(mark.iter().any(|sentence| sentence.starts_with("dark: mark --s4")), "{mark:?}");
}

#[test]
fn colours_are_named_at_the_head_alone() {
    let hexadecimal =
        |(_, property, value): &&(&str, &str, &str)| value.contains('#') && !property.starts_with("--");
    let all = declarations(STYLE);
    assert_eq!(all.iter().find(hexadecimal), None);
}
