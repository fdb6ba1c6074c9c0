//! NFS 3 with its mount protocol (RFC 1813) over one port.

const MOUNT: u32 = 100_005;

/// Counted bytes, filled up to a multiple of four.
fn opaque(bytes: &[u8]) -> Vec<u8> {
    let mut counted = [&(bytes.len() as u32).to_be_bytes(), bytes].concat();
    counted.resize(counted.len().next_multiple_of(4), 0);
    counted
}

fn numbers(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_be_bytes()).collect()
}

fn number(request: &[u8], place: usize) -> u32 {
    request.get(place..place + 4).map_or(0, |bytes| u32::from_be_bytes(bytes.try_into().unwrap()))
}

/// The answer to a call, without its frame.
pub fn answer(request: &[u8]) -> Vec<u8> {
    let (number_of_call, program, procedure) = (number(request, 0), number(request, 12), number(request, 20));
    let handle = opaque(b"a handle");
    let results = match (program, procedure) {
        (MOUNT, 5) => [numbers(&[1]), opaque(b"/srv"), numbers(&[0, 0])].concat(),
        (MOUNT, _) => [numbers(&[0]), handle, numbers(&[0])].concat(),
        (_, 0) => vec![],
        (_, 1) => attributes(request),
        (_, 3) => [numbers(&[0]), handle, numbers(&[0, 0])].concat(),
        (_, 6) => data(request),
        (_, 7) => numbers(&[0, 0, 0, written(request), 2, 0, 0]),
        (_, 8) => [numbers(&[0, 1]), handle, numbers(&[0, 0, 0])].concat(),
        (_, 19) => numbers(&[0, 0, 65_536, 65_536, 4096, 65_536, 65_536, 4096, 4096, 0, 0, 0, 0, 0]),
        _ => numbers(&[0]),
    };
    [numbers(&[number_of_call, 1, 0, 0, 0, 0]), results].concat()
}

/// Where the arguments of a call begin: behind the credentials and the empty verifier.
fn arguments(request: &[u8]) -> usize {
    32 + number(request, 28) as usize + 8
}

/// Of a file, or of the folder above it where no name was looked up: the handles are all the same, so a file.
fn attributes(_: &[u8]) -> Vec<u8> {
    let size = super::SIZE;
    let mut attributes = numbers(&[0, 1, 0o644, 1, 0, 0, (size >> 32) as u32, size as u32]);
    attributes.resize(4 + 84, 0);
    attributes
}

fn data(request: &[u8]) -> Vec<u8> {
    let handle = arguments(request);
    let place = handle + 4 + (number(request, handle) as usize).next_multiple_of(4) + 8;
    let count = number(request, place).min(1 << 20);
    [numbers(&[0, 0, count, 0]), opaque(&vec![7; count as usize])].concat()
}

fn written(request: &[u8]) -> u32 {
    let handle = arguments(request);
    number(request, handle + 4 + (number(request, handle) as usize).next_multiple_of(4) + 8)
}

/// A record of one fragment, the last.
pub fn framed(body: &[u8]) -> Vec<u8> {
    [&(body.len() as u32 | 1 << 31).to_be_bytes(), body].concat()
}
