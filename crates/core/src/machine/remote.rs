//! The file or server that is read over a network: by its protocol, or through a network mount.

use super::fact::Fact;
use super::mounts;
use super::published;
use super::route::Route;
use super::source::Root;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, percent_decode_str, utf8_percent_encode};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, ToSocketAddrs, UdpSocket};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A protocol with which files are read without a mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// The file transfer protocol of SSH.
    Sftp,
    /// Sun's network file system, version 3.
    Nfs,
    /// The server message block protocol, version 2.
    Smb,
}

impl Protocol {
    /// All of them.
    pub const ALL: [Protocol; 3] = [Protocol::Sftp, Protocol::Nfs, Protocol::Smb];

    /// The scheme of its URLs.
    pub fn scheme(self) -> &'static str {
        match self {
            Protocol::Sftp => "sftp",
            Protocol::Nfs => "nfs",
            Protocol::Smb => "smb",
        }
    }
}

/// `sftp://[user@]host[:port]/path`, `nfs://host[:port]/export/path`, `smb://[user@]host[:port]/share/path`; never a
/// password. A path that ends in a slash is a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteUrl {
    /// The protocol.
    pub protocol: Protocol,
    /// The user name; absent for the protocol's default.
    pub user: Option<String>,
    /// Name or address of the server.
    pub host: String,
    /// The port; absent for the protocol's default.
    pub port: Option<u16>,
    /// The path on the server, beginning with a slash.
    pub path: String,
}

/// The location of the bytes: on a server, or in a folder or file of a network mount.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum RemoteAddress {
    /// Read by its protocol.
    Url(RemoteUrl),
    /// Read through a mount.
    Mounted(PathBuf),
}

/// The file or server that is measured over a network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Remote {
    /// The URL or the path, without secrets.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub address: RemoteAddress,
    /// The client or mount through which it is read: `sftp`, `nfs`, `smb`, or the kind of mount (`NFS mount`).
    pub through: String,
    /// The source of the mount, as the mount table names it; absent for a URL. It is no longer written: it names
    /// a server.
    #[serde(default, skip_serializing)]
    pub source: Option<String>,
    /// Its mount options that change figures; absent for a URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<String>,
    /// Whether the server is this machine, by one of its addresses.
    #[serde(default)]
    pub here: bool,
    /// The route to the server; absent where it is this machine, or where it was not looked up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<Fact<Route>>,
}

impl Remote {
    /// Finds the protocol or mount of an address; the reason if it is not over a network.
    pub fn find(root: &Root, address: &RemoteAddress) -> Result<Self, String> {
        match address {
            RemoteAddress::Url(url) => Ok(Remote {
                address: address.clone(),
                through: url.protocol.scheme().to_owned(),
                source: None,
                options: None,
                here: is_here(&url.host),
                route: None,
            }),
            RemoteAddress::Mounted(path) => mounted(root, path),
        }
    }

    /// The same with the route to its server, whose name is resolved if it is not an address.
    #[must_use]
    pub fn with_route(mut self, root: &Root) -> Self {
        let server = match &self.address {
            RemoteAddress::Url(url) => url.host.as_str(),
            RemoteAddress::Mounted(_) => self.source.as_deref().map_or("", server_of),
        };
        self.route =
            (!self.here).then(|| match (server, 0).to_socket_addrs().ok().and_then(|mut all| all.next()) {
                Some(address) => Route::to(root, address.ip()),
                None => {
                    Fact::unknown("the system's resolver does not know the server's name", "getaddrinfo(3)")
                }
            });
        self
    }

    /// Whether the server is this machine, as far as its name shows: an address to which a listener can be bound here.
    pub fn is_here(&self) -> bool {
        self.here
    }

    /// Whether it is read through a mount.
    pub fn is_mounted(&self) -> bool {
        matches!(self.address, RemoteAddress::Mounted(_))
    }

    /// Whether the address names an existing file instead of a folder in which to create one.
    pub fn is_file(&self) -> bool {
        match &self.address {
            RemoteAddress::Url(url) => !url.path.ends_with('/'),
            RemoteAddress::Mounted(path) => path.is_file(),
        }
    }
}

fn mounted(root: &Root, path: &Path) -> Result<Remote, String> {
    let path = path.canonicalize().map_err(|error| format!("{}: {error}", path.display()))?;
    let table = root.text("/proc/self/mountinfo");
    let table = table.value().map(|text| mounts::parse(text)).unwrap_or_default();
    let mount = mounts::holding(&table, &path).ok_or("the mount table does not show its file system")?;
    let kind = network_mount(&mount.file_system).ok_or_else(|| {
        format!(
            "{} is on {} ({}), which is no network file system: name a folder or file on a network mount, or a URL \
             (sftp://, nfs://, smb://)",
            path.display(),
            mount.file_system,
            mount.source
        )
    })?;
    Ok(Remote {
        address: RemoteAddress::Mounted(path),
        through: format!("{kind} mount"),
        here: is_here(server_of(&mount.source)),
        source: Some(mount.source.clone()),
        options: Some(published::mount_options(&mount.super_options)),
        route: None,
    })
}

