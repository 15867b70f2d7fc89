//! One query in, one reply out, in place: judge header, question and OPT, find the finished answer, put it behind the question.
//!
//! The same walk as `server/matcher.py`, octet for octet. Whatever is not plain is left to Python. Allocates nothing, locks nothing.
#![forbid(unsafe_code)]

use std::sync::Arc;

use crate::name::Name;
use crate::table::{Answer, Root, Tallies, Tally, Zone};

const HEADER: usize = 12;
const OPT: usize = 11;
const UDP_PLAIN_LIMIT: usize = 512;
const TCP_LIMIT: usize = 65535;
const TRUNCATED: u16 = 0x0200;
const RESPONSE: u16 = 0x8000;
const TYPE_OPT: u16 = 41;
const TYPE_DS: u16 = 43;

/// The longest packet or reply.
pub const CAPACITY: usize = 65536;

/// How to refuse a question whose name lies in no zone.
pub struct Refusal {
    pub flags: u16,
    /// The option that tells the reason.
    pub option: Box<[u8]>,
}

/// What is said beside what the zones say, and what is counted how.
pub struct Policy {
    /// The longest reply over UDP.
    pub payload: usize,
    /// Types without finished answers.
    pub computed: Box<[u16]>,
    /// The place of each type that is counted on its own; all others are counted at 0.
    pub slots: Box<[u16]>,
    pub not_ours: Refusal,
    pub not_ready: Refusal,
    /// Questions outside of all zones.
    pub elsewhere: Tallies,
}

impl Policy {
    fn count(&self, tally: &Tally, qtype: u16) {
        tally.add(self.slots.iter().position(|each| *each == qtype).map_or(0, |place| place + 1));
    }

    pub fn places(&self) -> usize {
        self.slots.len() + 1
    }
}

/// A reply that has been written, and what is needed to write a shorter one in its place.
pub struct Made {
    pub length: usize,
    frame: Frame,
}

/// What is written around the answer.
struct Frame {
    /// Where the question ends.
    end: usize,
    recursion: bool,
    edns: bool,
    dnssec: bool,
    limit: usize,
}

/// Answers for one thread, which counts in the tallies at its own place.
pub struct Matcher {
    name: Name,
    thread: usize,
}

impl Matcher {
    pub fn new(thread: usize) -> Self {
        Matcher { name: Name::new(), thread }
    }

    /// Writes the reply over the query, which is the first `length` octets of a buffer of CAPACITY.
    ///
    /// Returns None, with the query untouched, for what is left to Python.
    pub fn answer(
        &mut self,
        root: &Root,
        policy: &Policy,
        buffer: &mut [u8],
        length: usize,
        stream: bool,
    ) -> Option<Made> {
        let (frame, qtype) = self.judge(policy, &buffer[..length], stream)?;
        let mut skipped = 0;
        let zone = loop {
            if let Some(zone) = root.zones.get(&self.name, skipped) {
                break zone;
            }
            if skipped == self.name.labels() {
                let refusal = if root.complete { &policy.not_ours } else { &policy.not_ready };
                policy.count(&policy.elsewhere[self.thread], qtype);
                let length = refuse(buffer, &frame, refusal, policy);
                return Some(Made { length, frame });
            }
            skipped += 1;
        };
        if (qtype == TYPE_DS && skipped == 0) || (frame.dnssec && zone.signed) {
            return None;
        }
        let answer = self.find(zone, qtype)?;
        if answer.computed {
            return None;
        }
        policy.count(&zone.tallies[self.thread], qtype);
        let length = compose(buffer, &frame, answer, &zone.soa, policy);
        Some(Made { length, frame })
    }

    /// Reads what is plain of a query (RFC 1035 section 4.1, RFC 6891 section 6.1).
    fn judge(&mut self, policy: &Policy, packet: &[u8], stream: bool) -> Option<(Frame, u16)> {
        let header: &[u8; HEADER] = packet.get(..HEADER)?.try_into().ok()?;
        if header[2] > 7 || header[4..11] != [0, 1, 0, 0, 0, 0, 0] || header[11] > 1 {
            return None;
        }
        let end = HEADER + self.name.read(&packet[HEADER..])? + 4;
        if packet[HEADER..end - 5].contains(&0) {
            return None; // a label that holds the octet 0 is a name, but no plain one
        }
        let question = packet.get(end - 4..end)?;
        let qtype = u16::from_be_bytes([question[0], question[1]]);
        if question[2..] != [0, 1] || policy.computed.contains(&qtype) {
            return None;
        }
        let limit = if stream { TCP_LIMIT } else { UDP_PLAIN_LIMIT };
        let mut frame = Frame { end, recursion: header[2] & 1 == 1, edns: header[11] == 1, dnssec: false, limit };
        if !frame.edns {
            return (packet.len() == end).then_some((frame, qtype));
        }
        let opt: &[u8; OPT] = packet.get(end..)?.try_into().ok()?;
        if opt[0] != 0 || u16::from_be_bytes([opt[1], opt[2]]) != TYPE_OPT || opt[5..7] != [0, 0] || opt[9..] != [0, 0]
        {
            return None;
        }
        frame.dnssec = opt[7] > 127;
        if !stream {
            let stated = u16::from_be_bytes([opt[3], opt[4]]) as usize;
            frame.limit = if stated > UDP_PLAIN_LIMIT { stated.min(policy.payload) } else { UDP_PLAIN_LIMIT };
        }
        Some((frame, qtype))
    }

