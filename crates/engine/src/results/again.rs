//! The predictions of a stored run, made again by the predictors of this program.
//!
//! A run file keeps the predictions that were made before its measurements. These are made afterwards, from the machine's description and
//! the figures of the finished run, to judge today's predictors by machines that were measured earlier. No predictor uses the point that
//! it predicts, nor a later experiment (`tests/hermetic/predictions`), so a result is still not part of its own prediction.

use super::{UnlikeCpu, everything, point};
use crate::record::Run;
use crate::results::known_states::RunStates;
use crate::results::virtual_peer;

/// The run with the predictions of this program in place of its own. Points of other versions of a method keep theirs, and bounds stay.
#[must_use]
pub fn predicted_again(mut run: Run) -> Run {
    let states = RunStates::of(&run);
    let unlike = UnlikeCpu::all(&run, states.core.as_ref());
    let results = point::results(&run, states.known(), &unlike);
    let mut known = everything(&run, &results, states.frequency);
    known.virtual_peer = virtual_peer::has_one(&run);
    let mut lines = run.predictions.clone();
    for line in &mut lines {
        let of_line =
            |result: &&super::PointResult| result.experiment == line.experiment && result.point == line.point;
        let Some(Ok(method)) = results.iter().find(of_line).map(super::PointResult::method) else { continue };
        (line.prediction, line.unpredicted) = match method.predict(&line.point, &known) {
            Ok(prediction) => (Some(prediction), None),
            Err(reason) => (None, Some(reason)),
        };
    }
    drop(known);
    run.predictions = lines;
    run
}