/// The server in the source of a mount: `user@host:/path`, `host:/path`, `//host/share`, `[address]:/path`.
fn server_of(source: &str) -> &str {
    if let Some(rest) = source.strip_prefix("//") {
        return rest.split('/').next().unwrap_or_default();
    }
    let place = source.rsplit_once('@').map_or(source, |(_, place)| place);
    match place.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, _)) => host,
        None => place.split(':').next().unwrap_or_default(),
    }
}

/// Whether a name is an address of this machine. Names that must be resolved are not, because describing a machine contacts
/// no other one.
fn is_here(host: &str) -> bool {
    let address = if host == "localhost" { Ok(Ipv4Addr::LOCALHOST.into()) } else { host.parse::<IpAddr>() };
    address.is_ok_and(|address| address.is_loopback() || is_own(address))
}

/// Whether the kernel would send from an address what is meant for it: it does so only with its own. Nothing is sent.
fn is_own(address: IpAddr) -> bool {
    let any: IpAddr =
        if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let connected = UdpSocket::bind((any, 0)).and_then(|socket| {
        // Nobody is asked whether somebody listens there.
        socket.connect((address, 9))?;
        socket.local_addr()
    });
    connected.is_ok_and(|from| from.ip() == address)
}

/// The network file system that the kernel calls by this name; `None` for a local one.
pub fn network_mount(file_system: &str) -> Option<&str> {
    Some(match file_system {
        "nfs" | "nfs4" => "NFS",
        "cifs" | "smb3" | "smbfs" => "SMB",
        "fuse.sshfs" => "sshfs",
        "ceph" | "fuse.ceph" | "fuse.ceph-fuse" => "Ceph",
        "afs" | "fuse.afs" => "AFS",
        "9p" | "virtiofs" | "lustre" | "beegfs" | "gpfs" | "orangefs" | "vboxsf" | "prl_fs" | "coda"
        | "ncpfs" => file_system,
        "fuse.vmhgfs-fuse" => "vmhgfs",
        "fuse.glusterfs" => "GlusterFS",
        "fuse.davfs" | "davfs" | "fuse.davfs2" => "WebDAV",
        "fuse.rclone" | "fuse.s3fs" | "fuse.juicefs" | "fuse.curlftpfs" | "fuse.gcsfuse"
        | "fuse.seaweedfs" => file_system.trim_start_matches("fuse."),
        _ => return None,
    })
}

impl FromStr for RemoteAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((scheme, rest)) = text.split_once("://") else {
            return Ok(RemoteAddress::Mounted(PathBuf::from(text)));
        };
        let protocol = Protocol::ALL.into_iter().find(|protocol| protocol.scheme() == scheme);
        let protocol = protocol.ok_or_else(|| {
            format!(
                "{scheme}:// is not supported: use sftp://, nfs:// or smb://, or a path on any network mount"
            )
        })?;
        url(protocol, rest).map(RemoteAddress::Url)
    }
}

fn url(protocol: Protocol, rest: &str) -> Result<RemoteUrl, String> {
    let (authority, path) = rest.split_once('/').ok_or("a URL names a path after its server: host/path")?;
    let (user, place) = match authority.rsplit_once('@') {
        Some((user, place)) => (Some(plain(user)?), place),
        None => (None, authority),
    };
    if user.as_ref().is_some_and(|user| user.contains(':')) {
        return Err("a password in a URL would be visible to other users: use the environment variable \
                    FATHOM_REMOTE_PASSWORD (smb), or a key (sftp)"
            .to_owned());
    }
    let (host, port) = host_and_port(place)?;
    if host.is_empty() || host.starts_with('-') || user.as_ref().is_some_and(|user| user.starts_with('-')) {
        return Err(format!("`{authority}` is not the name of a server"));
    }
    Ok(RemoteUrl { protocol, user, host, port, path: format!("/{}", plain(path)?) })
}

fn host_and_port(place: &str) -> Result<(String, Option<u16>), String> {
    let (host, port) = match place.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, rest)) => (host, rest.strip_prefix(':')),
        None => match place.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (place, None),
        },
    };
    let number =
        |port: &str| port.parse::<u16>().map_err(|_| format!("`{port}` is not the number of a port"));
    Ok((host.to_owned(), port.map(number).transpose()?))
}

/// The characters that are percent-encoded in a URL: all except letters, digits and these.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/')
    .remove(b'+')
    .remove(b',')
    .remove(b'=');

/// Undoes percent encoding (RFC 3986, section 2.1).
fn plain(text: &str) -> Result<String, String> {
    let is_code =
        |after: &str| after.len() >= 2 && after.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
    if !text.split('%').skip(1).all(is_code) {
        return Err("a % in a URL stands before two hexadecimal digits".to_owned());
    }
    let text = percent_decode_str(text).decode_utf8();
    let text = text.map_err(|_| "a URL in another encoding than UTF-8".to_owned())?;
    let is_broken = text.contains(['\0', '\n', '\r']);
    if is_broken { Err("a URL with a line break in it".to_owned()) } else { Ok(text.into_owned()) }
}

