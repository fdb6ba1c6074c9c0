//! Services, clients and the reports' own programs over this machine's loopback.

use crate::tier::{Outcome, Test, beside, skipped};
use fathom::peer::ports;
use fathom::peer::service::{Enough, StreamOptions, Transport, serve};
use fathom::peer::{Place, Running, Service};
use fathom::remote::deadline::Deadline;
use fathom::remote::trusted_port;
use fathom::remote::wire::{TIMEOUT, Wire};
use fathom::replicate::report_003::network;
use fathom::verify::opinions::tool_runner;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

pub const TESTS: &[Test] = &beside![
    clients_are_served_beside_each_other,
    what_is_sent_comes_back_and_is_counted_and_nothing_listens_afterwards,
    a_sink_counts_every_byte_of_every_stream_and_ends_them_when_they_are_read,
    a_sink_reads_when_it_was_told_to,
    a_sink_that_acknowledges_answers_whole_messages_only,
    a_source_writes_at_least_what_is_enough_and_says_that_it_was_all,
    a_source_that_is_acknowledged_waits_for_its_client,
    datagrams_of_another_size_are_not_counted,
    connections_that_end_gracefully_are_told_from_those_that_are_reset,
    buffers_are_as_large_as_asked_where_that_is_allowed,
    the_kernel_tells_its_ports_and_its_overflows,
    a_free_port_can_be_had,
    a_connection_comes_from_a_trusted_port_where_this_process_may_use_one,
    a_server_that_hangs_one_that_leaves_and_none_are_reasons,
    the_kernel_counts_what_is_received,
    all_bytes_of_every_buffer_of_report_003_are_received,
    every_connection_of_report_003_is_opened_and_ended,
    the_echo_server_of_report_003_says_back_to_each_client_what_it_said,
];

const STREAM: StreamOptions = StreamOptions { chunk: 1000, buffers: None };

/// A listener on loopback.
fn listener() -> Outcome<TcpListener> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let reached = listener.and_then(|listener| {
        TcpStream::connect(listener.local_addr()?)?;
        listener.accept()?;
        Ok(listener)
    });
    reached.or_else(|error| skipped(format!("a loopback interface that is up ({error})")))
}

