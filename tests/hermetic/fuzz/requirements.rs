//! Files of requirements.

use super::fuzz;
use super::input::Input;
use fathom::requirements::Requirements;

const PROPER: &str = include_str!("../../../requirements/polkadot.toml");

#[test]
fn files_of_requirements() {
    fathom::experiments::register();
    fuzz("requirements", |input: &mut Input| {
        let Ok(requirements) =
            Requirements::parse(&String::from_utf8_lossy(&input.spoil(PROPER.as_bytes().to_vec())))
        else {
            return Ok(());
        };
        for demand in requirements.demands {
            let sound = demand.limit.value > 0.0
                && demand.limit.value.is_finite()
                && demand.share > 0.0
                && demand.share < 1.0;
            if !sound {
                return Err(format!("{demand:?}"));
            }
        }
        Ok(())
    });
}
