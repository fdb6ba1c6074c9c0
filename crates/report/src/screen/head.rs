//! The head of a screen: the machine in a line, how far to trust the run, and whether it is whole.

use super::trust;
use crate::run;
use crate::text::{Style, clean, clipped, clipped_to, cut, lines};
use crate::verdict;
use crate::words::plural;
use crate::{cpu_positions, occupancy};
use fathom_core::quantities;
use fathom_core::quantity::Unit;
use fathom_engine::record::Ending;
use fathom_engine::results::Results;

/// The most lines on what was measured: nothing of a run file is in them but numbers.
const MOST_OF_COMPLETE: usize = 3;

/// The machine, how far to trust the run, and whether it is whole.
pub(super) fn text(results: &Results, style: Style) -> String {
    let header = &results.run.header;
    let peer = run::peer(header).map(|peer| clipped("", &peer, style)).unwrap_or_default();
    let labels = run::labels(header).map(|labels| clipped_to(1, "", &labels, style)).unwrap_or_default();
    let ending: String = early_end(results).iter().map(|sentence| clipped("", sentence, style)).collect();
    let unlike = occupancy::unlike_cpus(results).into_iter().chain(cpu_positions::moved(results));
    let unlike: String = unlike.map(|sentence| clipped("", &sentence, style)).collect();
    style.title(&machine(results, style))
        + "\n"
        + &labels
        + &peer
        + &ending
        + &style.wrapped("", &verdict::sentence(results))
        + &clipped_to(MOST_OF_COMPLETE, "", &trust::complete(results), style)
        + &unlike
}

/// The machine and its run in a line: the parts that fit, the first before the others.
fn machine(results: &Results, style: Style) -> String {
    let parts = parts(results).into_iter().map(|part| clean(&part));
    let joined = |line: String, part: String| {
        let longer = format!("{line} · {part}");
        if lines(&longer, style.width).len() > 1 { line } else { longer }
    };
    let line = parts.reduce(joined).unwrap_or_default();
    cut(&line, style.width)
}

/// The machine and its run in parts for a line, the most important first.
fn parts(results: &Results) -> Vec<String> {
    let header = &results.run.header;
    let described = &header.machine;
    let processor = described.processor.model_name.value().cloned();
    let processor = processor.unwrap_or_else(|| "a machine of unknown processor".to_owned());
    let processor = match described.design().filter(|design| !processor.contains(design)) {
        Some(design) => format!("{processor} ({design})"),
        None => processor,
    };
    let cpus = Some(described.allowed_cpus().len()).filter(|cpus| *cpus > 0);
    let hypervisor = described.virtualization.hypervisor.value().cloned().flatten();
    let nested = if described.nested().is_some() { " in a guest" } else { "" };
    let bytes = |bytes: u64| quantities::value(Unit::Bytes, bytes as f64);
    let memory = described.memory.total_bytes.value().map(|total| {
        let limit = described.conditions.limits.memory_bytes.value().copied().flatten();
        match limit.filter(|limit| limit < total) {
            Some(limit) => format!("{} of {}", bytes(limit), bytes(*total)),
            None => bytes(*total),
        }
    });
    let quota = described.cpu_quota().map(|quota| format!(" (a quota of {})", quantities::number(quota)));
    let quota = quota.unwrap_or_default();
    let closing = results.run.closing.as_ref();
    [
        Some(processor),
        cpus.map(|cpus| plural(cpus, "CPU") + &quota),
        hypervisor.map(|name| format!("{name}{nested}")),
        memory,
        described.kernel.release.value().map(|release| format!("Linux {release}")),
        header.started.split('T').next().map(str::to_owned),
        closing.map(|closing| quantities::duration(closing.took_s)),
        described.storage.device.value().map(|device| device.kind.clone()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// That the run ended before it should have, in a sentence; `None` if it did not.
fn early_end(results: &Results) -> Vec<String> {
    let is_early = match &results.run.closing {
        Some(closing) => closing.ended == Ending::Interrupted || closing.peer_lost.is_some(),
        None => true,
    };
    // Each is cut by itself: the loss of a peer is not what is left out.
    let ended = is_early.then(|| run::how_it_ended(results));
    ended.into_iter().chain(run::peer_lost(results)).collect()
}
