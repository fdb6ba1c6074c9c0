//! `fathom peer`: the other half of remote experiments, started manually or by `fathom run --peer`.

use crate::cli;
use anyhow::{Context, Result, bail};
use fathom_core::message::tell;
use fathom_engine::record::{Header, PeerKind};
use fathom_engine::run::{Peering, Reach};
use fathom_equipment::peer::Token;
use fathom_equipment::peer::launch::{self, Ready};
use fathom_equipment::peer::proof::{SHORTEST_TOKEN, chance};
use fathom_equipment::peer::server::{PeerEnd, PeerLimits, Server};
use std::fs::File;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Serves one run, or one after the other, and reports why it has ended.
pub fn serve(args: &cli::Peer) -> Result<()> {
    let addresses: Vec<SocketAddr> = args.listen.clone();
    let limits = limits(args);
    if args.launched {
        return serve_launcher(args, &addresses, limits);
    }
    let (token, drawn) = match &args.token_file {
        Some(file) => (read_token(file)?, false),
        None => (Token(chance(32).context("no random token could be made")?), true),
    };
    let mut server = bind(&addresses, token.clone(), limits)?;
    let bound = server.addresses()?;
    announce(&bound, drawn.then_some(&token))?;
    loop {
        let end = server.run()?;
        if !args.keep || !matches!(end, PeerEnd::ClientLeft | PeerEnd::Abandoned) {
            tell(format!("fathom: the peer has ended: {end}"));
            return Ok(());
        }
        // The limits begin anew: those of a peer are of one run.
        server = bind(&bound, token.clone(), self::limits(args))?;
        tell(format!("fathom: {end}; the next run may begin"));
    }
}

/// The peer requested for a new run.
pub fn reach(args: &cli::PeerOptions) -> Result<Option<Peering>> {
    let reach = |spec: &String| {
        let reach = Reach { spec: spec.clone(), address: args.peer_address, token: token(args)? };
        Peering::reach(&reach).with_context(|| format!("there is no peer {spec}"))
    };
    args.peer.as_ref().map(reach).transpose()
}

/// The peer of a resumed run. Another host must be named again: a run file may come from anybody, and must not make this
/// program log in somewhere. A virtual peer is on this machine.
pub fn again(args: &cli::PeerOptions, header: &Header) -> Result<Option<Peering>> {
    let Some(peer) = header.peer.as_ref().filter(|_| args.peer.is_none()) else { return reach(args) };
    if peer.kind != PeerKind::Virtual {
        let address = peer.asked_address.iter().map(|address| format!(" --peer-address {address}"));
        bail!(
            "the run was begun with the peer {0}, which is contacted only if the command line names it too: add \
             `--peer {0}{1}`",
            peer.wanted,
            address.collect::<String>()
        );
    }
    let reached = Peering::reach(&Reach { spec: "namespace".to_owned(), ..Reach::default() });
    reached.map(Some).context("the run's virtual peer cannot be made again")
}

fn token(args: &cli::PeerOptions) -> Result<Option<Token>> {
    args.token_file.as_deref().map(read_token).transpose()
}

fn limits(args: &cli::Peer) -> PeerLimits {
    let usual = PeerLimits::default();
    PeerLimits {
        connections: args.most_connections.unwrap_or(usual.connections),
        bytes: args.most_bytes.unwrap_or(usual.bytes),
        lifetime: args.most_time.unwrap_or(usual.lifetime),
        idle: args.idle.unwrap_or(usual.idle),
        ..usual
    }
}

fn bind(addresses: &[SocketAddr], token: Token, limits: PeerLimits) -> Result<Server> {
    let named: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    Server::bind(addresses, token, limits)
        .with_context(|| format!("cannot listen at {}", named.join(" and ")))
}

/// The token in a file that only this user can read, without the white space around it.
fn read_token(file: &Path) -> Result<Token> {
    let token = private_text(file).with_context(|| format!("cannot use the token in {}", file.display()))?;
    let token = token.trim();
    if !is_hard_to_guess(token) {
        bail!(
            "the token in {} is too easy to guess: anyone who hears a handshake can try tokens as fast as a computer can; at least \
             {SHORTEST_TOKEN} characters are needed, drawn at random, as by `head -c 32 /dev/urandom | base64`",
            file.display()
        );
    }
    Ok(Token(token.to_owned()))
}

