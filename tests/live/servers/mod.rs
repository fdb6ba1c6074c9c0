//! Real file servers, each in a network namespace of its own: another host, as far as the network can tell.
//!
//! A server and its namespaces live as long as the process that the test started and not a moment longer; so does the
//! cable to it, which ends in the namespace.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The status of a script that may not install what it needs.
const MISSING: i32 = 77;

/// A server that runs.
pub struct Server {
    child: Child,
    /// Keys, configuration, and the folder `files` that is served.
    pub folder: tempfile::TempDir,
    /// Its address, in a block that is reserved for measuring networks (RFC 2544).
    pub address: String,
}

impl Server {
    /// Starts the server of a script at a port; why not, where it cannot be.
    pub fn start(script: &str, arguments: &[&str], number: u8, port: u16) -> Result<Self, String> {
        install(script)?;
        let folder =
            tempfile::Builder::new().prefix("fathom-server-").tempdir().map_err(|error| error.to_string())?;
        let log = std::fs::File::create(folder.path().join("log")).map_err(|error| error.to_string())?;
        let mut command = Command::new("unshare");
        command.args(["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--"]);
        command.arg(here(script)).arg(folder.path()).args(arguments).stdin(Stdio::null());
        command.stdout(log.try_clone().map_err(|error| error.to_string())?).stderr(log);
        // SAFETY: the call only notes that the program is to die with the thread that starts it: the test's.
        unsafe {
            command.pre_exec(|| {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                Ok(())
            });
        }
        let child = command.spawn().map_err(|error| format!("unshare: {error}"))?;
        let mut server = Server { child, folder, address: format!("198.18.{number}.2") };
        server.plug(number)?;
        server.wait_for(port)?;
        Ok(server)
    }

    /// Where the served files are, on this machine.
    pub fn files(&self) -> PathBuf {
        self.folder.path().join("files")
    }

    /// Lays a cable from this namespace to the server's.
    fn plug(&mut self, number: u8) -> Result<(), String> {
        let near = format!("fathom{number}");
        let namespace = self.inside()?;
        run("ip", &["link", "add", &near, "type", "veth", "peer", "name", "eth0", "netns", &namespace])?;
        run("ip", &["addr", "add", &format!("198.18.{number}.1/30"), "dev", &near])?;
        run("ip", &["link", "set", &near, "up"])?;
        let setup =
            format!("ip addr add {}/30 dev eth0; ip link set eth0 up; ip link set lo up", self.address);
        run("nsenter", &["-t", &namespace, "-n", "sh", "-c", &setup])
    }

    /// The first process inside, by its number here.
    fn inside(&mut self) -> Result<String, String> {
        let children = format!("/proc/{0}/task/{0}/children", self.child.id());
        for _ in 0..100 {
            if let Some(child) =
                std::fs::read_to_string(&children).unwrap_or_default().split_whitespace().next()
            {
                return Ok(child.to_owned());
            }
            sleep(Duration::from_millis(20));
        }
        Err(format!("unshare started nothing: {}", self.said()))
    }

    fn wait_for(&mut self, port: u16) -> Result<(), String> {
        let address: SocketAddr = format!("{}:{port}", self.address).parse().map_err(|_| "no address")?;
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(30) {
            if TcpStream::connect_timeout(&address, Duration::from_millis(500)).is_ok() {
                return Ok(());
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(format!("it ended ({status}): {}", self.said()));
            }
            sleep(Duration::from_millis(50));
        }
        Err(format!("nobody listens at {address}: {}", self.said()))
    }

    fn said(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Ends the server and everything in its namespaces, as when a machine loses its power.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

fn here(script: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live/servers").join(script)
}

/// Has what a script needs on this machine, where that may be.
fn install(script: &str) -> Result<(), String> {
    let packages: &[&[&str]] = match script {
        "openssh" => &[&["sshd", "openssh-server", "openssh-client"], &["sshfs", "sshfs"]],
        "samba" => &[&["smbd", "samba"]],
        _ => &[&["ganesha.nfsd", "nfs-ganesha", "nfs-ganesha-vfs"], &["rpcbind", "rpcbind"]],
    };
    // SAFETY: asks for a number.
    if unsafe { libc::geteuid() } != 0 {
        return Err("only root may make the namespaces that servers run in".to_owned());
    }
    for needed in [&[&["unshare", "util-linux"][..], &["ip", "iproute2"]], packages].concat() {
        let done =
            Command::new(here("install")).args(needed).output().expect("the script stands beside this file");
        match done.status.code() {
            Some(0) => {}
            Some(MISSING) => return Err(String::from_utf8_lossy(&done.stderr).trim().to_owned()),
            _ => return Err(format!("installing {needed:?}: {}", String::from_utf8_lossy(&done.stderr))),
        }
    }
    Ok(())
}

fn run(program: &str, arguments: &[&str]) -> Result<(), String> {
    let output =
        Command::new(program).args(arguments).output().map_err(|error| format!("{program}: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    output.status.success().then_some(()).ok_or_else(|| format!("{program} {arguments:?}: {said}"))
}

/// A relay on this machine to a server, which holds back whatever the server says for a time: the way there is free.
pub struct Relay {
    /// The port to connect to, on the loopback.
    pub port: u16,
}

impl Relay {
    /// Relays to an address until the test's process ends.
    pub fn to(server: String, delay: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port for a relay");
        let port = listener.local_addr().expect("its address").port();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let server = TcpStream::connect(&server).expect("the server behind the relay");
                client.set_nodelay(true).and_then(|()| server.set_nodelay(true)).expect("sockets");
                let (to, from) =
                    (server.try_clone().expect("a socket"), client.try_clone().expect("a socket"));
                std::thread::spawn(move || pass_on(client, to, Duration::ZERO));
                std::thread::spawn(move || pass_on(server, from, delay));
            }
        });
        Relay { port }
    }
}

/// Passes on what comes, each piece a time after it came. Pieces do not wait for one another.
fn pass_on(mut from: TcpStream, mut to: TcpStream, delay: Duration) {
    use std::io::{Read, Write};
    let (sender, receiver) = std::sync::mpsc::channel::<(Instant, Vec<u8>)>();
    std::thread::spawn(move || {
        for (due, piece) in receiver {
            sleep(due.saturating_duration_since(Instant::now()));
            if to.write_all(&piece).is_err() {
                break;
            }
        }
        let _ = to.shutdown(std::net::Shutdown::Write);
    });
    let mut buffer = vec![0; 64 << 10];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        if sender.send((Instant::now() + delay, buffer[..count].to_vec())).is_err() {
            break;
        }
    }
}
