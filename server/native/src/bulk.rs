//! A whole zone from its master file, without a Python object for each record.
//!
//! Owns which names are plain: those whose answers are their own sets and nothing else. They are finished here; all other names go to
//! Python, which decides what they say. Any doubt, about the file or the zone, ends the reading: Python then reads the file itself.
//!
//! Records are divided up by hash while they are read, so that each part can be sorted within a processor's cache, and let go of.
#![forbid(unsafe_code)]

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use crate::master::{ReadData, Reader, Record, CNAME, MX, NS, PTR, SOA, SRV};
use crate::name::Name;
use crate::nodes::{segment, Nodes};
use crate::packed::{begin_entry, end_entry, put_plain, u32_at, Answer, Entry};
use crate::transfer;

const CHUNK: usize = 1 << 20;
const PARTS: usize = 64;
/// The longest entry of a file that is read here.
const LONGEST_ENTRY: usize = 1 << 24;
/// Octets of a record in a part beside owner and data: length, hash, length of the owner, type, TTL, source.
const HEAD: usize = 4 + 8 + 1 + 2 + 4 + 4;
/// What a set may take in an answer (`zonemodel.rrset.ANSWER_MAX_OCTETS`), and each record of it beside its data.
const MOST_SET_OCTETS: usize = 65535 - 282;
const BESIDE_DATA: usize = 12;

const DNAME: u16 = 39;
/// Types whose data hold names that are compressed in answers, or that lead on to other names.
const NOT_PLAIN: [u16; 6] = [NS, CNAME, SOA, PTR, MX, DNAME];
const STAR: &[u8] = b"\x01*";

/// A set that Python is to compile.
pub struct Set {
    pub owner: Box<[u8]>,
    pub rdtype: u16,
    pub ttl_s: u32,
    pub rdatas: Vec<Box<[u8]>>,
}

/// What a zone holds.
pub struct Bulk {
    pub apex: Vec<u8>,
    /// The plain names, finished.
    pub nodes: Nodes,
    /// How many answers they have.
    pub answers: usize,
    /// The sets of all others.
    pub sets: Vec<Set>,
    /// How many names exist directly below each name that has some, and stands not for itself alone.
    pub children: HashMap<Box<[u8]>, u32>,
}

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
    apexes: HashSet<Box<[u8]>>,
    name_servers: HashSet<Box<[u8]>>,
    wildcard_parents: HashSet<Box<[u8]>>,
    is_odd: bool,
}

impl Draft {
    pub fn new() -> Self {
        Draft {
            parts: vec![Vec::new(); PARTS],
            name: Name::new(),
            last: Vec::new(),
            names: 0,
            apexes: HashSet::new(),
            name_servers: HashSet::new(),
            wildcard_parents: HashSet::new(),
            is_odd: false,
        }
    }

    pub fn add(&mut self, record: &Record<'_>) {
        if record.owner != self.last {
            self.last.clear();
            self.last.extend_from_slice(record.owner);
            self.names += 1;
            let Some(_) = self.name.read(record.owner) else {
                self.is_odd = true;
                return;
            };
            for skipped in 0..self.name.labels() {
                if self.name.suffix(skipped).starts_with(STAR) {
                    self.is_odd |= skipped > 0;
                    self.wildcard_parents.insert(self.name.suffix(skipped + 1).into());
                }
            }
        }
        match record.rdtype {
            SOA => _ = self.apexes.insert(record.owner.into()),
            NS => _ = self.name_servers.insert(record.owner.into()),
            _ => (),
        }
        let hash = self.name.hash(0);
        let part = &mut self.parts[(hash >> 32) as usize % PARTS];
        part.extend_from_slice(&((HEAD + record.owner.len() + record.rdata.len()) as u32).to_le_bytes());
        part.extend_from_slice(&hash.to_le_bytes());
        part.push(record.owner.len() as u8);
        part.extend_from_slice(&record.rdtype.to_le_bytes());
        part.extend_from_slice(&record.ttl_s.to_le_bytes());
        part.extend_from_slice(&record.source.to_le_bytes());
        part.extend_from_slice(record.owner);
        part.extend_from_slice(record.rdata);
    }

    /// Finishes the plain names; None for a zone that Python has to see whole. `origin` is the apex, where it is known before.
    pub fn finish(self, origin: Option<Vec<u8>>) -> Option<Bulk> {
        let mut apexes = self.apexes.iter();
        let apex = apexes.next()?.to_vec();
        if self.is_odd || apexes.next().is_some() || origin.is_some_and(|origin| origin != apex) {
            return None;
        }
        let segments = Nodes::segments_for(self.names).max(PARTS);
        let mut ready = vec![Arc::from([].as_slice()); segments];
        let mut zone = Zone {
            apex: &apex,
            cuts: self.name_servers.iter().filter(|owner| ***owner != *apex).map(|owner| &**owner).collect(),
            wildcard_parents: &self.wildcard_parents,
            sets: Vec::new(),
            children: HashMap::new(),
            answers: 0,
        };
        let mut entries = 0;
        for (number, part) in self.parts.into_iter().enumerate() {
            entries += zone.take(&part, number, &mut ready)?;
        }
        let Zone { sets, children, answers, .. } = zone;
        let mut bulk = Bulk { nodes: Nodes::of_segments(ready, entries), answers, sets, children, apex };
        bulk.count_empty_names()?;
        Some(bulk)
    }
}

