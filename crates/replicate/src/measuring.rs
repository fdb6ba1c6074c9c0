//! Running a replication: method by method, each in a fresh process, and recorded before the next begins.

use super::record::{Header, Line, MethodLine, Replication, ReplicationEnd, SCHEMA_VERSION};
use super::{Method, Report, Series, Stage, find, tasks};
use anyhow::{Context, Result};
use fathom_core::experiment::{Effort, Requirement, Site};
use fathom_core::machine::Machine;
use fathom_core::sampling::child::{Launch, Process};
use fathom_core::sampling::{self, Setting};
use fathom_engine::plan::trial_seed;
use fathom_engine::record::{Journal, TrialOutcome};
use fathom_engine::run::{Environment, Watcher, now, tool};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Instant;

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
    pub setting: Setting,
}

/// Measures a report's methods with the settings of a run, and writes a new file. If the user interrupts it, what was found until
/// then is valid.
pub fn measure(
    report: &Report,
    (effort, only): (Effort, Vec<String>),
    environment: &Environment,
    (path, run): (&Path, &Path),
    watcher: &mut dyn Watcher,
) -> Result<Replication> {
    let mut journal = Journal::create(path)?;
    let run = run.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let header = Header {
        schema: SCHEMA_VERSION,
        tool: tool()?,
        report: report.id.to_owned(),
        started: now(),
        quick: effort == Effort::Quick,
        thorough: effort == Effort::Thorough,
        only,
        run,
    };
    journal.append(&Line::Replication(header.clone()))?;
    let mut replication = Replication { header, methods: vec![] };
    let (began, mut methods) = (Instant::now(), report.methods());
    methods.retain(|method| replication.has_asked_for(method.name));
    for (index, method) in methods.iter().enumerate() {
        watcher.preparing(&format!("method {} of {}: {}", index + 1, methods.len(), method.name));
        let Some(line) = measured(report, method, effort, environment, watcher)? else {
            return Ok(replication);
        };
        journal.append(&Line::Method(line.clone()))?;
        replication.methods.push(line);
    }
    journal.append(&Line::Closing(ReplicationEnd { took_s: began.elapsed().as_secs_f64() }))?;
    journal.sync()?;
    Ok(replication)
}

/// One method; `None` if the user interrupted it.
fn measured(
    report: &Report,
    method: &Method,
    effort: Effort,
    environment: &Environment,
    watcher: &mut dyn Watcher,
) -> Result<Option<MethodLine>> {
    let began = Instant::now();
    let outcome = if let Some(reason) = unmet(report, method, environment.machine(), environment.has_peer()) {
        TrialOutcome::Skipped { reason }
    } else {
        let request = request(report, method, effort, environment);
        let visit = visit(method, &request, &mut |doing| watcher.preparing(doing));
        match visit.context("a measuring process could not be started")? {
            Some(outcome) => outcome,
            None => return Ok(None),
        }
    };
    let took_s = began.elapsed().as_secs_f64();
    Ok(Some(MethodLine { method: method.name.to_owned(), took_s, outcome }))
}

/// What a method or its report's timer needs and the machine or the command line does not offer.
fn unmet(report: &Report, method: &Method, machine: &Machine, has_peer: bool) -> Option<String> {
    let needs = report.timer_needs.iter().chain(method.needs);
    let mut missing = needs.filter(|need| !(has_peer && **need == Requirement::Peer));
    missing.find_map(|need| need.unmet_reason(machine))
}

fn request(report: &Report, method: &Method, effort: Effort, environment: &Environment) -> MethodRequest {
    let name = format!("{}/{}", report.id, method.name);
    let seed = trial_seed(environment.seed(), &name, &fathom_core::experiment::Point::new(), 1);
    let cpus = environment.cpus().at(method.placement);
    MethodRequest {
        report: report.id.to_owned(),
        method: method.name.to_owned(),
        quick: effort == Effort::Quick,
        thorough: effort == Effort::Thorough,
        setting: environment.setting(seed, method.placement, cpus, method.needs, environment.first_pace()),
    }
}

/// Measures a method in a fresh process. The listener hears what takes long before the measurement. `None` if the user
/// interrupted it.
fn visit(
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

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::machine::{Host, Root};

    struct OneCpu;
    impl Host for OneCpu {
        fn affinity(&self) -> Result<Vec<usize>, String> {
            Ok(vec![0])
        }
    }

    /// A machine with a processor that has these instructions.
    fn with(flags: &str) -> Machine {
        let tree = tempfile::tempdir().unwrap();
        std::fs::create_dir(tree.path().join("proc")).unwrap();
        let processor = format!("processor\t: 0\nflags\t\t: {flags}\n\n");
        std::fs::write(tree.path().join("proc/cpuinfo"), processor).unwrap();
        Machine::from_root(&Root::new(tree.path()), &OneCpu, "/".as_ref())
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_processor_without_rdtscp_is_not_asked_for_it_and_the_report_without_it_is_replicated() {
        let (old, usual) = (with("fpu tsc"), with("fpu tsc rdtscp"));
        let skipped = |report: &str, machine: &Machine| {
            let report = find(report).unwrap();
            let methods = report.methods();
            let reasons = methods.iter().filter_map(|method| unmet(report, method, machine, true));
            let about_it = reasons.filter(|reason| reason.contains("rdtscp")).count();
            (about_it, methods.len())
        };
        for report in ["000", "001", "003"] {
            let (about_it, methods) = skipped(report, &old);
            assert!(methods > 0 && about_it == methods, "{report}");
            assert_eq!(skipped(report, &usual).0, 0, "{report}");
        }
        assert_eq!(skipped("002", &old).0, 0, "its timer reads by RDTSC alone");
    }
}
