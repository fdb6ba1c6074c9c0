//! The three reference distributions that intervals need: normal, Student's t, binomial.

use std::sync::OnceLock;

/// The probability that a standard normal variable lies below `z`.
///
/// Source: Marsaglia 2004, "Evaluating the normal distribution": `1/2 + φ(z)(z + z³/3 + z⁵/15 + …)`. Exact to about 1e-15 in
/// absolute terms; beyond |z| = 8 the result is 0 or 1.
pub(super) fn normal_below(z: f64) -> f64 {
    if z.abs() > 8.0 {
        return if z > 0.0 { 1.0 } else { 0.0 };
    }
    let (mut sum, mut term, mut odd) = (z, z, 1.0);
    while term.abs() > 1e-17 * sum.abs() {
        odd += 2.0;
        term *= z * z / odd;
        sum += term;
    }
    0.5 + sum * (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

/// The probability that Student's t with `freedom` degrees of freedom lies below `t`.
///
/// Source: DLMF 8.17 (the incomplete beta function), Abramowitz & Stegun 26.7.1.
pub(super) fn student_below(t: f64, freedom: f64) -> f64 {
    let tail = 0.5 * incomplete_beta(freedom / (freedom + t * t), 0.5 * freedom, 0.5);
    if t > 0.0 { 1.0 - tail } else { tail }
}

/// The value below which Student's t with `freedom` degrees of freedom lies with probability `level`.
pub(super) fn student_quantile(level: f64, freedom: f64) -> f64 {
    // Every interval of a report needs the same few values, and each takes some sixty evaluations of the distribution.
    static OF_INTERVALS: [OnceLock<f64>; 512] = [const { OnceLock::new() }; 512];
    let whole = freedom as usize;
    let usual = freedom.fract() == 0.0 && (level - 0.975).abs() < 1e-12;
    match OF_INTERVALS.get(whole).filter(|_| usual) {
        Some(known) => *known.get_or_init(|| searched_student_quantile(level, freedom)),
        None => searched_student_quantile(level, freedom),
    }
}

fn searched_student_quantile(level: f64, freedom: f64) -> f64 {
    let mut reach = 1.0;
    while student_below(-reach, freedom) > level.min(1.0 - level) && reach < 1e12 {
        reach *= 2.0;
    }
    root(-reach, reach, |t| student_below(t, freedom) - level)
}

/// The distance from zero within which half of Student's t with `freedom` degrees of freedom lies.
pub fn middle_half_of_student(freedom: f64) -> f64 {
    student_quantile(0.75, freedom)
}

/// The value below which a standard normal variable lies with probability `level`.
pub(super) fn normal_quantile(level: f64) -> f64 {
    root(-8.0, 8.0, |z| normal_below(z) - level)
}

/// The probability of at most `successes` successes in `draws` draws of success probability `chance`.
///
/// Source: DLMF 8.17.5.
pub(super) fn binomial_at_most(successes: usize, draws: usize, chance: f64) -> f64 {
    if successes >= draws {
        return 1.0;
    }
    incomplete_beta(1.0 - chance, (draws - successes) as f64, successes as f64 + 1.0)
}

/// The zero of a rising function between `low` and `high`, by bisection to the last bit.
fn root(mut low: f64, mut high: f64, rising: impl Fn(f64) -> f64) -> f64 {
    loop {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            return middle;
        }
        if rising(middle) < 0.0 { low = middle } else { high = middle }
    }
}

/// The regularised incomplete beta function `I_x(a, b)`, by its continued fraction (DLMF 8.17.22), which converges
/// fast below the mean; above it the symmetry `I_x(a, b) = 1 - I_{1-x}(b, a)` is used.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    let front = a * x.ln() + b * (-x).ln_1p() + ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b);
    front.exp() / (a * beta_fraction(x, a, b))
}

/// The denominator `1 + d1/(1 + d2/(1 + …))` of DLMF 8.17.22, evaluated from the front (modified Lentz).
fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let nonzero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let (mut value, mut upper, mut lower) = (1.0_f64, 1.0_f64, 0.0_f64);
    for step in 1..10_000 {
        let m = f64::from(step / 2);
        let term = if step % 2 == 0 {
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        } else {
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        };
        lower = 1.0 / nonzero(1.0 + term * lower);
        upper = nonzero(1.0 + term / upper);
        value *= upper * lower;
        if (upper * lower - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// The logarithm of the gamma function for positive arguments: Stirling's series (DLMF 5.11.1), after lifting the
/// argument above 10, where six terms are exact to 1e-15.
fn ln_gamma(x: f64) -> f64 {
    let (mut lifted, mut product) = (x, 1.0);
    while lifted < 10.0 {
        product *= lifted;
        lifted += 1.0;
    }
    let inverse = 1.0 / (lifted * lifted);
    let series = [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0, -691.0 / 360_360.0];
    let correction = series.iter().rev().fold(0.0, |sum, coefficient| sum * inverse + coefficient) / lifted;
    (lifted - 0.5) * lifted.ln() - lifted + 0.5 * (2.0 * std::f64::consts::PI).ln() + correction
        - product.ln()
}

/// The number of smallest values of a count whose probabilities add up to at most `tail`; `chances` are those of 0, 1, 2 and so
/// on.
pub(super) fn within_tail(chances: &[f64], tail: f64) -> usize {
    let cumulated = chances.iter().scan(0.0, |sum, chance| {
        *sum += chance;
        Some(*sum)
    });
    cumulated.take_while(|&sum| sum <= tail).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-6, "{value} is not {expected}");
    }

    #[test]
    fn the_tables_of_textbooks_are_met() {
        close(normal_below(1.0), 0.841_344_746);
        close(normal_quantile(0.975), 1.959_963_985);
        close(student_quantile(0.975, 5.0), 2.570_581_836);
        close(student_quantile(0.975, 29.0), 2.045_229_642);
        close(student_quantile(0.025, 1.0), -12.706_204_736);
        close(binomial_at_most(2, 10, 0.5), 56.0 / 1024.0);
        close(binomial_at_most(0, 29, 0.9), 0.0);
        close(binomial_at_most(28, 29, 0.9), 1.0 - 0.9_f64.powi(29));
    }

    #[test]
    fn gamma_is_the_factorial() {
        close(ln_gamma(5.0), 24.0_f64.ln());
        close(ln_gamma(0.5), std::f64::consts::PI.sqrt().ln());
        close(ln_gamma(20.0), 1.216_451_004_088_32e17_f64.ln());
    }
}
