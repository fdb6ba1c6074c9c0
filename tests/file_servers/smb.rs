//! SMB 2.1 (MS-SMB2) for whoever comes, without a signature under anything.

pub const HEADER: usize = 64;

const MORE: u32 = 0xc000_0016;

/// The answer to a request, without its frame.
pub fn answer(request: &[u8]) -> Vec<u8> {
    let command = request.get(12..14).map_or(0, |bytes| u16::from_le_bytes(bytes.try_into().unwrap()));
    let (status, body) = match command {
        0 => (0, negotiated()),
        // The first message of the log-in has its kind, 1, behind its signature.
        1 if request.get(HEADER + 24 + 8) == Some(&1) => (MORE, challenged()),
        1 => (0, vec![9, 0, 0, 0, 72, 0, 0, 0]),
        5 => (0, opened()),
        8 => (0, data(request)),
        _ => (0, vec![0; 64]),
    };
    message(request, status, &body)
}

/// A message that answers a request.
pub fn message(request: &[u8], status: u32, body: &[u8]) -> Vec<u8> {
    let mut message = request.get(..HEADER).map_or(vec![0; HEADER], <[u8]>::to_vec);
    message[8..12].copy_from_slice(&status.to_le_bytes());
    message[14..16].copy_from_slice(&512_u16.to_le_bytes());
    message[16..20].copy_from_slice(&1_u32.to_le_bytes());
    message[36..48].copy_from_slice(&[3, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0]);
    message[48..HEADER].fill(0);
    [&message, body].concat()
}

/// Signing may be and need not; dialect 2.1; more than 64 KiB at once.
fn negotiated() -> Vec<u8> {
    let mut body = vec![65, 0, 1, 0, 0x10, 0x02];
    body.resize(24, 0);
    for number in [4_u32, 1 << 20, 1 << 20, 1 << 20] {
        body.extend(number.to_le_bytes());
    }
    body.resize(64, 0);
    body
}

/// What the server asks whoever logs in (MS-NLMP).
fn challenged() -> Vec<u8> {
    let mut token = b"NTLMSSP\0".to_vec();
    token.extend(2_u32.to_le_bytes());
    token.resize(24, 0);
    token.extend([1; 8]);
    token.resize(40, 0);
    token.extend([12, 0, 12, 0, 48, 0, 0, 0]);
    token.extend([7, 0, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
    [&[9, 0, 0, 0, 72, 0, token.len() as u8, 0][..], &token].concat()
}

fn opened() -> Vec<u8> {
    let mut body = vec![0; 48];
    body[0] = 89;
    body.extend(super::SIZE.to_le_bytes());
    body.extend(0x80_u32.to_le_bytes());
    body.resize(body.len() + 4, 0);
    body.extend([9; 16]);
    body.resize(96, 0);
    body
}

fn data(request: &[u8]) -> Vec<u8> {
    let count = request.get(HEADER + 4..HEADER + 8);
    let count = count.map_or(0, |bytes| u32::from_le_bytes(bytes.try_into().unwrap())).min(1 << 20);
    let head = [&[17, 0, 80, 0][..], &count.to_le_bytes(), &[0; 8]].concat();
    [head, vec![7; count as usize]].concat()
}
