//! A stream of bytes to a server, with a limit on every wait, and number formats of the protocols.

use super::deadline::Deadline;
use super::trusted_port;
use fathom_core::experiment::Failure;
use std::io::{BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Time after which a server that does not answer counts as gone.
pub const TIMEOUT: Duration = Duration::from_secs(5);

/// A stream of either kind.
trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

/// A connection to a server.
pub struct Wire {
    stream: BufReader<Box<dyn Stream>>,
    server: String,
    deadline: Deadline,
    /// The socket, if it is a TCP socket; owned by the stream.
    tcp: Option<RawFd>,
}

impl Wire {
    /// Connects to a server by TCP, at the first of its addresses that answers. Small requests are not delayed (`TCP_NODELAY`):
    /// otherwise a request would wait for the delayed acknowledgement of the one before.
    pub fn connect(host: &str, port: u16, deadline: Deadline) -> Result<Self, Failure> {
        let server = format!("{host} port {port}");
        let broke = |error: std::io::Error| Failure::Broke(format!("{server}: {error}"));
        let mut last = None;
        for address in (host, port).to_socket_addrs().map_err(broke)? {
            match TcpStream::connect_timeout(&address, deadline.remaining(TIMEOUT)?) {
                Ok(stream) => return Wire::over_tcp(stream, server.clone(), deadline).map_err(broke),
                Err(error) => last = Some(error),
            }
        }
        Err(last.map_or_else(|| Failure::Broke(format!("{server}: the name has no address")), broke))
    }

    /// As [`Wire::connect`], from a port below 1024 if this process may: Sun's servers trust such ports.
    pub fn connect_as_superuser(host: &str, port: u16, deadline: Deadline) -> Result<Self, Failure> {
        let server = format!("{host} port {port}");
        let addresses: Vec<SocketAddr> = (host, port).to_socket_addrs().into_iter().flatten().collect();
        let timeout = deadline.remaining(TIMEOUT)?;
        let trusted = addresses.iter().find_map(|address| trusted_port::connect(address, timeout));
        match trusted.map(|stream| Wire::over_tcp(stream, server, deadline)) {
            Some(Ok(wire)) => Ok(wire),
            _ => Wire::connect(host, port, deadline),
        }
    }

    fn over_tcp(stream: TcpStream, server: String, deadline: Deadline) -> std::io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        let tcp = Some(stream.as_raw_fd());
        Ok(Wire { tcp, ..Wire::new(stream, server, deadline) })
    }

    /// The near end of a program that is connected to the server.
    pub fn through(stream: UnixStream, server: String, deadline: Deadline) -> std::io::Result<Self> {
        // The first answer of a program includes name resolution, key exchange and log-in.
        stream.set_read_timeout(Some(TIMEOUT * 3))?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        Ok(Wire::new(stream, server, deadline))
    }

    fn new(stream: impl Read + Write + 'static, server: String, deadline: Deadline) -> Self {
        Wire { stream: BufReader::with_capacity(16 << 10, Box::new(stream)), server, deadline, tcp: None }
    }

    pub fn send(&mut self, message: &[u8]) -> Result<(), Failure> {
        let mut sent = 0;
        while sent < message.len() {
            match self.stream.get_mut().write(&message[sent..]) {
                Ok(0) => return Err(self.lost(&ErrorKind::BrokenPipe.into())),
                Ok(some) => sent += some,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.lost(&error)),
            }
            if sent < message.len() {
                self.ensure_time()?;
            }
        }
        Ok(())
    }

    /// Fills `into` with the next bytes. The clock, which takes time to read, is read only when waiting for the server.
    pub fn receive(&mut self, into: &mut [u8]) -> Result<(), Failure> {
        let mut filled = 0;
        while filled < into.len() {
            if self.stream.buffer().is_empty() {
                self.ensure_time()?;
            }
            match self.stream.read(&mut into[filled..]) {
                Ok(0) => return Err(self.lost(&ErrorKind::UnexpectedEof.into())),
                Ok(some) => filled += some,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.lost(&error)),
            }
        }
        Ok(())
    }

    /// Fails if the deadline has passed.
    fn ensure_time(&self) -> Result<(), Failure> {
        self.deadline.remaining(TIMEOUT).map(drop).map_err(|late| self.says(&late.to_string()))
    }

    /// The next `count` bytes.
    pub fn take(&mut self, count: usize) -> Result<Vec<u8>, Failure> {
        let mut bytes = vec![0; count];
        self.receive(&mut bytes)?;
        Ok(bytes)
    }

    /// Bytes that the kernel has received over the connection (`tcpi_bytes_received` of tcp(7), since Linux 4.1); `None` if it
    /// does not tell, or another program holds the connection.
    pub fn received(&self) -> Option<u64> {
        /// Offset of the count in `struct tcp_info` (linux/tcp.h), to which fields are only appended.
        const PLACE: usize = 128;
        let mut info = [0_u8; PLACE + 8];
        let mut length = info.len() as libc::socklen_t;
        // SAFETY: the socket is open as long as `self` lives; `info` has room for `length` bytes.
        let code = unsafe {
            let place = info.as_mut_ptr().cast();
            libc::getsockopt(self.tcp?, libc::IPPROTO_TCP, libc::TCP_INFO, place, &raw mut length)
        };
        let count = info[PLACE..].first_chunk()?;
        (code == 0 && length as usize == info.len()).then(|| u64::from_ne_bytes(*count))
    }

    pub fn server(&self) -> &str {
        &self.server
    }

    fn lost(&self, error: &std::io::Error) -> Failure {
        let what = match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                format!("no answer within {} seconds", TIMEOUT.as_secs())
            }
            ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => {
                "the connection was closed by the other side".to_owned()
            }
            _ => error.to_string(),
        };
        self.says(&what)
    }

    fn says(&self, what: &str) -> Failure {
        Failure::Broke(format!("{}: {what}", self.server))
    }
}

