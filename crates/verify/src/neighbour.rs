//! A neighbour: another thread that always competes for the same CPU, and so takes half of its time. The instrument must
//! detect it, and the value must not change.

use super::rig::{Arranged, Rig};
use super::spin;
use super::truth::{Claim, TruthFigure, figure, share_of_trials};
use fathom_core::quantity::Unit;
use fathom_core::sampling::affinity;
use fathom_engine::record::Truth;
use fathom_engine::results::Results;
use fathom_engine::run::{Options, described};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

pub static RIG: Rig = Rig {
    name: "neighbour",
    sets: "another thread that always competes for the same CPU",
    touches: &["CPUs: a thread of this process competes for the measured CPU"],
    budget: Duration::from_secs(6),
    arrange: Some(arrange),
    points: |_| Ok(vec![spin::single()]),
    judge,
};

/// Long against the slices of a scheduler.
const TRIAL: Duration = Duration::from_millis(100);

/// A thread that spins on one CPU until it is dropped.
pub struct Spinner {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Spinner {
    pub fn on(cpu: usize) -> Self {
        Spinner::repeating(cpu, std::hint::spin_loop)
    }

    /// A thread that repeats this on one CPU until it is dropped.
    pub fn repeating(cpu: usize, once: fn()) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&stop);
        let spin = move || {
            if affinity::pin(cpu).is_ok() {
                while !is_over.load(Ordering::Relaxed) {
                    once();
                }
            }
        };
        Spinner { stop, thread: Some(std::thread::spawn(spin)) }
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}

fn arrange(options: &mut Options) -> Result<Arranged, String> {
    let (_, cpus) = described(&options.folder, None, options.cpu).map_err(|error| error.to_string())?;
    options.cpu = Some(cpus.home);
    options.trial = Some(TRIAL);
    Ok(Arranged::holding(Spinner::on(cpus.home)))
}

fn judge(rig: &Rig, results: &Results, _: Option<f64>) -> Vec<Truth> {
    let point = spin::single();
    let value = figure(results, &point).map(TruthFigure::whatever_disturbs);
    let preempted = Claim::of(rig, "trials that report preemption", Some(Unit::PartsPerMillion), 1e6);
    vec![
        spin::of_single(rig, "spins of 100 µs, unchanged").judged(value),
        preempted.judged(share_of_trials(results, &point, |sample| {
            sample.on_cpu.map(|on_cpu| on_cpu.involuntary_switches > 0)
        })),
    ]
}
