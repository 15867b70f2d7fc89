//! Record sets of a HostedZone snapshot as canonical lines of JSON (`server/hosted/content.py`), as far as they are plain.
//!
//! Owns what of a line is plain: sets of the common types, with names and texts that hold nothing to escape. All others are Python's.
#![forbid(unsafe_code)]

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::master::{CNAME, MX, NS};
use crate::name::MOST_OCTETS;

const TTL_MAX_S: u32 = (1 << 31) - 1;
const LONGEST_LABEL: usize = 63;
const LONGEST_STRING: usize = 255;
const A: u16 = 1;
const TXT: u16 = 16;
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
        self.rdatas.clear();
        let mut rest = line.strip_prefix(b"{")?;
        let bodies: [(&[u8], u16); 4] = [
            (b"\"a\":{\"addresses\":[", A),
            (b"\"aaaa\":{\"addresses\":[", AAAA),
            (b"\"cname\":{\"target\":", CNAME),
            (b"\"mx\":{\"records\":[", MX),
        ];
        self.rdtype = TXT;
        for (head, rdtype) in bodies {
            if let Some(body) = rest.strip_prefix(head) {
                self.rdtype = rdtype;
                rest = self.body(body)?.strip_prefix(b"},")?;
                break;
            }
        }
        let (name, behind) = word(rest.strip_prefix(b"\"name\":")?)?;
        self.put_owner(name, origin)?;
        rest = behind;
        if let Some(body) = rest.strip_prefix(b",\"ns\":{\"nameServers\":[").filter(|_| self.rdtype == TXT) {
            self.rdtype = NS;
            rest = self.body(body)?.strip_prefix(b"}")?;
        }
        let (ttl_s, behind) = number(rest.strip_prefix(b",\"ttl\":")?)?;
        self.ttl_s = u32::try_from(ttl_s).ok().filter(|seconds| *seconds <= TTL_MAX_S)?;
        rest = behind;
        if self.rdtype == TXT {
            rest = self.body(rest.strip_prefix(b",\"txt\":{\"values\":[")?)?.strip_prefix(b"}")?;
        }
        let end: &[u8] = match self.rdtype {
            A => b"A\"}",
            AAAA => b"AAAA\"}",
            CNAME => b"CNAME\"}",
            MX => b"MX\"}",
            NS => b"NS\"}",
            _ => b"TXT\"}",
        };
        (rest.strip_prefix(b",\"type\":\"")? == end).then_some(())
    }

    /// Reads the values of the body and what ends it but for its brace; returns what follows.
    fn body<'a>(&mut self, mut rest: &'a [u8]) -> Option<&'a [u8]> {
        if self.rdtype == CNAME {
            let (target, rest) = word(rest)?;
            self.rdatas.push(name(target)?);
            return Some(rest);
        }
        loop {
            let (rdata, behind) = match self.rdtype {
                MX => exchange(rest)?,
                rdtype => {
                    let (word, behind) = word(rest)?;
                    let rdata = match rdtype {
                        NS => name(word)?,
                        TXT => text(word),
                        _ => address(word, rdtype)?,
                    };
                    (rdata, behind)
                }
            };
            self.rdatas.push(rdata);
            match behind.split_first()? {
                (b',', behind) => rest = behind,
                (b']', behind) => return Some(behind),
                _ => return None,
            }
        }
    }

    fn put_owner(&mut self, text: &[u8], origin: &[u8]) -> Option<()> {
        self.owner.clear();
        if text != b"@" {
            let labels = match text.strip_prefix(b"*") {
                Some(rest) => {
                    self.owner.extend_from_slice(b"\x01*");
                    rest.strip_prefix(b".").or_else(|| rest.is_empty().then_some(rest))?
                }
                None => text,
            };
            if text != b"*" {
                put_labels(labels, &mut self.owner)?;
            }
        }
        self.owner.extend_from_slice(origin);
        (self.owner.len() <= MOST_OCTETS).then_some(())
    }
}

