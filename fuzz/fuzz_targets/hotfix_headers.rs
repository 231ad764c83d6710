//! Any bytes as a header block of HTTP/2: bounded by the block; accepted as a whole or rejected.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mooring_agent::hotfix::grpc::decode_headers;

fuzz_target!(|input: &[u8]| {
    if let Ok(headers) = decode_headers(input) {
        assert!(headers.len() <= input.len());
        // The shortest code of Huffman has five bits; names of the static table have twelve bytes at most.
        let total: usize = headers.iter().map(|(name, value)| name.len() + value.len()).sum();
        assert!(total <= input.len() * 8 / 5 + headers.len() * 15);
        let twice = decode_headers(&[input, input].concat()).expect("no state is kept");
        assert_eq!(twice, [headers.clone(), headers].concat());
    }
});
