//! Record sets of a HostedZone snapshot as canonical lines of JSON (`server/hosted/content.py`), as far as they are plain addresses.
//!
//! Owns what of a line is plain: sets of A and AAAA records, their names without anything to escape. All others are Python's.
#![forbid(unsafe_code)]

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::name::MOST_OCTETS;

const TTL_MAX_S: u32 = (1 << 31) - 1;
const LONGEST_LABEL: usize = 63;
const A: u16 = 1;
const AAAA: u16 = 28;

/// One set, used again for every line.
#[derive(Default)]
pub struct Set {
    pub owner: Vec<u8>,
    pub rdtype: u16,
    pub ttl_s: u32,
    pub rdatas: Vec<Vec<u8>>,
}

impl Set {
    /// Reads a line of a zone; None for one that is not understood to the last octet.
    pub fn read(&mut self, line: &[u8], origin: &[u8]) -> Option<()> {
        let (rest, rdtype) = match line.strip_prefix(b"{\"a\":{\"addresses\":[") {
            Some(rest) => (rest, A),
            None => (line.strip_prefix(b"{\"aaaa\":{\"addresses\":[")?, AAAA),
        };
        self.rdtype = rdtype;
        self.rdatas.clear();
        let mut rest = rest;
        loop {
            let (word, behind) = word(rest)?;
            self.rdatas.push(address(word, rdtype)?);
            match behind.split_first()? {
                (b',', behind) => rest = behind,
                (b']', behind) => {
                    rest = behind;
                    break;
                }
                _ => return None,
            }
        }
        let (name, rest) = word(rest.strip_prefix(b"},\"name\":")?)?;
        self.put_owner(name, origin)?;
        let rest = rest.strip_prefix(b",\"ttl\":")?;
        let digits = rest.iter().take_while(|octet| octet.is_ascii_digit()).count();
        let (ttl, rest) = rest.split_at(digits);
        self.ttl_s = std::str::from_utf8(ttl).ok()?.parse().ok().filter(|seconds| *seconds <= TTL_MAX_S)?;
        let end: &[u8] = if rdtype == A { b",\"type\":\"A\"}" } else { b",\"type\":\"AAAA\"}" };
        (rest == end && (digits == 1 || ttl[0] != b'0')).then_some(())
    }

    fn put_owner(&mut self, name: &[u8], origin: &[u8]) -> Option<()> {
        self.owner.clear();
        if name != b"@" {
            for label in name.split(|octet| *octet == b'.') {
                let is_plain = |octet: &u8| matches!(octet, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_');
                if !(1..=LONGEST_LABEL).contains(&label.len()) || !label.iter().all(is_plain) {
                    return None;
                }
                self.owner.push(label.len() as u8);
                self.owner.extend_from_slice(label);
            }
        }
        self.owner.extend_from_slice(origin);
        (self.owner.len() <= MOST_OCTETS).then_some(())
    }
}

/// A string without escapes, and what follows it.
fn word(octets: &[u8]) -> Option<(&[u8], &[u8])> {
    let octets = octets.strip_prefix(b"\"")?;
    let end = octets.iter().position(|octet| matches!(octet, b'"' | b'\\'))?;
    (octets[end] == b'"').then(|| (&octets[..end], &octets[end + 1..]))
}

fn address(word: &[u8], rdtype: u16) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(word).ok()?;
    if rdtype == A {
        return Some(text.parse::<Ipv4Addr>().ok()?.octets().to_vec());
    }
    let is_plain = word.iter().all(|octet| matches!(octet, b'0'..=b'9' | b'a'..=b'f' | b':'));
    Some(text.parse::<Ipv6Addr>().ok().filter(|_| is_plain)?.octets().to_vec())
}

#[cfg(test)]
mod tests {
    use super::Set;

    #[test]
    fn sets_of_addresses_are_read() {
        let mut set = Set::default();
        let line = br#"{"a":{"addresses":["10.0.0.1","10.0.0.2"]},"name":"h1.x","ttl":300,"type":"A"}"#;
        assert_eq!(set.read(line, b"\x04test\0"), Some(()));
        assert_eq!((&*set.owner, set.ttl_s, set.rdatas.len()), (b"\x02h1\x01x\x04test\0".as_slice(), 300, 2));
    }

    #[test]
    fn other_lines_are_not() {
        let lines: [&[u8]; 4] = [
            br#"{"a":{"addresses":["10.0.0.01"]},"name":"x","ttl":300,"type":"A"}"#,
            br#"{"a":{"addresses":["10.0.0.1"]},"name":"*.x","ttl":300,"type":"A"}"#,
            br#"{"a":{"addresses":[]},"name":"x","ttl":300,"type":"A"}"#,
            br#"{"a":{"addresses":["10.0.0.1"]},"name":"x","ttl":300,"type":"AAAA"}"#,
        ];
        assert!(lines.iter().all(|line| Set::default().read(line, b"\0").is_none()));
    }
}
