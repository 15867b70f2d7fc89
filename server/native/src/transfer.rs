//! The messages of a transfer that goes out (RFC 5936 section 2.2): as many records in each as fit well.
//!
//! The same packing as `server/transfer/message.py`, octet for octet: names are compressed only where the very same octets stand before.
//! Never signs, and never knows what a zone is.
#![forbid(unsafe_code)]

use crate::name::Name;
use crate::record::RecordWriter;

const HEADER: usize = 12;
/// Where a message is full: pointers reach no further (RFC 1035 section 4.1.4).
const TARGET: usize = 16 * 1024;
const REACH: usize = 0x3FFF;
const POINTER: u16 = 0xC000;
/// Type, class, TTL and length of the data.
const FIXED: usize = 10;

/// One record; `owner` in lower case, `rdata` uncompressed.
#[derive(Clone, Copy)]
pub struct Record<'a> {
    pub owner: &'a [u8],
    pub rdtype: u16,
    pub ttl_s: u32,
    pub rdata: &'a [u8],
}

/// Takes records and gives messages; the question and `opt` stand in the first alone.
pub struct Packer {
    head: [u8; 4],
    opt: Vec<u8>,
    has_question: bool,
    body: Vec<u8>,
    empty: usize,
    count: u16,
    places: Places,
    name: Name,
    /// Messages that are full.
    ready: Vec<Vec<u8>>,
}

impl Packer {
    /// `head` are ID and flags.
    pub fn new(head: [u8; 4], question: &[u8], opt: &[u8]) -> Self {
        let mut packer = Packer {
            head,
            opt: opt.to_vec(),
            has_question: !question.is_empty(),
            body: vec![0; HEADER],
            empty: HEADER + question.len(),
            count: 0,
            places: Places::new(),
            name: Name::new(),
            ready: Vec::new(),
        };
        packer.body.extend_from_slice(question);
        if let Some(length) = question.len().checked_sub(4).filter(|_| packer.name.read(question).is_some()) {
            packer.note(&question[..length]);
        }
        packer
    }

    pub fn add(&mut self, record: &Record<'_>) {
        let longest = self.body.len() + record.owner.len() + record.rdata.len() + FIXED;
        if self.body.len() > self.empty && longest > TARGET {
            self.close();
        }
        self.count += 1;
        self.put_name(record.owner);
        self.put_behind_owner(record.rdtype, record.ttl_s, record.rdata);
    }

    /// Octets of the messages that are full.
    pub fn ready_octets(&self) -> usize {
        self.ready.iter().map(Vec::len).sum()
    }

    /// Takes the messages that are full.
    pub fn take(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.ready)
    }

    /// Ends the message at hand and begins another one.
    pub fn close(&mut self) {
        let mut message = std::mem::replace(&mut self.body, Vec::with_capacity(TARGET));
        message[..4].copy_from_slice(&self.head);
        let additional = u16::from(!self.opt.is_empty());
        for (place, number) in [u16::from(self.has_question), self.count, 0, additional].iter().enumerate() {
            message[4 + 2 * place..6 + 2 * place].copy_from_slice(&number.to_be_bytes());
        }
        message.append(&mut self.opt);
        self.ready.push(message);
        self.body.resize(HEADER, 0);
        (self.has_question, self.empty, self.count) = (false, HEADER, 0);
        self.places.forget();
    }

    /// Notes where the suffixes of the question's name stand.
    fn note(&mut self, name: &[u8]) {
        let labels = self.name.labels();
        let mut at = 0;
        for skipped in 0..labels {
            self.places.put(self.name.hash(skipped), HEADER + at);
            at += usize::from(name[at]) + 1;
        }
    }
}

impl RecordWriter for Packer {
    fn body(&mut self) -> &mut Vec<u8> {
        &mut self.body
    }

    /// Writes a name, ending it in a pointer where a suffix of it stands in the message already, in the same case.
    fn put_name(&mut self, name: &[u8]) {
        if self.name.read(name).is_none() {
            self.body.extend_from_slice(name); // what no table holds is no name to point to
            return;
        }
        let mut at = 0;
        for skipped in 0..self.name.labels() {
            let (suffix, hash) = (&name[at..], self.name.hash(skipped));
            if let Some(place) = self.places.find(hash, |place| stands_at(&self.body, place, suffix)) {
                self.body.extend_from_slice(&(POINTER + place as u16).to_be_bytes());
                return;
            }
            let here = self.body.len();
            if here <= REACH {
                self.places.put(hash, here);
            }
            let label = usize::from(name[at]) + 1;
            self.body.extend_from_slice(&name[at..at + label]);
            at += label;
        }
        self.body.push(0);
    }
}

