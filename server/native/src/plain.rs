//! The names of a zone whose answers are their own sets and nothing else: finished part by part, as their records were divided up.
//!
//! Owns what becomes of a name: whether it is finished here, kept for `link`, or left to Python. Never reads a source.
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::content::{Set, BESIDE_DATA};
use crate::encode::{self, Encoder};
use crate::link::{parent, STAR};
use crate::master::{Record, CNAME, MX, NS, PTR, SOA, SRV};
use crate::name::{NameMap, NameSet};
use crate::nodes::{segment_in, Nodes};
use crate::packed::{begin_entry, begin_plain, end_entry, mark_hidden, put_plain, u32_at};
use crate::record::names_after;

/// Parts that the records of a zone are divided into.
pub const PARTS: usize = 64;
/// Octets of a record in a part beside owner and data: length, hash, length of the owner, type, TTL, source.
const HEAD: usize = 4 + 8 + 1 + 2 + 4 + 4;
/// What a set may take in an answer (`zonemodel.rrset.ANSWER_MAX_OCTETS`), and each record of it beside its data.
const MOST_SET_OCTETS: usize = 65535 - 282;
const DNAME: u16 = 39;

/// The segments of the plain names, and of those whose sets are kept for `link`.
pub struct Ready {
    pub plain: Vec<Arc<[u8]>>,
    pub kept: Vec<Arc<[u8]>>,
}

/// What becomes of a name.
enum Place {
    Plain,
    Kept { is_hidden: bool },
    Python,
}

/// A zone while its names are finished.
pub struct Zone<'a> {
    apex: &'a [u8],
    /// The apex and all zone cuts.
    name_servers: &'a NameSet,
    wildcard_parents: &'a NameSet,
    /// Names whose wildcard is an alias or a zone cut.
    pub odd_parents: NameSet,
    /// The sets of names that are Python's.
    pub sets: Vec<Set>,
    /// How many names exist directly below each name.
    pub children: NameMap<u32>,
    encoder: Encoder,
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

