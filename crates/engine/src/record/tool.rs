//! The program that measured.

use serde::{Deserialize, Serialize};

/// The program that measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tool {
    /// `fathom`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// SHA-256 of the running binary, in hexadecimal.
    pub binary_sha256: String,
    /// Architecture and operating system it was built for.
    pub target: String,
    /// `release` or `debug`: a debug build measures mainly its own slowness.
    pub build: String,
    /// The compiler that built it, as it names itself, and the flags it was given; `None` in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiler: Option<String>,
    /// The commit of its source; `None` where it was not built from its repository, or for debugging.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}