fn encoded(text: &str) -> PercentEncode<'_> {
    utf8_percent_encode(text, ENCODED)
}

impl fmt::Display for RemoteUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://", self.protocol.scheme())?;
        if let Some(user) = &self.user {
            write!(f, "{}@", encoded(user))?;
        }
        let bracketed = format!("[{}]", self.host);
        f.write_str(if self.host.contains(':') { &bracketed } else { &self.host })?;
        if let Some(port) = self.port {
            write!(f, ":{port}")?;
        }
        encoded(&self.path).fmt(f)
    }
}

impl fmt::Display for RemoteAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RemoteAddress::Url(url) => url.fmt(f),
            RemoteAddress::Mounted(path) => path.display().fmt(f),
        }
    }
}

impl From<RemoteAddress> for String {
    fn from(address: RemoteAddress) -> Self {
        address.to_string()
    }
}

impl TryFrom<String> for RemoteAddress {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(text: &str) -> RemoteUrl {
        match text.parse() {
            Ok(RemoteAddress::Url(url)) => url,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn a_url_names_protocol_user_server_port_and_path() {
        let url = parsed("sftp://ann@[2001:db8::1]:2222/srv/a%20file");
        assert_eq!((url.protocol, url.user.as_deref()), (Protocol::Sftp, Some("ann")));
        assert_eq!(
            (url.host.as_str(), url.port, url.path.as_str()),
            ("2001:db8::1", Some(2222), "/srv/a file")
        );
        assert_eq!(url.to_string(), "sftp://ann@[2001:db8::1]:2222/srv/a%20file");
        assert_eq!(parsed("nfs://nas/export/").port, None);
    }

    #[test]
    fn passwords_options_and_other_protocols_are_refused_with_words() {
        for (text, word) in [
            ("smb://ann:secret@nas/share/x", "FATHOM_REMOTE_PASSWORD"),
            ("sftp://-oProxyCommand=x/y", "name of a server"),
            ("sftp://ann@-x/y", "name of a server"),
            ("ftp://host/x", "sftp://"),
            ("sftp://host", "path"),
            ("nfs://host:port/x", "port"),
            ("nfs://host/%zz", "hexadecimal"),
            ("nfs://host/%+f", "hexadecimal"),
        ] {
            let error = text.parse::<RemoteAddress>().expect_err(text);
            assert!(error.contains(word) && !error.contains("secret"), "{text}: {error}");
        }
    }

    #[test]
    fn network_mounts_are_told_from_local_ones() {
        assert_eq!(network_mount("nfs4"), Some("NFS"));
        assert_eq!(network_mount("fuse.sshfs"), Some("sshfs"));
        assert_eq!(network_mount("virtiofs"), Some("virtiofs"));
        assert_eq!(network_mount("ext4").or(network_mount("tmpfs")).or(network_mount("fuse.portal")), None);
    }

    #[test]
    fn the_mount_that_holds_a_path_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().canonicalize().unwrap();
        let line = |kind: &str| {
            format!("31 27 0:50 / {} rw - {kind} nas:/home rw,vers=4.2,addr=192.0.2.7\n", here.display())
        };
        let find = |kind: &str| {
            let (_tree, root) = Root::planted(&[("/proc/self/mountinfo", &line(kind))]);
            Remote::find(&root, &RemoteAddress::Mounted(here.clone()))
        };
        let mount = find("nfs4").unwrap();
        assert_eq!((mount.through.as_str(), mount.source.as_deref()), ("NFS mount", Some("nas:/home")));
        assert_eq!(mount.options.as_deref(), Some("rw,vers=4.2"), "its server's address is not published");
        assert!(find("ext4").unwrap_err().contains("no network file system"));
    }

    #[test]
    fn the_way_to_a_server_is_told_but_where_it_is_this_machine() {
        let way = format!("eth0\t{0}\t{0}\t0003\t0\t0\t0\t{0}\t0\t0\t0\n", "00000000");
        let (_tree, root) = Root::planted(&[("/proc/net/route", &way)]);
        let route = |text: &str| Remote::find(&root, &text.parse().unwrap()).unwrap().with_route(&root).route;
        let far = Route { adapter: "eth0".to_owned(), gateway: true };
        assert_eq!(route("nfs://192.0.2.7/export/").unwrap().value(), Some(&far));
        assert_eq!(route("nfs://127.0.0.1/export/"), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic_and_what_is_understood_is_written_back(text in "(sftp|nfs|smb)://\\PC*") {
            if let Ok(address) = text.parse::<RemoteAddress>() {
                prop_assert_eq!(address.to_string().parse::<RemoteAddress>(), Ok(address));
            }
        }
    }
}
