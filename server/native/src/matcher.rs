//! One query in, one reply out, in place: judge header, question and OPT, find the finished answer, put it behind the question.
//!
//! The same walk as `server/answer/matcher.py`, octet for octet. Whatever is not plain is left to Python. Allocates nothing, locks nothing.
#![forbid(unsafe_code)]

use crate::cookie::{Asker, Cookies, WHOLE};
use crate::name::Name;
use crate::packed::Answer;
use crate::table::{Root, Tallies, Tally, Zone};

const HEADER: usize = 12;
const OPT: usize = 11;
const OPTION: usize = 4;
const UDP_PLAIN_LIMIT: usize = 512;
const TCP_LIMIT: usize = 65535;
const TRUNCATED: u16 = 0x0200;
const RESPONSE: u16 = 0x8000;
const TYPE_OPT: u16 = 41;
const TYPE_DS: u16 = 43;

/// The EDNS options that say something here; a reply holds no other than a cookie.
const NSID: u16 = 3;
const COOKIE: u16 = 10;
const KEEPALIVE: u16 = 11;
const PADDING: u16 = 12;

/// BADCOOKIE (RFC 7873 section 8) in the header and in OPT.
const BADCOOKIE_FLAGS: u16 = 7;
const BADCOOKIE_UPPER: u8 = 1;

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
    pub slots: Slots,
    pub not_ours: Refusal,
    pub not_ready: Refusal,
    /// Questions outside of all zones.
    pub elsewhere: Tallies,
}

/// Where types are counted: place 0 is for those that have none of their own.
pub struct Slots {
    low: [u8; 256],
    count: usize,
}

impl Slots {
    /// Gives the types places from 1 on.
    pub fn new(types: &[u16]) -> Self {
        let mut low = [0; 256];
        for (number, qtype) in types.iter().enumerate() {
            if let Some(place) = low.get_mut(usize::from(*qtype)) {
                *place = number as u8 + 1;
            }
        }
        Slots { low, count: types.len() + 1 }
    }

    pub fn count(&self) -> usize {
        self.count
    }

    fn add(&self, tally: &Tally, qtype: u16) {
        tally.add(self.low.get(usize::from(qtype)).map_or(0, |place| usize::from(*place)));
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
    /// Whether a cookie goes back.
    cookie: bool,
}

impl Frame {
    /// Octets for the answer, fewer than none when not even OPT fits.
    fn room(&self, further: usize) -> isize {
        let cookie = if self.cookie { OPTION + WHOLE } else { 0 };
        let opt = if self.edns { OPT + cookie + further } else { 0 };
        self.limit as isize - (self.end + opt) as isize
    }
}

/// Answers for one thread, which counts in the tallies at its own place.
pub struct Matcher {
    name: Name,
    thread: usize,
    /// The cookie that the query holds, if that may be ours, and the one that goes back.
    asked: [u8; WHOLE],
    cookie: [u8; WHOLE],
}

impl Matcher {
    pub fn new(thread: usize) -> Self {
        Matcher { name: Name::new(), thread, asked: [0; WHOLE], cookie: [0; WHOLE] }
    }

    /// Writes the reply over the query, which is the first `length` octets of a buffer that has room for any reply.
    ///
    /// Returns None, with the query untouched, for what is left to Python.
    pub fn answer(
        &mut self,
        root: &Root,
        policy: &Policy,
        buffer: &mut [u8],
        length: usize,
        asker: Option<Asker>,
        stream: bool,
    ) -> Option<Made> {
        let (mut frame, qtype) = self.judge(policy, &buffer[..length], stream)?;
        if length > frame.end + OPT {
            frame.cookie = self.options(&root.cookies, &buffer[frame.end + OPT..length], asker?, stream)?;
        }
        let Some((zone, skipped)) = root.zone_of(&self.name) else {
            let refusal = if root.complete { &policy.not_ours } else { &policy.not_ready };
            policy.slots.add(&policy.elsewhere[self.thread], qtype);
            let length = self.refuse(buffer, &frame, refusal, policy);
            return Some(Made { length, frame });
        };
        if (qtype == TYPE_DS && skipped == 0) || (frame.dnssec && zone.signed) {
            return None;
        }
        let answer = find(&self.name, zone, qtype)?;
        if answer.computed {
            return None;
        }
        policy.slots.add(&zone.tallies[self.thread], qtype);
        let length = self.compose(buffer, &frame, &answer, zone, policy);
        Some(Made { length, frame })
    }

    /// Reads what is plain of a query (RFC 1035 section 4.1, RFC 6891 section 6.1), its options excepted.
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
        let (recursion, edns) = (header[2] & 1 == 1, header[11] == 1);
        let mut frame = Frame { end, recursion, edns, dnssec: false, limit, cookie: false };
        if !edns {
            return (packet.len() == end).then_some((frame, qtype));
        }
        let opt: &[u8; OPT] = packet.get(end..end + OPT)?.try_into().ok()?;
        let size = usize::from(u16::from_be_bytes([opt[9], opt[10]]));
        if opt[..3] != [0, 0, TYPE_OPT as u8] || opt[5..7] != [0, 0] || packet.len() != end + OPT + size {
            return None;
        }
        frame.dnssec = opt[7] > 127;
        if !stream {
            let stated = u16::from_be_bytes([opt[3], opt[4]]) as usize;
            frame.limit = if stated > UDP_PLAIN_LIMIT { stated.min(policy.payload) } else { UDP_PLAIN_LIMIT };
        }
        Some((frame, qtype))
    }

