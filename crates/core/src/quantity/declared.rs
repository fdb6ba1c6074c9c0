//! Format of declared facts for people: binary prefixes for sizes, decimal ones for rates, and as many digits as were declared.
//! Measured values have intervals and are formatted by `quantities.rs`.

/// A size: `32 KiB`, `1.25 MiB`, `23.54 GiB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{} {}", trimmed(value, 2), UNITS[unit])
}

/// A frequency: `2.6 GHz`, `800 MHz`.
pub fn frequency(hertz: f64) -> String {
    prefixed(hertz, 3, "Hz")
}

/// A memory bandwidth: `68.27 GB/s`.
pub fn bytes_rate(per_second: f64) -> String {
    prefixed(per_second, 2, "B/s")
}

/// A network rate: `10 Gb/s`.
pub fn bits_rate(per_second: u64) -> String {
    prefixed(per_second as f64, 2, "b/s")
}

/// A share: `12.5 %`.
pub fn percent(share: f64) -> String {
    format!("{} %", trimmed(share * 100.0, 2))
}

/// `on` or `off`.
pub fn on_off(on: bool) -> String {
    if on { "on" } else { "off" }.to_owned()
}

/// `yes` or `no`.
pub fn yes_no(yes: bool) -> String {
    if yes { "yes" } else { "no" }.to_owned()
}

fn prefixed(value: f64, places: usize, unit: &str) -> String {
    let (factor, prefix) = match value {
        value if value >= 1e12 => (1e12, "T"),
        value if value >= 1e9 => (1e9, "G"),
        value if value >= 1e6 => (1e6, "M"),
        value if value >= 1e3 => (1e3, "k"),
        _ => (1.0, ""),
    };
    format!("{} {prefix}{unit}", trimmed(value / factor, places))
}

/// At most this many decimal places, without trailing zeros.
fn trimmed(value: f64, places: usize) -> String {
    let text = format!("{value:.places$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_binary_and_rates_decimal() {
        assert_eq!(size(48 << 10), "48 KiB");
        assert_eq!(size(1280 << 10), "1.25 MiB");
        assert_eq!(size(0), "0 B");
        assert_eq!(size(u64::MAX), "16384 PiB");
        assert_eq!(frequency(2.596_134e9), "2.596 GHz");
        assert_eq!(frequency(3e9), "3 GHz");
        assert_eq!(frequency(100.0), "100 Hz");
        assert_eq!(bytes_rate(68.272e9), "68.27 GB/s");
        assert_eq!(bits_rate(10_000_000_000), "10 Gb/s");
        assert_eq!(percent(0.125), "12.5 %");
    }
}
