//! A whole zone from its records, without a Python object for each of them.
//!
//! Owns how records come in and are divided up by hash, so that each part can be sorted within a processor's cache, and let go of. `plain`
//! finishes the names of a part, `link` those that draw on others; all others go to Python. Any doubt, about the file or the zone, ends the
//! reading: Python then reads the file itself.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::content::Bulk;
use crate::link::STAR;
use crate::master::{ReadData, Reader, Record, NS, SOA};
use crate::name::{Name, NameSet};
use crate::nodes::{segment, Nodes};
use crate::plain::{put_item, Ready, Zone, PARTS};

const CHUNK: usize = 1 << 20;
/// The longest entry of a file that is read here.
const LONGEST_ENTRY: usize = 1 << 24;

/// Reads a file of which every octet is understood; None for any other.
pub fn read(path: &Path, origin: Option<Vec<u8>>, read_data: &mut ReadData<'_>) -> Option<Bulk> {
    let mut draft = Draft::new();
    let mut reader = Reader::new(origin.clone(), read_data);
    let mut file = File::open(path).ok()?;
    let mut text = Vec::with_capacity(2 * CHUNK);
    let mut is_all = false;
    while !is_all {
        let before = text.len();
        is_all = (&mut file).take(CHUNK as u64).read_to_end(&mut text).ok()? == 0;
        if !text[before..].is_ascii() || text.len() > LONGEST_ENTRY {
            return None;
        }
        let mut done = 0;
        while done < text.len() {
            match reader.entry(&text[done..], is_all, &mut |record| draft.add(&record))? {
                0 => break,
                length => done += length,
            }
        }
        text.drain(..done);
    }
    draft.finish(origin)
}

/// A zone while its records come in.
pub struct Draft {
    parts: Vec<Vec<u8>>,
    name: Name,
    last: Vec<u8>,
    /// At most so many names.
    names: usize,
    /// Whether the last owner has been noted as one of name servers.
    is_noted: bool,
    apexes: NameSet,
    name_servers: NameSet,
    wildcard_parents: NameSet,
    is_odd: bool,
}

impl Draft {
    pub fn new() -> Self {
        Draft {
            parts: vec![Vec::new(); PARTS],
            name: Name::new(),
            last: Vec::new(),
            names: 0,
            is_noted: false,
            apexes: NameSet::default(),
            name_servers: NameSet::default(),
            wildcard_parents: NameSet::default(),
            is_odd: false,
        }
    }

    pub fn add(&mut self, record: &Record<'_>) {
        if record.owner != self.last {
            self.last.clear();
            self.last.extend_from_slice(record.owner);
            self.names += 1;
            self.is_noted = false;
            let Some(_) = self.name.read(record.owner) else {
                self.is_odd = true;
                return;
            };
            self.is_odd |= self.name.suffix(0) != record.owner; // owners are in lower case
            for skipped in 0..self.name.labels() {
                if self.name.suffix(skipped).starts_with(STAR) {
                    self.is_odd |= skipped > 0;
                    self.wildcard_parents.insert(self.name.suffix(skipped + 1).into());
                }
            }
        }
        match record.rdtype {
            SOA => _ = self.apexes.insert(record.owner.into()),
            NS if !self.is_noted => {
                self.name_servers.insert(record.owner.into());
                self.is_noted = true;
            }
            _ => (),
        }
        let hash = self.name.hash(0);
        put_item(&mut self.parts[(hash >> 32) as usize % PARTS], hash, record);
    }

    /// Finishes the plain names; None for a zone that Python has to see whole. `origin` is the apex, where it is known before.
    pub fn finish(self, origin: Option<Vec<u8>>) -> Option<Bulk> {
        let mut apexes = self.apexes.iter();
        let apex = apexes.next()?.to_vec();
        if self.is_odd || apexes.next().is_some() || origin.is_some_and(|origin| origin != apex) {
            return None;
        }
        let segments = Nodes::segments_for(self.names).max(PARTS);
        let mut ready = Ready { plain: vec![segment(&[]); segments], kept: vec![segment(&[]); segments] };
        let mut zone = Zone::new(&apex, &self.name_servers, &self.wildcard_parents);
        let (mut plain, mut kept) = (0, 0);
        for (number, part) in self.parts.into_iter().enumerate() {
            let (more_plain, more_kept) = zone.take(&part, number, &mut ready)?;
            (plain, kept) = (plain + more_plain, kept + more_kept);
        }
        let Zone { sets, children, odd_parents, .. } = zone;
        let mut bulk = Bulk {
            nodes: Nodes::of_segments(ready.plain, plain),
            kept: Nodes::of_segments(ready.kept, kept),
            sets,
            children,
            apex,
            ..Bulk::default()
        };
        bulk.finish(&self.wildcard_parents, &odd_parents)?;
        Some(bulk)
    }
}