    /// Reads the options (RFC 6891 section 6.1.2); says whether a cookie goes back. None where Python has to say something to them.
    fn options(&mut self, cookies: &Cookies, mut options: &[u8], asker: Asker, stream: bool) -> Option<bool> {
        let mut found = false;
        while !options.is_empty() {
            let (head, rest) = options.split_first_chunk::<OPTION>()?;
            let size = usize::from(u16::from_be_bytes([head[2], head[3]]));
            let data = rest.get(..size)?;
            options = &rest[size..];
            match u16::from_be_bytes([head[0], head[1]]) {
                COOKIE if !found => {
                    self.cookie = cookies.answer(data, asker)?;
                    self.asked = data.try_into().unwrap_or([0; WHOLE]);
                    found = true;
                }
                NSID => return None,
                KEEPALIVE | PADDING if stream => return None,
                _ => (),
            }
        }
        Some(found)
    }

    /// Says whether the query, whose reply was made last, came from somebody who gets what is sent to the address.
    pub fn trusts(&self, made: &Made, root: &Root, asker: Asker) -> bool {
        made.frame.cookie && root.cookies.is_ours(&self.asked, asker)
    }

    /// Writes, over the reply made last, one that lets a client that is who it says it is go on: with its cookie, or over TCP.
    pub fn hold_back(&self, buffer: &mut [u8], made: &Made, policy: &Policy) -> usize {
        let flags = if made.frame.cookie { BADCOOKIE_FLAGS } else { TRUNCATED };
        head(buffer, &made.frame, flags, &[0; 3]);
        let end = self.put_opt(buffer, made.frame.end, &made.frame, &[], policy);
        if made.frame.cookie {
            buffer[made.frame.end + 5] = BADCOOKIE_UPPER;
        }
        end
    }

    fn refuse(&self, buffer: &mut [u8], frame: &Frame, refusal: &Refusal, policy: &Policy) -> usize {
        let truncated = if frame.room(refusal.option.len()) < 0 { TRUNCATED } else { 0 };
        head(buffer, frame, refusal.flags | truncated, &[0; 3]);
        self.put_opt(buffer, frame.end, frame, &refusal.option, policy)
    }

    fn compose(&self, buffer: &mut [u8], frame: &Frame, answer: &Answer<'_>, zone: &Zone, policy: &Policy) -> usize {
        let room = frame.room(0);
        let soa = if answer.soa { zone.soa.answer() } else { Answer::default() };
        let mut end = frame.end;
        if (answer.body.len() + soa.body.len()) as isize <= room {
            head(buffer, frame, answer.flags, &answer.counts);
            end = put_body(buffer, end, frame, answer, answer.body.len());
            if answer.soa {
                end = put_body(buffer, end, frame, &soa, soa.body.len());
            }
        } else if let Some(trim) = answer.trims().find(|trim| trim.size as isize <= room) {
            head(buffer, frame, answer.flags, &trim.counts);
            end = put_body(buffer, end, frame, answer, trim.size);
        } else {
            head(buffer, frame, answer.flags | TRUNCATED, &[0; 3]);
        }
        self.put_opt(buffer, end, frame, &[], policy)
    }

    /// Writes our OPT record where the query had one.
    fn put_opt(&self, buffer: &mut [u8], at: usize, frame: &Frame, option: &[u8], policy: &Policy) -> usize {
        if !frame.edns {
            return at;
        }
        let cookie = if frame.cookie { OPTION + WHOLE } else { 0 };
        let payload = (policy.payload as u16).to_be_bytes();
        let flags = if frame.dnssec { 0x80 } else { 0 };
        let data = ((cookie + option.len()) as u16).to_be_bytes();
        let record = [0, 0, TYPE_OPT as u8, payload[0], payload[1], 0, 0, flags, 0, data[0], data[1]];
        buffer[at..at + OPT].copy_from_slice(&record);
        let mut end = at + OPT;
        if frame.cookie {
            buffer[end..end + OPTION].copy_from_slice(&[0, COOKIE as u8, 0, WHOLE as u8]);
            buffer[end + OPTION..end + OPTION + WHOLE].copy_from_slice(&self.cookie);
            end += OPTION + WHOLE;
        }
        buffer[end..end + option.len()].copy_from_slice(option);
        end + option.len()
    }
}

/// Finds what a zone says to the question (RFC 1034 section 4.3.2); None where the table has no word on it.
fn find<'a>(name: &Name, zone: &'a Zone, qtype: u16) -> Option<Answer<'a>> {
    if let Some(entry) = zone.nodes.find(name, 0) {
        return Some(entry.answer(qtype).unwrap_or_else(|| entry.other()));
    }
    let encloser = (1..=name.labels()).find_map(|skipped| zone.nodes.find(name, skipped))?;
    let below = encloser.below();
    if below.source.is_empty() {
        return Some(below.other);
    }
    let source = zone.nodes.get(below.hash, below.source)?;
    Some(source.answer(qtype).unwrap_or(below.other))
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
fn put_body(buffer: &mut [u8], at: usize, frame: &Frame, answer: &Answer<'_>, size: usize) -> usize {
    let body = &mut buffer[at..at + size];
    body.copy_from_slice(&answer.body[..size]);
    let length = (frame.end - HEADER - 4) as u16;
    for place in answer.moving().take_while(|place| place + 1 < size) {
        let moved = u16::from_be_bytes([body[place], body[place + 1]]).wrapping_add(length);
        body[place..place + 2].copy_from_slice(&moved.to_be_bytes());
    }
    at + size
}