/// The text of a file of this user that nobody else can read, as ssh asks of a private key.
fn private_text(file: &Path) -> Result<String> {
    let mut opened = File::open(file)?;
    let metadata = opened.metadata()?;
    // SAFETY: geteuid touches nothing.
    let user = unsafe { libc::geteuid() };
    if metadata.mode() & 0o077 != 0 {
        bail!("others can read it: `chmod 600 {}`", file.display());
    }
    if metadata.uid() != user && user != 0 {
        bail!("it belongs to another user");
    }
    let mut text = String::new();
    Read::by_ref(&mut opened).take(LONGEST_TOKEN).read_to_string(&mut text)?;
    Ok(text)
}

/// The longest file with a token, bytes.
const LONGEST_TOKEN: u64 = 1 << 10;

/// Whether a token can have been drawn at random: of so many random hexadecimal digits, fewer than nine different ones are seen
/// less than once in a hundred thousand times, and words repeat letters or are short.
fn is_hard_to_guess(token: &str) -> bool {
    let different: std::collections::BTreeSet<char> = token.chars().collect();
    token.len() >= SHORTEST_TOKEN && different.len() >= 9
}

/// Reports why a peer has ended, unless that was intended.
fn ended(end: &PeerEnd) {
    if !matches!(end, PeerEnd::ClientLeft | PeerEnd::Abandoned) {
        tell(format!("fathom: the peer has ended: {end}"));
    }
}

/// Prints the options with which to measure with a manually started peer.
fn announce(addresses: &[SocketAddr], token: Option<&Token>) -> Result<()> {
    let mut out = std::io::stdout().lock();
    for address in addresses {
        writeln!(out, "listening at {address}")?;
    }
    if let Some(token) = token {
        writeln!(out, "token {}", token.0)?;
    }
    out.flush()?;
    let reached = addresses.first().map(|address| match address.ip() {
        ip if ip.is_unspecified() => format!("ADDRESS-OF-THIS-HOST:{}", address.port()),
        _ => address.to_string(),
    });
    tell(format!(
        "fathom: put the token into a file on the other host and measure there with `fathom run --peer {} --token-file FILE`",
        reached.unwrap_or_default()
    ));
    Ok(())
}

/// Serves as [`launch`] requires: reads the token on standard input, prints its addresses on standard output, and ends with
/// standard input.
fn serve_launcher(args: &cli::Peer, addresses: &[SocketAddr], limits: PeerLimits) -> Result<()> {
    if args.remove_itself {
        launch::ssh::remove_this_program().context("this copy of the program could not remove itself")?;
    }
    if let Some(parent) = args.namespace_of {
        let ips: Vec<IpAddr> = addresses.iter().map(SocketAddr::ip).collect();
        launch::namespace::enter(parent, &ips)?;
    }
    let token = launch::read_token()?;
    let server = bind(addresses, token, limits)?;
    let ips: Vec<IpAddr> = server.addresses()?.iter().map(SocketAddr::ip).collect();
    let port = server.addresses()?.first().map_or(0, SocketAddr::port);
    Ready { ips, port }.print()?;
    let shared = server.shared();
    std::thread::spawn(move || {
        launch::wait_for_launcher();
        shared.end(PeerEnd::Abandoned);
    });
    ended(&server.run()?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_token_is_long_drawn_at_random_and_for_this_user_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        let told = |token: &str, mode: u32| {
            std::fs::write(&file, token).unwrap();
            std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
            read_token(&file).map(|token| token.0).map_err(|error| format!("{error:#}"))
        };
        let drawn = chance(16).unwrap();
        assert_eq!(told(&format!("{drawn}\n"), 0o600), Ok(drawn.clone()));
        assert!(told(&drawn, 0o644).unwrap_err().contains("others can read it: `chmod 600"));
        assert!(told(&drawn, 0o640).unwrap_err().contains("others can read it"));
        for easy in [
            "0123456789abcdef",
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "passwordpasswordpasswordpassword",
        ] {
            assert!(told(easy, 0o600).unwrap_err().contains("too easy to guess"), "{easy}");
        }
    }
}
