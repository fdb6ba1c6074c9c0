//! The kernel's counters of its work with memory (`/proc/vmstat`).

/// The sum of the counters of these names since the kernel started; `None` where one is absent.
pub fn sum(names: &[&str]) -> Option<f64> {
    let text = std::fs::read_to_string("/proc/vmstat").ok()?;
    let count = |name: &&str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        line.trim().parse::<f64>().ok()
    };
    names.iter().map(count).sum()
}