/// A message of a server, parsed from front to back; messages that are too short are errors, never panics.
pub struct Message<'bytes> {
    rest: &'bytes [u8],
}

impl<'bytes> Message<'bytes> {
    /// A parser at the start of a message.
    pub fn new(bytes: &'bytes [u8]) -> Self {
        Message { rest: bytes }
    }

    /// The next `count` bytes.
    pub fn bytes(&mut self, count: usize) -> Result<&'bytes [u8], Failure> {
        let (bytes, rest) = self
            .rest
            .split_at_checked(count)
            .ok_or_else(|| Failure::Broke("the server sent a message that ends too soon".to_owned()))?;
        self.rest = rest;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Failure> {
        let mut array = [0; N];
        array.copy_from_slice(self.bytes(N)?);
        Ok(array)
    }

    /// A big-endian 32-bit number, as in SSH and Sun's protocols.
    pub fn u32(&mut self) -> Result<u32, Failure> {
        self.array().map(u32::from_be_bytes)
    }

    /// A big-endian 64-bit number.
    pub fn u64(&mut self) -> Result<u64, Failure> {
        self.array().map(u64::from_be_bytes)
    }

    /// A little-endian 16-bit number, as in Microsoft's protocols.
    pub fn u16_le(&mut self) -> Result<u16, Failure> {
        self.array().map(u16::from_le_bytes)
    }

    /// A little-endian 32-bit number.
    pub fn u32_le(&mut self) -> Result<u32, Failure> {
        self.array().map(u32::from_le_bytes)
    }

    /// A little-endian 64-bit number.
    pub fn u64_le(&mut self) -> Result<u64, Failure> {
        self.array().map(u64::from_le_bytes)
    }

    pub fn counted(&mut self) -> Result<&'bytes [u8], Failure> {
        let count = self.u32()? as usize;
        self.bytes(count)
    }

    /// The remaining bytes.
    pub fn rest(&self) -> &'bytes [u8] {
        self.rest
    }
}
