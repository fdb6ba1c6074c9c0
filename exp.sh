export CARGO_TARGET_DIR=/tmp/w/n/target/t2 CARGO_INCREMENTAL=0 RUSTC_WRAPPER=/tmp/w/n/wrap.sh
touch crates/report/src/lib.rs; TAG=base cargo build --release --locked -p fathom
cp target/t2/release/fathom /tmp/w/fathom-o3
TAG=o1 cargo build --release --locked -p fathom --config 'profile.release.package.fathom-report.opt-level=1' --config 'profile.release.package.fathom-verify.opt-level=1' --config 'profile.release.package.fathom.opt-level=1'
cp target/t2/release/fathom /tmp/w/fathom-o1
