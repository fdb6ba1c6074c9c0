//! A measuring process of a run, inside the process: visits are requested one by one, and each is answered before the next.

use anyhow::{Context, Result};
use fathom_core::experiment::registry;
use fathom_core::sampling::{Block, Request};
use std::io::Write;

/// Answers visits to points of the requested experiment, one line each, until the input ends.
pub fn answer_visits(
    request: &Request,
    visits: impl Iterator<Item = std::io::Result<String>>,
    mut answers: impl Write,
) -> Result<()> {
    let experiment = registry::find(&request.experiment)
        .with_context(|| format!("there is no experiment {}", request.experiment))?;
    let block = Block::new(experiment, &request.setting);
    for visit in visits {
        let visited = block.visit(&serde_json::from_str(&visit?)?);
        answers.write_all((serde_json::to_string(&visited)? + "\n").as_bytes())?;
        answers.flush()?;
    }
    Ok(())
}