/// Says whether a name, in the very same octets, stands at a place of a message.
fn stands_at(message: &[u8], mut at: usize, mut name: &[u8]) -> bool {
    loop {
        let Some(&length) = message.get(at) else { return false };
        if length >= 0xC0 {
            let Some(&low) = message.get(at + 1) else { return false };
            at = usize::from(length & 0x3F) << 8 | usize::from(low);
            continue;
        }
        let size = usize::from(length) + 1;
        if message.get(at..at + size) != name.get(..size) {
            return false;
        }
        if length == 0 {
            return true;
        }
        (at, name) = (at + size, &name[size..]);
    }
}

/// Where in a message names begin, by some of their hash; one table for all messages, forgotten at the cost of one addition.
struct Places {
    slots: Box<[Slot]>,
    round: u16,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    hash: u32,
    place: u16,
    /// The message that the slot was filled for.
    round: u16,
}

/// More than any message has names: each takes two octets at least.
const SLOTS: usize = 16 * 1024;

impl Places {
    fn new() -> Self {
        Places { slots: vec![Slot::default(); SLOTS].into_boxed_slice(), round: 1 }
    }

    fn forget(&mut self) {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.slots.fill(Slot::default());
            self.round = 1;
        }
    }

    fn find(&self, hash: u64, is_it: impl Fn(usize) -> bool) -> Option<usize> {
        let mut slot = hash as usize % SLOTS;
        loop {
            let found = self.slots[slot];
            if found.round != self.round {
                return None;
            }
            if found.hash == (hash >> 32) as u32 && is_it(usize::from(found.place)) {
                return Some(usize::from(found.place));
            }
            slot = (slot + 1) % SLOTS;
        }
    }

    fn put(&mut self, hash: u64, place: usize) {
        let mut slot = hash as usize % SLOTS;
        while self.slots[slot].round == self.round {
            slot = (slot + 1) % SLOTS;
        }
        self.slots[slot] = Slot { hash: (hash >> 32) as u32, place: place as u16, round: self.round };
    }
}

#[cfg(test)]
mod tests {
    use super::{Packer, Record};

    #[test]
    fn names_end_in_pointers_to_the_same_octets_only() {
        let mut packer = Packer::new([0, 1, 0x84, 0], b"\x01a\x04test\0\0\xfc\0\x01", b"");
        let owner = b"\x01b\x04test\0";
        packer.add(&Record { owner, rdtype: 5, ttl_s: 1, rdata: b"\x01B\x04test\0" });
        packer.add(&Record { owner, rdtype: 15, ttl_s: 1, rdata: b"\0\x0a\x01B\x04test\0" });
        packer.close();
        let message = packer.take().remove(0);
        assert_eq!(message[..12], [0, 1, 0x84, 0, 0, 1, 0, 2, 0, 0, 0, 0]);
        let first = b"\x01b\xc0\x0e\0\x05\0\x01\0\0\0\x01\0\x04\x01B\xc0\x0e";
        assert_eq!(message[24..42], first[..]);
        assert_eq!(message[42..], b"\xc0\x18\0\x0f\0\x01\0\0\0\x01\0\x04\0\x0a\xc0\x26"[..]);
    }

    #[test]
    fn messages_end_where_pointers_no_longer_reach() {
        let mut packer = Packer::new([0; 4], b"", b"");
        for number in 0..40_000u32 {
            let owner = [&[8], format!("{number:08}").as_bytes(), b"\x04test\0"].concat();
            packer.add(&Record { owner: &owner, rdtype: 1, ttl_s: 1, rdata: &[0; 4] });
        }
        packer.close();
        let messages = packer.take();
        assert!(messages.len() > 40 && messages.iter().all(|message| message.len() <= 16 * 1024));
        let records: u32 = messages.iter().map(|each| u32::from(u16::from_be_bytes([each[6], each[7]]))).sum();
        assert_eq!(records, 40_000);
    }
}
