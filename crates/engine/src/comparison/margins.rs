//! The size from which a difference matters.

use crate::plan;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The default margin: a smaller difference does not matter.
pub const USUAL: f64 = 0.05;

/// Experiments whose figure is the remainder of other effects and so varies more than the default margin: for noise, only a
/// doubling is relevant.
const WIDER: [(&str, f64); 1] = [("cpu/noise", 1.0)];

/// The margins of a comparison, as shares: 0.05 for 5 %.
#[derive(Debug, Clone)]
pub struct Margins {
    usual: Option<f64>,
    /// Name or glob of experiments with their margin; the longest match applies.
    by_name: BTreeMap<String, f64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MarginsFile {
    /// The margin of all experiments that are not named.
    margin: Option<f64>,
    #[serde(default)]
    experiments: BTreeMap<String, f64>,
}

impl Margins {
    /// One margin for every experiment; without one the default ones.
    pub fn all(margin: Option<f64>) -> Self {
        Margins { usual: margin, by_name: BTreeMap::new() }
    }

    /// The margins of a TOML file: `margin = 0.05`, and below `[experiments]` lines such as `"memory/*" = 0.1`, with names
    /// in the form of `fathom run`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let table = text.parse::<toml::Table>();
        let file: MarginsFile =
            table.and_then(toml::Table::try_into).map_err(|error| error.message().to_owned())?;
        let names: Vec<String> = file.experiments.keys().cloned().collect();
        plan::select(&names).map_err(|error| error.to_string())?;
        let named = file.experiments.iter().map(|(name, margin)| (name.as_str(), *margin));
        match named.chain(file.margin.map(|margin| ("margin", margin))).find(|(_, margin)| !is_sound(*margin))
        {
            Some((name, margin)) => {
                Err(format!("{name}: a margin is a share above 0, such as 0.05, not {margin}"))
            }
            None => Ok(Margins { usual: file.margin, by_name: file.experiments }),
        }
    }

    /// The margin of an experiment.
    pub fn of(&self, experiment: &str) -> f64 {
        let fitting = self.by_name.iter().filter(|(name, _)| plan::names(name, experiment));
        let named = fitting.max_by_key(|(name, _)| name.len()).map(|(_, margin)| *margin);
        let wider = WIDER.iter().find(|(name, _)| *name == experiment && self.usual.is_none());
        named.or(wider.map(|(_, margin)| *margin)).or(self.usual).unwrap_or(USUAL)
    }
}

fn is_sound(margin: f64) -> bool {
    margin > 0.0 && margin.is_finite()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_name_that_fits_holds() {
        fathom_experiments::register();
        let margins =
            Margins::parse("margin = 0.03\n[experiments]\n\"memory/*\" = 0.1\n\"memory/tlb*\" = 0.2\n")
                .unwrap();
        let percent = |margins: &Margins, name: &str| (margins.of(name) * 100.0).round() as u32;
        let names = ["cpu/system_call", "memory/bandwidth", "memory/tlb_reach"];
        assert_eq!(names.map(|name| percent(&margins, name)), [3, 10, 20]);
        let noise = [None, Some(0.01)].map(|usual| percent(&Margins::all(usual), "cpu/noise"));
        assert_eq!(noise, [100, 1]);
    }

    #[test]
    fn what_is_no_margin_is_refused_by_name() {
        assert!(Margins::parse("[experiments]\n\"cpu/*\" = -1.0").unwrap_err().contains("cpu/*"));
        assert!(
            Margins::parse("[experiments]\n\"memory/bandwith\" = 0.1")
                .unwrap_err()
                .contains("memory/bandwith")
        );
        assert!(Margins::parse("margins = 3").unwrap_err().contains("margins"));
    }
}
