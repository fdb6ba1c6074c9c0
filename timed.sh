# user seconds of each crate's rustc
export CARGO_TARGET_DIR=/tmp/w/n/target/t2 CARGO_INCREMENTAL=0
( time timeout 580 nice -n 5 cargo build --release --locked -p fathom ) 2>&1 | tail -3
