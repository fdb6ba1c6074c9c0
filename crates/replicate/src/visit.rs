//! Measuring one method in a fresh process.

use super::{Method, Report, Series, Stage, find, tasks};
use fathom_core::experiment::Site;
use fathom_core::sampling::child::{Launch, Process};
use fathom_core::sampling::{self, Setting, TrialOutcome};
use serde::{Deserialize, Serialize};

/// The request to the process that measures a method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MethodRequest {
    pub report: String,
    pub method: String,
    /// Whether counts are reduced (`--quick`).
    pub quick: bool,
    /// Whether every setting of the report is measured (`--thorough`).
    #[serde(default)]
    pub thorough: bool,
    /// Where it happens.
    pub setting: Setting,
}

/// Measures a method in a fresh process. The listener hears what takes long before the measurement. `None` if the user
/// interrupted it.
pub fn visit(
    method: &Method,
    request: &MethodRequest,
    listener: &mut dyn FnMut(&str),
) -> std::io::Result<Option<TrialOutcome<Series>>> {
    let end = Process::start("replica", request.setting.seed, request.setting.limit(), &Launch::default())?
        .ask(request, method.limit(request.thorough), listener)?;
    let answer = TrialOutcome::answer::<TrialOutcome<Series>>(end, method.limit(request.thorough));
    Ok(answer.map(|answer| answer.unwrap_or_else(|unanswered| unanswered)))
}

/// Measures the requested method in this process.
pub fn answer(request: &MethodRequest) -> TrialOutcome<Series> {
    let methods = find(&request.report).map(Report::methods).unwrap_or_default();
    let Some(method) = methods.into_iter().find(|method| method.name == request.method) else {
        let reason = format!("report {} has no method {}", request.report, request.method);
        return TrialOutcome::Failed { reason };
    };
    let measure = |site: &Site, _: &_| {
        let refused = if method.raised_priority { tasks::raise_priority() } else { None };
        let series = (method.measure)(&Stage { site, quick: request.quick, thorough: request.thorough })?;
        Ok(series.with_notes(refused))
    };
    sampling::at_site(&request.setting, measure).into()
}
