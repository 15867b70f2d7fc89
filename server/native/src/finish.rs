//! The second pass over a zone: names that draw on others, and names that exist only for those below them.
//!
//! Owns what of a zone is left to Python in the end. `link` finishes single names.
#![forbid(unsafe_code)]

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::content::{own_set, Bulk, Set};
use crate::dependents::Dependents;
use crate::link::{parent, Linker, Surroundings};
use crate::name::{Name, NameSet, Seeded};
use crate::nodes::{Change, Nodes};
use crate::packed::Entry;
use crate::plain::Entries;

/// New entries by segment, each with the lower half of its hash.
type New = HashMap<usize, Vec<(u32, Vec<u8>)>>;

/// What became of the names without sets.
#[derive(Default)]
struct Bare {
    new: New,
    /// For Python to compile.
    left: Vec<Box<[u8]>>,
    /// How many a zone cut hides.
    hidden: usize,
}

/// What became of the names whose sets were kept.
struct Linked<'a> {
    segments: Vec<Arc<[u8]>>,
    entries: usize,
    /// For Python to compile.
    left: Vec<&'a [u8]>,
    dependents: Dependents,
}

impl Bulk {
    /// Finishes the names that draw on others, as far as they are plain, and leaves the rest to Python.
    pub fn finish(&mut self, wildcard_parents: &NameSet, odd_parents: &NameSet) -> Option<()> {
        let bare = self.count_empty_names()?;
        let mut others: HashMap<&[u8], Vec<&Set>, Seeded> = HashMap::default();
        self.sets.iter().for_each(|set| others.entry(&set.owner).or_default().push(set));
        let (apex, nodes, kept, children) = (&self.apex, &self.nodes, &self.kept, &self.children);
        let around = Surroundings { apex, nodes, kept, others: &others, children, wildcard_parents, odd_parents };
        let mut linker = Linker::new(around);
        let bare = finish_bare(&linker, bare, nodes.segments())?;
        let linked = finish_kept(&mut linker, (nodes, kept), apex, bare.new);
        let left: Vec<Set> = linked.left.iter().flat_map(|name| sets_of(kept, name)).collect();
        let gone = linked.left.iter().filter_map(|name| Change::removal(name)).collect();
        (self.dependents, self.bare) = (linked.dependents, bare.left);
        self.nodes = Nodes::of_segments(linked.segments, nodes.len() + linked.entries);
        self.kept.change(gone);
        self.sets.extend(left);
        self.count(bare.hidden);
        Some(())
    }

    /// Counts the names that exist only because something stands below them, each at the name above it, and returns them.
    fn count_empty_names(&mut self) -> Option<Vec<Box<[u8]>>> {
        let owners: HashSet<&[u8], Seeded> = self.sets.iter().map(|set| &*set.owner).collect();
        let mut name = Name::new();
        let mut bare = Vec::new();
        for each in self.children.keys().filter(|each| ***each != *self.apex) {
            name.read(each)?;
            let has_sets = self.nodes.find(&name, 0).is_some() || self.kept.find(&name, 0).is_some();
            if !has_sets && !owners.contains(&**each) {
                bare.push(each.clone());
            }
        }
        for each in &bare {
            *self.children.entry(parent(each)?.into()).or_default() += 1;
        }
        Some(bare)
    }
}

fn finish_bare(linker: &Linker<'_>, names: Vec<Box<[u8]>>, segments: usize) -> Option<Bare> {
    let mut bare = Bare::default();
    let mut name = Name::new();
    for each in names {
        name.read(&each)?;
        if linker.zone.is_hidden(&each) {
            bare.hidden += 1;
            continue;
        }
        match linker.bare(&each) {
            Some(entry) => {
                let place = Nodes::segment_of(name.hash(0), segments);
                bare.new.entry(place).or_default().push((name.hash(0) as u32, entry));
            }
            None => bare.left.push(each),
        }
    }
    Some(bare)
}

fn finish_kept<'a>(
    linker: &mut Linker<'a>,
    (nodes, kept): (&'a Nodes, &'a Nodes),
    apex: &[u8],
    mut bare: New,
) -> Linked<'a> {
    let mut dependents = Dependents::new(apex);
    let (mut segments, mut left, mut entries) = (Vec::with_capacity(nodes.segments()), Vec::new(), 0);
    let mut new = Entries::default();
    for number in 0..nodes.segments() {
        new.clear();
        for (hash, octets) in bare.remove(&number).unwrap_or_default() {
            let start = new.octets.len();
            new.octets.extend_from_slice(&octets);
            new.end(start, hash);
        }
        for (hash, octets) in kept.octets(number) {
            let entry = Entry::read(octets);
            if entry.is_hidden() {
                continue;
            }
            let start = new.octets.len();
            if linker.name(&entry, &mut new.octets).is_some() {
                dependents.add(entry.name, &linker.consulted);
                new.end(start, hash);
            } else {
                new.octets.truncate(start);
                left.push(entry.name);
            }
        }
        segments.push(if new.len() > 0 { new.with(nodes.octets(number)) } else { nodes.shared(number) });
        entries += new.len();
    }
    dependents.sort();
    Linked { segments, entries, left, dependents }
}

/// The sets of a name whose answers are Python's to compile.
fn sets_of(kept: &Nodes, name: &[u8]) -> Vec<Set> {
    let Some(entry) = kept.named(name) else { return Vec::new() };
    let set = |rdtype| {
        let (rdtype, ttl_s, rdatas) = own_set(&entry, rdtype);
        Set { owner: name.into(), rdtype, ttl_s, rdatas: rdatas.into_iter().map(Vec::into_boxed_slice).collect() }
    };
    entry.answers().map(|(rdtype, _)| set(rdtype)).collect()
}