impl Bulk {
    /// Counts the names that exist only because something stands below them, each at the name above it.
    fn count_empty_names(&mut self) -> Option<()> {
        let owners: HashSet<&[u8]> = self.sets.iter().map(|set| &*set.owner).collect();
        let mut name = Name::new();
        let mut above = Vec::new();
        for each in self.children.keys().filter(|each| ***each != *self.apex) {
            name.read(each)?;
            if !owners.contains(&**each) && self.nodes.find(&name, 0).is_none() {
                above.push(Box::from(name.suffix(1)));
            }
        }
        for each in above {
            *self.children.entry(each).or_default() += 1;
        }
        Some(())
    }
}

/// A zone while its names are finished.
struct Zone<'a> {
    apex: &'a [u8],
    cuts: HashSet<&'a [u8]>,
    wildcard_parents: &'a HashSet<Box<[u8]>>,
    sets: Vec<Set>,
    children: HashMap<Box<[u8]>, u32>,
    answers: usize,
}

/// A record as it stands in a part.
#[derive(Clone, Copy)]
struct Item<'a> {
    hash: u64,
    owner: &'a [u8],
    rdtype: u16,
    ttl_s: u32,
    source: u32,
    rdata: &'a [u8],
}

impl<'a> Item<'a> {
    fn read(octets: &'a [u8]) -> (Self, &'a [u8]) {
        let (octets, rest) = octets.split_at(u32_at(octets, 0) as usize);
        let (owner, rdata) = octets[HEAD..].split_at(usize::from(octets[12]));
        let item = Item {
            hash: u64::from(u32_at(octets, 4)) | u64::from(u32_at(octets, 8)) << 32,
            owner,
            rdtype: u16::from_le_bytes([octets[13], octets[14]]),
            ttl_s: u32_at(octets, 15),
            source: u32_at(octets, 19),
            rdata,
        };
        (item, rest)
    }

    /// Compares the data as RFC 4034 section 6.2 has them, names in lower case.
    fn canonical(&self) -> impl Iterator<Item = u8> + 'a {
        let names_at = match self.rdtype {
            NS | CNAME | PTR | SOA => 0,
            MX => 2,
            SRV => 6,
            _ => usize::MAX,
        };
        let lowered = move |(at, octet): (usize, &u8)| if at >= names_at { octet.to_ascii_lowercase() } else { *octet };
        self.rdata.iter().enumerate().map(lowered)
    }
}