fn begun(service: &Service) -> Outcome<(Running, (&'static str, u16))> {
    listener()?;
    let running = serve(service, &Place::loopback(None)).unwrap();
    let at = ("127.0.0.1", running.port());
    Ok((running, at))
}

fn clients_are_served_beside_each_other() -> Outcome {
    let (running, at) = begun(&Service::Echo { transport: Transport::Tcp, bytes: 1 })?;
    let connect = || {
        let stream = TcpStream::connect(at).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream
    };
    let (_first, mut second) = (connect(), connect());
    second.write_all(b"2").unwrap();
    let mut back = [0];
    second.read_exact(&mut back).expect("the second client is answered while the first is silent");
    assert_eq!(&back, b"2");
    assert_eq!(running.stop().connections, 2);
    Ok(())
}

fn what_is_sent_comes_back_and_is_counted_and_nothing_listens_afterwards() -> Outcome {
    for transport in [Transport::Tcp, Transport::Udp] {
        let (running, at) = begun(&Service::Echo { transport, bytes: 3 })?;
        let mut back = [0; 3];
        match transport {
            Transport::Tcp => {
                let mut stream = TcpStream::connect(at).unwrap();
                stream.write_all(b"abc").unwrap();
                stream.read_exact(&mut back).unwrap();
            }
            Transport::Udp => {
                let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
                socket.send_to(b"abc", at).unwrap();
                socket.recv_from(&mut back).unwrap();
            }
        }
        assert_eq!(&back, b"abc");
        let report = running.stop();
        assert_eq!((report.messages, report.received_bytes, report.failure), (1, 3, None));
        // Another test's listener may have been given the TCP port of the same number.
        if transport == Transport::Udp {
            UdpSocket::bind(at).expect("the port is free again");
        }
    }
    Ok(())
}

fn a_sink_counts_every_byte_of_every_stream_and_ends_them_when_they_are_read() -> Outcome {
    let (running, at) = begun(&Service::Sink { stream: STREAM, acknowledged: None, reads_after_ns: 0 })?;
    for bytes in [100_000, 23] {
        let mut stream = TcpStream::connect(at).unwrap();
        stream.write_all(&vec![7; bytes]).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        assert_eq!(stream.read(&mut [0]).unwrap(), 0, "the sink has read it all");
    }
    let report = running.stop();
    assert_eq!((report.connections, report.received_bytes), (2, 100_023));
    assert_eq!(report.arrivals.last().unwrap().bytes, 100_023);
    assert!(report.arrivals.is_sorted_by_key(|arrival| (arrival.at_ns, arrival.bytes)));
    Ok(())
}

fn a_sink_reads_when_it_was_told_to() -> Outcome {
    let wait = Duration::from_millis(30);
    let reads_after_ns = wait.as_nanos() as u64;
    let (running, at) = begun(&Service::Sink { stream: STREAM, acknowledged: None, reads_after_ns })?;
    let mut stream = TcpStream::connect(at).unwrap();
    stream.write_all(&[1; 5000]).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(stream.read(&mut [0]).unwrap(), 0);
    let report = running.stop();
    assert_eq!(report.received_bytes, 5000);
    // Never before, however late on a busy machine.
    assert!(report.arrivals[0].at_ns >= reads_after_ns, "{report:?}");
    Ok(())
}

fn a_sink_that_acknowledges_answers_whole_messages_only() -> Outcome {
    let (running, at) =
        begun(&Service::Sink { stream: STREAM, acknowledged: Some(2500), reads_after_ns: 0 })?;
    let mut stream = TcpStream::connect(at).unwrap();
    for _ in 0..3 {
        stream.write_all(&[7; 2500]).unwrap();
        stream.read_exact(&mut [0]).unwrap();
    }
    stream.write_all(&[7; 2499]).unwrap();
    drop(stream);
    let report = running.stop();
    assert_eq!((report.messages, report.received_bytes), (3, 7500));
    Ok(())
}

fn a_source_writes_at_least_what_is_enough_and_says_that_it_was_all() -> Outcome {
    let enough = Enough { ns: 1_000_000, bytes: 50_500 };
    let (running, at) =
        begun(&Service::Source { stream: STREAM, enough, acknowledged: false, begins_before: false })?;
    let mut all = vec![];
    TcpStream::connect(at).unwrap().read_to_end(&mut all).unwrap();
    let report = running.stop();
    assert!(all.len() >= 51_000 && all.len() % 1000 == 0, "{}", all.len());
    assert_eq!(report.sent_bytes, all.len() as u64);
    Ok(())
}

fn a_source_that_is_acknowledged_waits_for_its_client() -> Outcome {
    let enough = Enough { ns: 0, bytes: 0 };
    let (running, at) =
        begun(&Service::Source { stream: STREAM, enough, acknowledged: true, begins_before: false })?;
    let mut stream = TcpStream::connect(at).unwrap();
    for _ in 0..3 {
        stream.write_all(&[1]).unwrap();
        stream.read_exact(&mut [0; 1000]).unwrap();
    }
    assert_eq!(running.stop().sent_bytes, 3000);
    Ok(())
}

fn datagrams_of_another_size_are_not_counted() -> Outcome {
    let (running, at) = begun(&Service::Datagrams { bytes: 100 })?;
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    for bytes in [100, 99, 100, 101, 0] {
        socket.send_to(&vec![7; bytes], at).unwrap();
    }
    // Loopback delivers in order, and the service reads in order: the wake-up comes after them.
    let report = running.stop();
    assert_eq!((report.messages, report.received_bytes), (2, 200));
    Ok(())
}

fn connections_that_end_gracefully_are_told_from_those_that_are_reset() -> Outcome {
    let (running, at) = begun(&Service::Accept)?;
    for graceful in [true, false, true] {
        let mut stream = TcpStream::connect(at).unwrap();
        stream.read_exact(&mut [0]).unwrap();
        if graceful {
            stream.shutdown(Shutdown::Write).unwrap();
            assert_eq!(stream.read(&mut [0]).unwrap(), 0);
        } else {
            socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
        }
    }
    let report = running.stop();
    assert_eq!((report.connections, report.messages), (3, 2));
    Ok(())
}

fn buffers_are_as_large_as_asked_where_that_is_allowed() -> Outcome {
    let asked = 64 << 20;
    let limit = |name: &str| {
        let text = std::fs::read_to_string(format!("/proc/sys/net/core/{name}")).unwrap_or_default();
        text.trim().parse::<usize>().unwrap_or(0)
    };
    let options = StreamOptions { chunk: 1, buffers: Some(asked) };
    let at = listener()?.local_addr().unwrap();
    let socket = options.socket(at).unwrap();
    let granted = [socket.send_buffer_size().unwrap(), socket.recv_buffer_size().unwrap()];
    if granted.iter().all(|bytes| *bytes >= asked as usize) {
        return Ok(());
    }
    // Without the right to exceed it, twice the limit is all that is granted (socket(7)).
    let limits = [limit("wmem_max"), limit("rmem_max")];
    assert_eq!(granted, limits.map(|limit| 2 * limit), "neither what was asked for nor the limits");
    skipped("needs CAP_NET_ADMIN: without it buffers end at the kernel's limits")
}

fn the_kernel_tells_its_ports_and_its_overflows() -> Outcome {
    let (first, last) = ports::range();
    assert!(first < last && last < 65_536);
    assert!(ports::backlog_overflows().is_some());
    Ok(())
}

fn a_free_port_can_be_had() -> Outcome {
    listener()?;
    assert!(tool_runner::free_port().unwrap() > 1023);
    Ok(())
}

fn a_connection_comes_from_a_trusted_port_where_this_process_may_use_one() -> Outcome {
    let server = listener()?;
    let timeout = Duration::from_secs(1);
    assert!(trusted_port::connect(&"[::1]:1".parse().unwrap(), timeout).is_none());
    let may = trusted_port::PORTS.into_iter().any(|port| TcpListener::bind(("127.0.0.1", port)).is_ok());
    match trusted_port::connect(&server.local_addr().unwrap(), timeout) {
        Some(stream) => {
            assert!(trusted_port::PORTS.contains(&stream.local_addr().unwrap().port()));
            Ok(())
        }
        None if may => panic!("such a port may be used, and was not"),
        None => skipped("needs root: ports below 1024"),
    }
}

/// A server that runs `serve` on one connection; returns its port.
fn server(serve: impl FnOnce(TcpStream) + Send + 'static) -> Outcome<u16> {
    let listener = listener()?;
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || serve(listener.accept().unwrap().0));
    Ok(port)
}