/// Appends a record to a part.
pub fn put_item(part: &mut Vec<u8>, hash: u64, record: &Record<'_>) {
    part.extend_from_slice(&((HEAD + record.owner.len() + record.rdata.len()) as u32).to_le_bytes());
    part.extend_from_slice(&hash.to_le_bytes());
    part.push(record.owner.len() as u8);
    part.extend_from_slice(&record.rdtype.to_le_bytes());
    part.extend_from_slice(&record.ttl_s.to_le_bytes());
    part.extend_from_slice(&record.source.to_le_bytes());
    part.extend_from_slice(record.owner);
    part.extend_from_slice(record.rdata);
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

impl<'a> Zone<'a> {
    pub fn new(apex: &'a [u8], name_servers: &'a NameSet, wildcard_parents: &'a NameSet) -> Self {
        Zone {
            apex,
            name_servers,
            wildcard_parents,
            odd_parents: NameSet::default(),
            sets: Vec::new(),
            children: NameMap::default(),
            encoder: Encoder::default(),
        }
    }

    /// Finishes the names of one part and lays out its segments; returns how many are plain, and how many are kept for later.
    pub fn take(&mut self, part: &[u8], number: usize, ready: &mut Ready) -> Option<(usize, usize)> {
        let segments = ready.plain.len();
        let (mut items, ends) = divided(part, segments);
        let (mut plain, mut kept) = (Entries::default(), Entries::default());
        let (mut counts, mut start) = ((0, 0), 0);
        for (place, end) in (number..segments).step_by(PARTS).zip(ends) {
            let items = &mut items[start..end];
            start = end;
            items.sort_unstable_by(|one, other| {
                let by_name = || one.owner.cmp(other.owner).then(one.rdtype.cmp(&other.rdtype));
                let by_data = || one.canonical().cmp(other.canonical());
                one.hash.cmp(&other.hash).then_with(|| by_name().then_with(by_data))
            });
            for items in items.chunk_by(|one, other| one.owner == other.owner) {
                self.name(items, &mut plain, &mut kept)?;
            }
            counts = (counts.0 + plain.len(), counts.1 + kept.len());
            plain.lay_out(&mut ready.plain[place]);
            kept.lay_out(&mut ready.kept[place]);
        }
        Some(counts)
    }

    /// Finishes one name, whose records are sorted, or keeps its sets.
    fn name(&mut self, items: &[Item<'_>], plain: &mut Entries, kept: &mut Entries) -> Option<()> {
        let owner = items[0].owner;
        self.count(owner)?;
        if items.iter().any(|item| item.rdtype == CNAME) && items.iter().any(|item| item.rdtype != CNAME) {
            return None;
        }
        let place = self.place(owner, items);
        let entries = if matches!(place, Place::Plain) { plain } else { kept };
        let start = begin_entry(&mut entries.octets, owner);
        for items in items.chunk_by(|one, other| one.rdtype == other.rdtype) {
            let items = judged(items)?;
            let (rdtype, ttl_s, count) = (items[0].rdtype, items[0].ttl_s, items.len() as u16);
            match place {
                Place::Plain if names_after(rdtype).is_some() => {
                    let rdatas: Vec<&[u8]> = items.iter().map(|item| item.rdata).collect();
                    self.encoder.begin(owner, true);
                    self.encoder.add(&encode::Set { owner, rdtype, ttl_s, rdatas: &rdatas }, true);
                    put_plain(&mut entries.octets, rdtype, count, &self.encoder.body);
                }
                Place::Plain | Place::Kept { .. } => {
                    begin_plain(&mut entries.octets, rdtype, count, size_of(&items));
                    put_records(&mut entries.octets, &items);
                }
                Place::Python => {
                    let rdatas = items.iter().map(|item| item.rdata.into()).collect();
                    self.sets.push(Set { owner: owner.into(), rdtype, ttl_s, rdatas });
                }
            }
        }
        match place {
            Place::Python => entries.octets.truncate(start),
            Place::Plain => entries.end(start, items[0].hash as u32),
            Place::Kept { is_hidden } => {
                if is_hidden {
                    mark_hidden(&mut entries.octets, start);
                }
                entries.end(start, items[0].hash as u32);
            }
        }
        Some(())
    }

    /// Says what becomes of a name.
    fn place(&mut self, owner: &[u8], items: &[Item<'_>]) -> Place {
        let has = |rdtype| items.iter().any(|item| item.rdtype == rdtype);
        let has_names = items.iter().any(|item| names_after(item.rdtype).is_some());
        let is_parent = self.wildcard_parents.contains(owner);
        if owner == self.apex {
            return Place::Python;
        }
        if self.is_hidden(owner) {
            return Place::Kept { is_hidden: true };
        }
        if owner.starts_with(STAR) {
            if has(NS) || has(CNAME) {
                self.odd_parents.extend(parent(owner).map(Box::from));
            }
            return if has_names { Place::Python } else { Place::Plain };
        }
        if has(CNAME) && is_parent {
            return Place::Python;
        }
        // Compressed, a name would take the case of the one that it points to.
        let is_spelled = has_names && items.iter().any(|item| !item.canonical().eq(item.rdata.iter().copied()));
        if has(NS) || has(CNAME) || is_parent || is_spelled {
            Place::Kept { is_hidden: false }
        } else {
            Place::Plain
        }
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
        if self.name_servers.len() < 2 {
            return false;
        }
        let mut above = parent(owner);
        while let Some(name) = above.filter(|name| *name != self.apex) {
            if self.name_servers.contains(name) {
                return true;
            }
            above = parent(name);
        }
        false
    }
}

/// The records of a part by segment, and where those of each segment end.
fn divided(part: &[u8], segments: usize) -> (Vec<Item<'_>>, Vec<usize>) {
    let each = || {
        let mut rest = part;
        std::iter::from_fn(move || {
            let (item, behind) = (!rest.is_empty()).then(|| Item::read(rest))?;
            rest = behind;
            Some(item)
        })
    };
    let place_of = |item: &Item<'_>| Nodes::segment_of(item.hash, segments) / PARTS;
    let mut starts = vec![0; segments / PARTS + 1];
    each().for_each(|item| starts[place_of(&item) + 1] += 1);
    (1..starts.len()).for_each(|place| starts[place] += starts[place - 1]);
    let mut items: Vec<Item<'_>> = each().take(1).cycle().take(starts[segments / PARTS]).collect();
    for item in each() {
        let place = &mut starts[place_of(&item)];
        items[*place] = item;
        *place += 1;
    }
    (items, starts)
}

/// Returns the records of a set, each once; None for a set of which Python has something to say.
fn judged<'a, 'b>(items: &'b [Item<'a>]) -> Option<Cow<'b, [Item<'a>]>> {
    let first = items[0];
    if items.len() == 1 {
        return is_servable(items).then_some(Cow::Borrowed(items));
    }
    if items.iter().any(|item| item.ttl_s != first.ttl_s || item.source != first.source) {
        return None; // Python says that it takes the lowest, or that a set stands twice
    }
    let is_spelled = |item: &Item<'_>| !item.canonical().eq(item.rdata.iter().copied());
    if first.source != 0 && items.iter().any(is_spelled) {
        return None; // sets are sorted as they are spelled, records as RFC 4034 section 6.2 has them
    }
    let mut items = items.to_vec();
    items.dedup_by(|one, other| one.rdata == other.rdata);
    if items.windows(2).any(|pair| pair[0].canonical().eq(pair[1].canonical())) {
        return None; // Python takes the spelling that stands first
    }
    is_servable(&items).then_some(Cow::Owned(items))
}

fn is_servable(items: &[Item<'_>]) -> bool {
    let is_single = matches!(items[0].rdtype, SOA | CNAME);
    items[0].rdtype != DNAME && !(is_single && items.len() > 1) && size_of(items) <= MOST_SET_OCTETS
}

/// What records take in an answer whose question name owns them.
fn size_of(items: &[Item<'_>]) -> usize {
    items.iter().map(|item| item.rdata.len() + BESIDE_DATA).sum()
}

/// The entries of one segment in the making.
#[derive(Default)]
pub struct Entries {
    pub octets: Vec<u8>,
    places: Vec<(u32, Range<usize>)>,
    scratch: Vec<u8>,
}

impl Entries {
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Takes the entry that begins at `start`, with the lower half of its hash.
    pub fn end(&mut self, start: usize, hash: u32) {
        end_entry(&mut self.octets, start);
        self.places.push((hash, start..self.octets.len()));
    }

    /// Makes a segment of them, and is empty again.
    fn lay_out(&mut self, ready: &mut Arc<[u8]>) {
        if !self.places.is_empty() {
            *ready = self.with([].into_iter());
        }
        self.clear();
    }

    /// Makes a segment of these entries and others, each with the lower half of its hash.
    pub fn with<'a>(&'a mut self, others: impl Iterator<Item = (u32, &'a [u8])>) -> Arc<[u8]> {
        let own = self.places.iter().map(|(hash, place)| (*hash, &self.octets[place.clone()]));
        segment_in(&mut self.scratch, &others.chain(own).collect::<Vec<_>>())
    }

    pub fn clear(&mut self) {
        self.octets.clear();
        self.places.clear();
    }
}

/// Writes the records of a set as they stand in an answer whose question name owns them.
fn put_records(octets: &mut Vec<u8>, items: &[Item<'_>]) {
    for item in items {
        octets.extend_from_slice(&[0xC0, 0x0C]);
        octets.extend_from_slice(&item.rdtype.to_be_bytes());
        octets.extend_from_slice(&[0, 1]);
        octets.extend_from_slice(&item.ttl_s.to_be_bytes());
        octets.extend_from_slice(&(item.rdata.len() as u16).to_be_bytes());
        octets.extend_from_slice(item.rdata);
    }
}
