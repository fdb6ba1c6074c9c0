//! Measuring one method in a fresh process.

use super::record::Outcome;
use super::{Method, Report, Series, Stage, find};
use crate::experiment::Failure;
use crate::sampling::child::{self, End};
use crate::sampling::{self, Setting};
use serde::{Deserialize, Serialize};

/// What the process of a method needs to know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The report's number.
    pub report: String,
    /// The method's name.
    pub method: String,
    /// Whether counts are reduced.
    pub quick: bool,
    /// Where it happens.
    pub setting: Setting,
}

/// What it answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The trial values.
    Measured(Series),
    /// It cannot be done here.
    Unsupported(String),
    /// It broke.
    Broke(String),
}

/// How a visit ended.
pub enum Visit {
    /// With an outcome.
    Ended(Outcome),
    /// Somebody stopped it.
    Interrupted,
}

/// Measures a method in a fresh process; the listener is told what takes it long before it measures.
pub fn visit(method: &Method, request: &Request, listener: &mut dyn FnMut(&str)) -> std::io::Result<Visit> {
    let end = child::run("replica", request, request.setting.seed, method.limit, listener)?;
    Ok(Visit::Ended(match end {
        End::Answered(Answer::Measured(series)) => Outcome::Measured { series },
        End::Answered(Answer::Unsupported(reason)) => Outcome::Skipped { reason },
        End::Answered(Answer::Broke(reason)) | End::Died(reason) => Outcome::Failed { reason },
        End::TimedOut => Outcome::TimedOut { after_s: method.limit.as_secs_f64() },
        End::Interrupted => return Ok(Visit::Interrupted),
    }))
}

/// Measures the method that is asked for, in this process.
pub fn answer(request: &Request) -> Answer {
    let methods = find(&request.report).map(Report::methods).unwrap_or_default();
    let Some(method) = methods.into_iter().find(|method| method.name == request.method) else {
        return Answer::Broke(format!("report {} has no method {}", request.report, request.method));
    };
    let measured = sampling::at_site(&request.setting, |site, _| {
        (method.measure)(&Stage { site, quick: request.quick })
    });
    match measured {
        Ok(series) => Answer::Measured(series),
        Err(Failure::Unsupported(reason)) => Answer::Unsupported(reason),
        Err(Failure::Broke(reason)) => Answer::Broke(reason),
    }
}