fn put_labels(text: &[u8], octets: &mut Vec<u8>) -> Option<()> {
    for label in text.split(|octet| *octet == b'.') {
        let is_plain = |octet: &u8| matches!(octet, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_');
        if !(1..=LONGEST_LABEL).contains(&label.len()) || !label.iter().all(is_plain) {
            return None;
        }
        octets.push(label.len() as u8);
        octets.extend_from_slice(label);
    }
    Some(())
}

/// An absolute name in wire form.
fn name(text: &[u8]) -> Option<Vec<u8>> {
    let mut octets = Vec::with_capacity(text.len() + 2);
    put_labels(text, &mut octets)?;
    octets.push(0);
    (octets.len() <= MOST_OCTETS).then_some(octets)
}

/// One mail exchange, and what follows it.
fn exchange(rest: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let (host, rest) = word(rest.strip_prefix(b"{\"exchange\":")?)?;
    let (preference, rest) = number(rest.strip_prefix(b",\"preference\":")?)?;
    let mut rdata = u16::try_from(preference).ok()?.to_be_bytes().to_vec();
    rdata.extend(name(host)?);
    Some((rdata, rest.strip_prefix(b"}")?))
}

/// A text as strings of the longest length.
fn text(word: &[u8]) -> Vec<u8> {
    let mut rdata = Vec::with_capacity(word.len() + 1 + word.len() / LONGEST_STRING);
    if word.is_empty() {
        rdata.push(0);
    }
    for string in word.chunks(LONGEST_STRING) {
        rdata.push(string.len() as u8);
        rdata.extend_from_slice(string);
    }
    rdata
}

/// A number as JSON has it, and what follows it.
fn number(octets: &[u8]) -> Option<(u64, &[u8])> {
    let digits = octets.iter().take_while(|octet| octet.is_ascii_digit()).count();
    let (text, rest) = octets.split_at(digits);
    let number = std::str::from_utf8(text).ok()?.parse().ok()?;
    (digits == 1 || text[0] != b'0').then_some((number, rest))
}

/// A string without escapes, and what follows it.
fn word(octets: &[u8]) -> Option<(&[u8], &[u8])> {
    let octets = octets.strip_prefix(b"\"")?;
    let end = octets.iter().position(|octet| matches!(octet, b'"' | b'\\') || *octet < b' ')?;
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
    fn sets_of_other_types_are_read() {
        let mut set = Set::default();
        let mut read = |line: &[u8]| set.read(line, b"\0").map(|()| (set.rdtype, set.rdatas.concat()));
        let found = [
            read(br#"{"cname":{"target":"x.test"},"name":"*.w","ttl":0,"type":"CNAME"}"#),
            read(br#"{"mx":{"records":[{"exchange":"m","preference":10}]},"name":"@","ttl":300,"type":"MX"}"#),
            read(br#"{"name":"*","ns":{"nameServers":["a","b"]},"ttl":300,"type":"NS"}"#),
            read(br#"{"name":"t","ttl":300,"txt":{"values":["hello",""]},"type":"TXT"}"#),
        ];
        let expected: [(u16, &[u8]); 4] =
            [(5, b"\x01x\x04test\0"), (15, b"\0\x0a\x01m\0"), (2, b"\x01a\0\x01b\0"), (16, b"\x05hello\0")];
        assert_eq!(found.map(Option::unwrap), expected.map(|(rdtype, rdata)| (rdtype, rdata.to_vec())));
    }

    #[test]
    fn other_lines_are_not() {
        let lines: [&[u8]; 4] = [
            br#"{"a":{"addresses":["10.0.0.01"]},"name":"x","ttl":300,"type":"A"}"#,
            br#"{"a":{"addresses":["10.0.0.1"]},"name":"x.*","ttl":300,"type":"A"}"#,
            br#"{"a":{"addresses":[]},"name":"x","ttl":300,"type":"A"}"#,
            br#"{"a":{"addresses":["10.0.0.1"]},"name":"x","ttl":300,"type":"AAAA"}"#,
        ];
        assert!(lines.iter().all(|line| Set::default().read(line, b"\0").is_none()));
    }
}
