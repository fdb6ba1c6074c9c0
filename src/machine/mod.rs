//! What this computer is, and what may disturb it: read, never written.
