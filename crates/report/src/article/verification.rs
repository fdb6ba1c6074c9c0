//! The verification of the instrument itself.

use crate::paper::{Block, Key, Section, Text};
use crate::verification;
use fathom_engine::results::Results;

/// The section, with the table of known truths if there is one.
pub(super) fn of(found: &Results) -> Section {
    let section = Section::new(Key::of("verification"), "Verification of the instrument").lettered();
    match &found.run.header.verification {
        Some(of_build) => section
            .say(format!(
                "This build was verified on this machine at {}, before the run: {} {}",
                of_build.at,
                verification::sentence(of_build),
                verification::judged()
            ))
            .with(Block::Folded {
                summary: "Every truth".into(),
                long: true,
                open: false,
                blocks: vec![verification::table(of_build).into()],
            }),
        None => section.say(Text::prose(
            "This build was not verified on this machine before the run. `fathom verify` does so: it sets known \
             truths and measures them.",
        )),
    }
}
