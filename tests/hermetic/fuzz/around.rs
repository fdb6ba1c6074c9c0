//! Reports of `fathom around`, read from JSON and shown again.

use super::fuzz;
use super::input::Input;
use crate::around::written;
use fathom::message::is_unsafe;
use fathom::report::{AroundReport, Form, Style, render};

#[test]
fn reports_of_a_measurement_around_a_command() {
    let proper = written();
    fuzz("around", move |input: &mut Input| {
        let text = String::from_utf8_lossy(&input.spoil(proper.clone().into_bytes())).into_owned();
        let Ok(report) = AroundReport::parse(&text) else { return Ok(()) };
        for form in [Form::Text, Form::Markdown, Form::Html, Form::Csv, Form::Json] {
            let shown = render(&report, form, Style::default());
            if shown.chars().any(|letter| is_unsafe(letter) && letter != '\n') {
                return Err(format!("{form:?} controls a terminal: {shown:?}"));
            }
        }
        Ok(())
    });
}
