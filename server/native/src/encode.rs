//! Finished answers as octets: names compressed against the question and one another.
//!
//! The same encoder as `server/zone/encode.py`, octet for octet. Never decides what an answer contains.
#![forbid(unsafe_code)]

use crate::packed::{Parts, Trim};
use crate::record::{names_after, RecordWriter};

const HEADER: usize = 12;
const QUESTION_TAIL: usize = 4;
const POINTER: u16 = 0xC000;
/// The last place that a pointer can name, less the longest question name that may stand before it.
const REACH: usize = 0x3FFF - 255;
/// What no message is longer than.
const MOST_OCTETS: usize = 65535;
/// Pointers that one name may lead through (RFC 9267 section 2).
const MOST_HOPS: u8 = 8;

/// One set; data are uncompressed.
pub struct Set<'a> {
    pub owner: &'a [u8],
    pub rdtype: u16,
    pub ttl_s: u32,
    pub rdatas: &'a [&'a [u8]],
}

/// A name, in lower case, that stands somewhere in the message.
struct Known {
    start: usize,
    length: usize,
    /// Where, if the question name has no octets: suffixes of it may then stand before the header's end.
    place: i32,
    hops: u8,
}

/// Appends records behind a question; used again for each answer.
#[derive(Default)]
pub struct Encoder {
    pub body: Vec<u8>,
    pub moving: Vec<u16>,
    exact: bool,
    start: usize,
    octets: Vec<u8>,
    known: Vec<Known>,
    lowered: Vec<u8>,
}

impl Encoder {
    /// Begins an answer to questions whose name is `known` or, unless `exact`, ends in it.
    pub fn begin(&mut self, known: &[u8], exact: bool) {
        self.body.clear();
        self.moving.clear();
        self.octets.clear();
        self.known.clear();
        self.exact = exact;
        self.start = HEADER + QUESTION_TAIL + if exact { known.len() } else { 0 };
        let end = (self.start - QUESTION_TAIL) as i32;
        self.octets.extend_from_slice(known);
        let mut start = 0;
        while known[start] > 0 {
            let length = known.len() - start;
            self.known.push(Known { start, length, place: end - length as i32, hops: 0 });
            start += usize::from(known[start]) + 1;
        }
    }

    /// Appends a set and returns its number of records; `is_asked` says whether its owner is the question name.
    ///
    /// Ends with the record that takes the body past what any message holds.
    pub fn add(&mut self, set: &Set<'_>, is_asked: bool) -> u16 {
        let mut count = 0;
        for rdata in set.rdatas {
            if !self.may_fit() {
                break;
            }
            if is_asked {
                self.body.extend_from_slice(&[0xC0, 0x0C]);
            } else {
                self.put_name(set.owner);
            }
            self.put_behind_owner(set.rdtype, set.ttl_s, rdata);
            count += 1;
        }
        count
    }

    /// Whether a message may hold what has been appended: an answer with more is never sent whole.
    pub fn may_fit(&self) -> bool {
        self.body.len() <= MOST_OCTETS
    }

    /// What has been appended, as an answer.
    pub fn parts<'a>(&'a self, flags: u16, counts: [u16; 3], soa: bool, trims: &'a [Trim]) -> Parts<'a> {
        Parts { flags, counts, soa, body: &self.body, moving: &self.moving, trims }
    }

    fn find(&self, at: usize) -> Option<usize> {
        let suffix = &self.lowered[at..];
        self.known.iter().position(|known| {
            known.length == suffix.len() && self.octets[known.start..known.start + known.length] == *suffix
        })
    }

    /// Notes that names end in so many pointers, one after the other; at the bound nothing points to them any more.
    fn follow(&mut self, first: usize, hops: u8) {
        if hops < MOST_HOPS {
            self.known[first..].iter_mut().for_each(|known| known.hops = hops);
        } else {
            self.known.truncate(first);
        }
    }
}

impl RecordWriter for Encoder {
    fn body(&mut self) -> &mut Vec<u8> {
        &mut self.body
    }

    /// Writes a name, ending it in a pointer where a suffix of it stands in the message already.
    fn put_name(&mut self, name: &[u8]) {
        self.lowered.clear();
        self.lowered.extend_from_slice(name);
        self.lowered.make_ascii_lowercase();
        let first_fresh = self.known.len();
        let mut at = 0;
        while name[at] > 0 {
            if let Some(found) = self.find(at) {
                let (place, hops) = (self.known[found].place, self.known[found].hops);
                if !self.exact && self.may_fit() {
                    self.moving.push(self.body.len() as u16);
                }
                let pointer = POINTER.wrapping_add(place as u16);
                self.body.extend_from_slice(&pointer.to_be_bytes());
                self.follow(first_fresh, hops + 1);
                return;
            }
            let here = self.start + self.body.len();
            if here <= REACH {
                let start = self.octets.len();
                self.octets.extend_from_slice(&self.lowered[at..]);
                self.known.push(Known { start, length: name.len() - at, place: here as i32, hops: 0 });
            }
            let end = at + usize::from(name[at]) + 1;
            self.body.extend_from_slice(&name[at..end]);
            at = end;
        }
        self.body.push(0);
    }
}

/// Reads the uncompressed data of a record of the body of an answer to `question`, whose offsets do not move.
pub fn read_data(question: &[u8], body: &[u8], at: usize, size: usize, rdtype: u16) -> Vec<u8> {
    let data = &body[at..at + size];
    let Some((before, names)) = names_after(rdtype) else { return data.to_vec() };
    let mut found = data[..before].to_vec();
    let mut next = at + before;
    for _ in 0..names {
        next = read_name(question, body, next, &mut found);
    }
    found.extend_from_slice(&body[next..at + size]);
    found
}

/// Appends the name at a place of the body to `found`; returns where it ends.
fn read_name(question: &[u8], body: &[u8], at: usize, found: &mut Vec<u8>) -> usize {
    let behind = HEADER + question.len() + QUESTION_TAIL;
    let (mut octets, mut next, mut end) = (body, at, None);
    loop {
        let length = usize::from(octets[next]);
        if length >= 0xC0 {
            end = end.or(Some(next + 2));
            let place = (length & 0x3F) << 8 | usize::from(octets[next + 1]);
            (octets, next) = if place < behind { (question, place - HEADER) } else { (body, place - behind) };
            continue;
        }
        found.extend_from_slice(&octets[next..next + length + 1]);
        next += length + 1;
        if length == 0 {
            return end.unwrap_or(next);
        }
    }
}
