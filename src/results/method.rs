//! The methods that a run was measured by: those of this program, or what the run file says of them.

use crate::experiments;
use crate::record::{Method, Run};
use std::borrow::Cow;

/// The method of this version; `None` where neither this program nor the run file describes it.
pub(super) fn method<'run>(run: &'run Run, name: &str, version: u32) -> Option<Cow<'run, Method>> {
    if let Ok(experiment) = experiments::recorded(name, version) {
        return Some(Cow::Owned(Method::of(experiment.about())));
    }
    let recorded =
        run.header.methods.iter().find(|method| method.experiment == name && method.version == version);
    recorded.map(Cow::Borrowed)
}