fn a_server_that_hangs_one_that_leaves_and_none_are_reasons() -> Outcome {
    let hung = server(|_stream| std::thread::sleep(TIMEOUT * 2))?;
    let left = server(drop)?;
    let ask = |port| {
        let wire = Wire::connect("127.0.0.1", port, Deadline::within(TIMEOUT * 4));
        wire.and_then(|mut wire| wire.take(1).map(drop)).unwrap_err().to_string()
    };
    assert!(ask(hung).contains("no answer within"));
    assert!(ask(left).contains("closed by the other side"));
    let nobody = listener()?.local_addr().unwrap().port();
    assert!(ask(nobody).contains("refused"));
    Ok(())
}

fn the_kernel_counts_what_is_received() -> Outcome {
    let port = server(|mut stream| stream.write_all(&[7; 1000]).unwrap())?;
    let mut wire = Wire::connect("127.0.0.1", port, Deadline::within(TIMEOUT * 4)).unwrap();
    wire.take(1000).unwrap();
    // The end of a stream counts as a byte.
    assert!((1000..=1001).contains(&wire.received().unwrap()), "{:?}", wire.received());
    Ok(())
}

fn all_bytes_of_every_buffer_of_report_003_are_received() -> Outcome {
    let listener = listener()?;
    let address = listener.local_addr().unwrap();
    let client = std::thread::spawn(move || network::send_all(address, 1));
    for size in network::SIZES {
        let mut buffer = vec![0; size];
        let (rate, _) = network::received(&listener, &mut buffer).unwrap();
        assert!(rate > 0.0 && buffer.iter().all(|byte| *byte == 0x5a), "{size}");
    }
    client.join().unwrap().unwrap();
    Ok(())
}

fn every_connection_of_report_003_is_opened_and_ended() -> Outcome {
    let listener = listener()?;
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        // Each is closed, not reset: its stream ends.
        let mut ends = 0;
        while listener.accept().unwrap().0.read(&mut [0]).unwrap() == 0 {
            ends += 1;
        }
        ends
    });
    let series = network::connections(address, false).unwrap();
    TcpStream::connect(address).unwrap().write_all(b"x").unwrap();
    let ends = server.join().unwrap();
    assert!(ends > 0);
    for trials in &series.points {
        assert!(trials.values.len() == ends && trials.values.iter().all(|ns| *ns > 0.0), "{trials:?}");
    }
    Ok(())
}

fn the_echo_server_of_report_003_says_back_to_each_client_what_it_said() -> Outcome {
    let listener = listener()?;
    let address = listener.local_addr().unwrap();
    // Ends with the test's process.
    std::thread::spawn(move || network::echo_server(&listener));
    let mut clients = [1_u8, 2].map(|number| (number, TcpStream::connect(address).unwrap()));
    for (number, client) in &mut clients {
        client.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        client.write_all(&[*number; 9]).unwrap();
        let mut echo = [0; 9];
        client.read_exact(&mut echo).unwrap();
        assert_eq!(echo, [*number; 9]);
    }
    let [(_, first), (_, second)] = clients;
    drop(first);
    assert_eq!(network::conversation(second).unwrap().points[0].values.len(), 100);
    Ok(())
}
