//! The method of an experiment as it was when the run was made: a later program may have another, or none.

use fathom_core::experiment::{About, Parameter, Scale};
use serde::{Deserialize, Serialize};

/// The method by which figures of a run were measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Method {
    /// Name of the experiment.
    pub experiment: String,
    /// Version of the method; figures of different versions are not compared.
    pub version: u32,
    /// The question that the experiment answers.
    pub question: String,
    /// The operation that is measured.
    pub operation: String,
    /// The method and its reasons, in paragraphs separated by blank lines.
    pub text: String,
    /// The naive variants and what is wrong with them, in paragraphs; empty where there are none.
    pub caveats: String,
    /// The timed code, as it is in the program's source; absent where the text of the method says everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timed: Option<Excerpt>,
    /// Every parameter of a point except the placement, in the order of the tables.
    pub parameters: Vec<MethodParameter>,
    /// The fits for which the sweep was made.
    pub trends: Vec<MethodTrend>,
}

/// A function of the program that measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Excerpt {
    /// The variant of the operation.
    pub of: String,
    /// The text of the function.
    pub text: String,
}

/// A parameter that an experiment varies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MethodParameter {
    /// Its key in points.
    pub name: String,
    /// Its meaning, in a few words.
    pub meaning: String,
    /// The format of its values.
    pub scale: Scale,
}

/// A straight line that is expected along one parameter, all others held.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MethodTrend {
    /// The parameter on the horizontal axis.
    pub along: String,
    /// The amount of the parameter to which the slope refers: 4096 if the parameter is in bytes and the slope per page.
    pub step: f64,
    /// The name of one step: "per argument".
    pub slope: String,
}

impl Method {
    /// The method of an experiment of this program.
    pub fn of(about: &About) -> Self {
        let trends = about.trends.iter().map(|trend| MethodTrend {
            along: trend.along.to_owned(),
            step: trend.step,
            slope: trend.slope.to_owned(),
        });
        Method {
            experiment: about.name.to_owned(),
            version: about.version,
            question: about.question.to_owned(),
            operation: about.operation.to_owned(),
            text: about.method.to_owned(),
            caveats: about.caveats.to_owned(),
            timed: about
                .timed
                .and_then(|code| Some(Excerpt { of: code.of.to_owned(), text: code.function()? })),
            parameters: MethodParameter::all(about),
            trends: trends.collect(),
        }
    }
}

impl MethodParameter {
    /// All parameters of an experiment of this program.
    pub fn all(about: &About) -> Vec<Self> {
        let parameter = |parameter: &Parameter| MethodParameter {
            name: parameter.name.to_owned(),
            meaning: parameter.meaning.to_owned(),
            scale: parameter.scale,
        };
        about.parameters.iter().map(parameter).collect()
    }
}
