//! The page's content security policy: it may only apply its own style and run its own script.

use data_encoding::BASE64;
use sha2::{Digest, Sha256};

/// A content security policy, which contains only words of this program and hashes.
pub(super) struct Policy(String);

impl Policy {
    /// The policy as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A policy under which this style and this script are allowed by their hashes, and nothing else: no network, no frame, no
/// form, no other script.
pub(super) fn policy(style: &str, script: &str) -> Policy {
    Policy(format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'",
        hash(style),
        hash(script)
    ))
}

fn hash(text: &str) -> String {
    format!("sha256-{}", BASE64.encode(&Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_style_is_allowed_by_the_hash_that_browsers_compute() {
        // `printf ''
        // openssl dgst -sha256 -binary
        // base64`, whose result ends with padding.
        assert_eq!(hash(""), "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    }
}
