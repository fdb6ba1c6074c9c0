//! Numbers in, numbers out; chance comes from a seed.