    /// Finds what a zone says to the question (RFC 1034 section 4.3.2); None where the table has no word on it.
    fn find<'a>(&mut self, zone: &'a Zone, qtype: u16) -> Option<&'a Arc<Answer>> {
        if let Some(node) = zone.nodes.get(&self.name, 0) {
            return Some(node.answer(qtype).unwrap_or(&node.other));
        }
        let encloser = (1..=self.name.labels()).find_map(|skipped| zone.nodes.get(&self.name, skipped))?;
        let below = &encloser.below;
        if below.source.is_empty() {
            return Some(&below.other);
        }
        self.name.read(&below.source)?;
        let source = zone.nodes.get(&self.name, 0)?;
        Some(source.answer(qtype).unwrap_or(&below.other))
    }
}

/// Writes, over a reply, that the answer did not fit: a client that is who it says it is asks again over TCP.
pub fn hold_back(buffer: &mut [u8], made: &Made, policy: &Policy) -> usize {
    head(buffer, &made.frame, TRUNCATED, &[0; 3]);
    put_opt(buffer, made.frame.end, &made.frame, &[], policy)
}

fn refuse(buffer: &mut [u8], frame: &Frame, refusal: &Refusal, policy: &Policy) -> usize {
    head(buffer, frame, refusal.flags, &[0; 3]);
    put_opt(buffer, frame.end, frame, &refusal.option, policy)
}

fn compose(buffer: &mut [u8], frame: &Frame, answer: &Answer, soa: &Answer, policy: &Policy) -> usize {
    let room = frame.limit as isize - frame.end as isize - if frame.edns { OPT as isize } else { 0 };
    let whole = answer.body.len() + if answer.soa { soa.body.len() } else { 0 };
    let mut end = frame.end;
    if whole as isize <= room {
        head(buffer, frame, answer.flags, &answer.counts);
        end = put_body(buffer, end, frame, answer, answer.body.len());
        if answer.soa {
            end = put_body(buffer, end, frame, soa, soa.body.len());
        }
    } else if let Some(trim) = answer.trims.iter().find(|trim| trim.size as isize <= room) {
        head(buffer, frame, answer.flags, &trim.counts);
        end = put_body(buffer, end, frame, answer, trim.size);
    } else {
        head(buffer, frame, answer.flags | TRUNCATED, &[0; 3]);
    }
    put_opt(buffer, end, frame, &[], policy)
}

/// Writes the header; ID, the count of questions and the question stay as they came.
fn head(buffer: &mut [u8], frame: &Frame, flags: u16, counts: &[u16; 3]) {
    let first = RESPONSE | flags | if frame.recursion { 0x0100 } else { 0 };
    buffer[2..4].copy_from_slice(&first.to_be_bytes());
    buffer[6..8].copy_from_slice(&counts[0].to_be_bytes());
    buffer[8..10].copy_from_slice(&counts[1].to_be_bytes());
    buffer[10..12].copy_from_slice(&(counts[2] + u16::from(frame.edns)).to_be_bytes());
}

/// Writes the first `size` octets of a body and moves the offsets in it by the length of the question name.
fn put_body(buffer: &mut [u8], at: usize, frame: &Frame, answer: &Answer, size: usize) -> usize {
    let body = &mut buffer[at..at + size];
    body.copy_from_slice(&answer.body[..size]);
    let length = (frame.end - HEADER - 4) as u16;
    for place in answer.moving.iter().map(|place| *place as usize).take_while(|place| place + 1 < size) {
        let moved = u16::from_be_bytes([body[place], body[place + 1]]).wrapping_add(length);
        body[place..place + 2].copy_from_slice(&moved.to_be_bytes());
    }
    at + size
}

/// Writes our OPT record where the query had one.
fn put_opt(buffer: &mut [u8], at: usize, frame: &Frame, option: &[u8], policy: &Policy) -> usize {
    if !frame.edns {
        return at;
    }
    let size = (policy.payload as u16).to_be_bytes();
    let flags = if frame.dnssec { 0x80 } else { 0 };
    let data = (option.len() as u16).to_be_bytes();
    let record = [0, 0, TYPE_OPT as u8, size[0], size[1], 0, 0, flags, 0, data[0], data[1]];
    buffer[at..at + OPT].copy_from_slice(&record);
    let end = at + OPT + option.len();
    buffer[at + OPT..end].copy_from_slice(option);
    end
}
