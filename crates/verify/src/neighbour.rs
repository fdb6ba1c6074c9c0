//! A neighbour: another thread that always competes for the same CPU, and so takes half of its time. The instrument must
//! detect it, and the value must not change.

use super::prelude::*;
use super::spin;
use super::truth::share_of_trials;
use fathom_core::sampling::affinity;

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
    _thread: RigThread<()>,
}

impl Spinner {
    pub fn on(cpu: usize) -> Self {
        Spinner::repeating(cpu, std::hint::spin_loop)
    }

    /// A thread that repeats this on one CPU until it is dropped.
    pub fn repeating(cpu: usize, once: fn()) -> Self {
        let spin = move |is_over: &dyn Fn() -> bool| {
            if affinity::pin(cpu).is_ok() {
                while !is_over() {
                    once();
                }
            }
        };
        Spinner { _thread: RigThread::start(spin) }
    }
}

fn arrange(options: &mut Options) -> Result<Arranged, String> {
    options.trial = Some(TRIAL);
    let (_, home) = fixed_cpu(options)?;
    Ok(Arranged::holding(Spinner::on(home)))
}

fn judge(rig: &Rig, results: &Results, _: Option<f64>) -> Vec<Truth> {
    let point = spin::single();
    let preempted = Claim::share(rig, "trials that report preemption", 1.0);
    vec![
        spin::unchanged(rig, results),
        preempted.judged(share_of_trials(results, &point, |sample| {
            sample.on_cpu.map(|on_cpu| on_cpu.involuntary_switches > 0)
        })),
    ]
}
