//! The methods by which a run was measured: those of this program, or the descriptions in the run file.

use crate::record::{Method, MethodParameter, PlannedPoint, Run};
use fathom_core::experiment::registry;
use std::borrow::Cow;

/// The method of this version; `None` where neither this program nor the run file describes it.
pub(super) fn method<'run>(run: &'run Run, name: &str, version: u32) -> Option<Cow<'run, Method>> {
    if let Ok(experiment) = registry::recorded(name, version) {
        return Some(Cow::Owned(Method::of(experiment.about())));
    }
    recorded(run, name, version).map(Cow::Borrowed)
}

/// The parameters that the method of a point declares.
pub(super) fn parameters(run: &Run, planned: &PlannedPoint) -> Vec<MethodParameter> {
    let recorded = || recorded(run, &planned.experiment, planned.method_version);
    match planned.method() {
        Ok(experiment) => MethodParameter::all(experiment.about()),
        Err(_) => recorded().map(|method| method.parameters.clone()).unwrap_or_default(),
    }
}

fn recorded<'run>(run: &'run Run, name: &str, version: u32) -> Option<&'run Method> {
    run.header.methods.iter().find(|method| method.experiment == name && method.version == version)
}