impl Zone<'_> {
    /// Finishes the names of one part and lays out its segments; returns how many are plain.
    fn take(&mut self, part: &[u8], number: usize, ready: &mut [Arc<[u8]>]) -> Option<usize> {
        let mut items = Vec::new();
        let mut rest = part;
        while !rest.is_empty() {
            let (item, behind) = Item::read(rest);
            items.push(item);
            rest = behind;
        }
        let segments = ready.len();
        let segment_of = |item: &Item<'_>| Nodes::segment_of(item.hash, segments);
        items.sort_unstable_by(|one, other| {
            let key = |item: &Item<'_>| (segment_of(item), item.hash);
            let by_name = || one.owner.cmp(other.owner).then(one.rdtype.cmp(&other.rdtype));
            key(one).cmp(&key(other)).then_with(|| by_name().then_with(|| one.canonical().cmp(other.canonical())))
        });
        let mut count = 0;
        let mut octets = Vec::new();
        let mut places = Vec::new();
        let mut next = items.as_slice();
        for place in (number..segments).step_by(PARTS) {
            octets.clear();
            places.clear();
            while let Some(first) = next.first().filter(|item| segment_of(item) == place) {
                let size = next.iter().take_while(|item| item.owner == first.owner).count();
                let (items, behind) = next.split_at(size);
                next = behind;
                if let Some(start) = self.name(items, &mut octets)? {
                    places.push((first.hash as u32, start..octets.len()));
                }
            }
            let entries: Vec<_> = places.iter().map(|(hash, place)| (*hash, &octets[place.clone()])).collect();
            count += entries.len();
            ready[place] = segment(&entries);
        }
        next.is_empty().then_some(count)
    }

    /// Finishes one name, whose records are sorted; returns where its entry begins, which only plain names have.
    fn name(&mut self, items: &[Item<'_>], octets: &mut Vec<u8>) -> Option<Option<usize>> {
        let owner = items[0].owner;
        self.count(owner)?;
        let is_plain = owner != self.apex
            && !owner.starts_with(STAR)
            && !self.wildcard_parents.contains(owner)
            && !items.iter().any(|item| NOT_PLAIN.contains(&item.rdtype))
            && !self.is_hidden(owner);
        let start = is_plain.then(|| begin_entry(octets, owner));
        for items in items.chunk_by(|one, other| one.rdtype == other.rdtype) {
            let first = items[0];
            if items.iter().any(|item| item.ttl_s != first.ttl_s || item.source != first.source) {
                return None; // Python says that it takes the lowest, or that a set stands twice
            }
            if first.source != 0 && items.iter().any(|item| !item.canonical().eq(item.rdata.iter().copied())) {
                return None; // sets are sorted as they are spelled, records as RFC 4034 section 6.2 has them
            }
            let mut items = items.to_vec();
            items.dedup_by(|one, other| one.rdata == other.rdata);
            if items.windows(2).any(|pair| pair[0].canonical().eq(pair[1].canonical())) {
                return None; // Python takes the spelling that stands first
            }
            let is_single = matches!(first.rdtype, SOA | CNAME);
            let size: usize = items.iter().map(|item| item.rdata.len() + BESIDE_DATA).sum();
            if first.rdtype == DNAME || (is_single && items.len() > 1) || size > MOST_SET_OCTETS {
                return None;
            }
            match start {
                Some(_) => {
                    put_plain(octets, first.rdtype, items.len() as u16, &body(&items));
                    self.answers += 1;
                }
                None => self.sets.push(Set {
                    owner: owner.into(),
                    rdtype: first.rdtype,
                    ttl_s: first.ttl_s,
                    rdatas: items.iter().map(|item| item.rdata.into()).collect(),
                }),
            }
        }
        if let Some(start) = start {
            end_entry(octets, start);
        }
        Some(start)
    }

    /// Counts an owner at the name above it, and has all names up to the apex exist; None for a name outside of the zone.
    fn count(&mut self, owner: &[u8]) -> Option<()> {
        if owner == self.apex {
            return Some(());
        }
        let mut above = parent(owner)?;
        let mut is_new = true;
        loop {
            let count = self.children.get_mut(above);
            let is_known = count.is_some();
            match count {
                Some(count) => *count += u32::from(is_new),
                None => _ = self.children.insert(above.into(), u32::from(is_new)),
            }
            if above == self.apex {
                return Some(());
            }
            if is_known {
                return Some(());
            }
            is_new = false;
            above = parent(above)?;
        }
    }

    fn is_hidden(&self, owner: &[u8]) -> bool {
        if self.cuts.is_empty() {
            return false;
        }
        let mut above = parent(owner);
        while let Some(name) = above.filter(|name| *name != self.apex) {
            if self.cuts.contains(name) {
                return true;
            }
            above = parent(name);
        }
        false
    }
}

/// The name above, None above the root.
fn parent(name: &[u8]) -> Option<&[u8]> {
    match usize::from(*name.first()?) {
        0 => None,
        length => name.get(length + 1..),
    }
}

/// The records of a set as they stand in an answer whose question name owns them.
fn body(items: &[Item<'_>]) -> Vec<u8> {
    let mut octets = Vec::with_capacity(items.iter().map(|item| item.rdata.len() + BESIDE_DATA).sum());
    for item in items {
        octets.extend_from_slice(&[0xC0, 0x0C]);
        octets.extend_from_slice(&item.rdtype.to_be_bytes());
        octets.extend_from_slice(&[0, 1]);
        octets.extend_from_slice(&item.ttl_s.to_be_bytes());
        octets.extend_from_slice(&(item.rdata.len() as u16).to_be_bytes());
        octets.extend_from_slice(item.rdata);
    }
    octets
}

impl Bulk {
    /// Gives the records of the plain names of one segment, and returns the next segment, if there is one.
    pub fn for_each_record(&self, segment: usize, sink: &mut dyn FnMut(&transfer::Record<'_>)) -> Option<usize> {
        for entry in self.nodes.segment(segment)? {
            for (rdtype, answer) in entry.answers() {
                for_each_rdata(answer.body, |ttl_s, rdata| {
                    sink(&transfer::Record { owner: entry.name, rdtype, ttl_s, rdata });
                });
            }
        }
        Some(segment + 1)
    }
}

/// Reads the TTL and data of the records in the body of a plain answer.
fn for_each_rdata<'a>(mut body: &'a [u8], mut sink: impl FnMut(u32, &'a [u8])) {
    while let Some((head, behind)) = body.split_first_chunk::<BESIDE_DATA>() {
        let (rdata, behind) = behind.split_at(usize::from(u16::from_be_bytes([head[10], head[11]])));
        sink(u32::from_be_bytes([head[6], head[7], head[8], head[9]]), rdata);
        body = behind;
    }
}

/// Reads the sets of a plain name back from its answers: type, TTL and data.
pub fn sets_of(entry: &Entry<'_>) -> Vec<(u16, u32, Vec<Vec<u8>>)> {
    let set = |(rdtype, answer): (u16, Answer<'_>)| {
        let (mut set_ttl_s, mut rdatas) = (0, Vec::new());
        for_each_rdata(answer.body, |ttl_s, rdata| {
            set_ttl_s = ttl_s;
            rdatas.push(rdata.to_vec());
        });
        (rdtype, set_ttl_s, rdatas)
    };
    entry.answers().into_iter().map(set).collect()
}
