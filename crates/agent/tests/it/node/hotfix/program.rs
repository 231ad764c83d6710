//! The smallest program that prints a text: an ELF file made by hand, so that no compiler is needed.

/// A program for this machine.
pub(super) fn printing(text: &str) -> Vec<u8> {
    let (machine, code) = if cfg!(target_arch = "aarch64") {
        (0xb7, arm64(text.len()))
    } else {
        (0x3e, x86_64(text.len()))
    };
    build(machine, &code, text)
}

/// A program for another machine.
pub(super) fn foreign(text: &str) -> Vec<u8> {
    build(0xf3, &x86_64(text.len()), text)
}

fn build(machine: u8, code: &[u8], text: &str) -> Vec<u8> {
    const BASE: u64 = 0x40_0000;
    const HEADERS: u64 = 64 + 56;
    let size = HEADERS + (code.len() + text.len()) as u64;
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0".to_vec();
    file.extend([machine, 0, 1, 0, 0, 0]);
    for number in [BASE + HEADERS, 64, 0] {
        file.extend(number.to_le_bytes());
    }
    file.extend([0; 4]);
    for half in [64_u16, 56, 1, 0, 0, 0] {
        file.extend(half.to_le_bytes());
    }
    // One segment, the whole file: readable and executable.
    file.extend([1, 0, 0, 0, 5, 0, 0, 0]);
    for number in [0, BASE, BASE, size, size, 0x1000] {
        file.extend(number.to_le_bytes());
    }
    file.extend(code);
    file.extend(text.as_bytes());
    file
}

/// write(1, text, length); exit(0)
fn x86_64(length: usize) -> Vec<u8> {
    let mut code = vec![0xbf, 1, 0, 0, 0, 0x48, 0x8d, 0x35, 21, 0, 0, 0, 0xba];
    code.extend(u32::try_from(length).unwrap().to_le_bytes());
    code.extend([0xb8, 1, 0, 0, 0, 0x0f, 0x05, 0x31, 0xff, 0xb8, 60, 0, 0, 0, 0x0f, 0x05]);
    code
}

fn arm64(length: usize) -> Vec<u8> {
    let length = 0xd280_0002 | u32::try_from(length).unwrap() << 5;
    [
        0xd280_0020,
        0x1000_00e1,
        length,
        0xd280_0808,
        0xd400_0001,
        0xd280_0000,
        0xd280_0ba8,
        0xd400_0001,
    ]
    .iter()
    .flat_map(|word: &u32| word.to_le_bytes())
    .collect()
}
