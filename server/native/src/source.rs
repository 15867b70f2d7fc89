//! Zones on their way in, as Python sees them: read from a master file or gathered from the lines of a snapshot.
//!
//! Owns that border. `bulk` takes records, `plain` decides which names are plain.
#![forbid(unsafe_code)]

use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::Mutex;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::content::{self, Kind};
use crate::edge::guarded;
use crate::master::{is_known, Record};
use crate::packed::{Answer, Entry};
use crate::shared::held;
use crate::{bulk, line};

/// The content of a zone that was read or gathered natively: names whose answers are finished, and the sets of all others.
#[pyclass(frozen)]
pub struct Bulk(pub content::Bulk);

/// The sets of a name: type, TTL and data.
type Sets<'py> = Vec<(u16, u32, Bound<'py, PyTuple>)>;

/// One set: owner, type, TTL and data.
type SetOf<'py> = (Bound<'py, PyBytes>, u16, u32, Bound<'py, PyTuple>);

/// One record: owner, type, TTL and data.
pub type RecordOf<'py> = (Bound<'py, PyBytes>, u16, u32, Bound<'py, PyBytes>);

/// An answer: flags, counts, whether the SOA record follows, body, where its offsets move, and shorter forms.
type AnswerOf<'py> = (u16, Counts, bool, Bound<'py, PyBytes>, Vec<usize>, Vec<(usize, Counts)>);

/// A node: what it says to other types, what covers the names below, and the wildcard that does.
type NodeOf<'py> = (AnswerOf<'py>, AnswerOf<'py>, Bound<'py, PyBytes>);

/// Records in the answer, authority and additional section.
type Counts = (u16, u16, u16);

#[pymethods]
impl Bulk {
    /// Reads a master file whose every octet is understood; returns None for any other.
    ///
    /// `read_data` returns the record data for type, text and origin, None when they are to be read with the whole file.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf, origin: Option<Vec<u8>>, read_data: Py<PyAny>) -> Option<Self> {
        let mut ask = |rdtype: u16, text: &str, origin: &[u8]| {
            Python::attach(|py| {
                let data = read_data.call1(py, (rdtype, text, PyBytes::new(py, origin))).ok()?;
                data.extract::<Option<Vec<u8>>>(py).ok()?
            })
        };
        // The edge of a call: after a fault here, Python reads the file.
        let read = || py.detach(|| bulk::read(&path, origin, &mut ask));
        panic::catch_unwind(AssertUnwindSafe(read)).ok().flatten().map(Bulk)
    }

    #[getter]
    fn apex<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        guarded(|| Ok(PyBytes::new(py, &self.0.apex)))
    }

    /// The numbers of names that are finished, of their answers, of names with sets, of names that exist, and of those that hide others.
    #[getter]
    fn sizes(&self) -> PyResult<(usize, usize, usize, usize, usize)> {
        let bulk = &self.0;
        guarded(|| Ok((bulk.nodes.len(), bulk.answers, bulk.owners, bulk.names, bulk.barriers)))
    }

    /// Says whether a name is finished.
    fn has(&self, name: &[u8]) -> PyResult<bool> {
        guarded(|| Ok(self.0.nodes.named(name).is_some()))
    }

    /// Says whether a name hides what lies below it.
    fn is_barrier(&self, name: &[u8]) -> PyResult<bool> {
        guarded(|| Ok(self.0.is_barrier(name)))
    }

    /// Returns how many names exist directly below a name, None for one that does not exist.
    fn children(&self, name: &[u8]) -> PyResult<Option<u32>> {
        guarded(|| Ok(self.0.children_of(name)))
    }

    /// Returns the sets of a name: type, TTL and data; None for a name that has none here.
    fn sets<'py>(&self, py: Python<'py>, name: &[u8]) -> PyResult<Option<Sets<'py>>> {
        guarded(|| {
            let Some(sets) = self.0.sets_of(name) else { return Ok(None) };
            let set = |(rdtype, ttl_s, rdatas): (u16, u32, Vec<Vec<u8>>)| {
                Ok((rdtype, ttl_s, PyTuple::new(py, rdatas.iter().map(|rdata| PyBytes::new(py, rdata)))?))
            };
            sets.into_iter().map(set).collect::<PyResult<_>>().map(Some)
        })
    }

    /// Returns the types that a finished name has answers for.
    fn types(&self, name: &[u8]) -> PyResult<Vec<u16>> {
        let types = |entry: Entry<'_>| entry.answers().map(|(rdtype, _)| rdtype).collect();
        guarded(|| Ok(self.0.nodes.named(name).map_or_else(Vec::new, types)))
    }

    /// Returns the answer of a finished name to a type that it has one for.
    fn answer<'py>(&self, py: Python<'py>, name: &[u8], rdtype: u16) -> PyResult<Option<AnswerOf<'py>>> {
        let found = || self.0.nodes.named(name)?.answer(rdtype);
        guarded(|| Ok(found().map(|answer| parts(py, &answer))))
    }

    /// Returns what a finished name says to other types, what covers the names below, and the wildcard that does.
    fn node<'py>(&self, py: Python<'py>, name: &[u8]) -> PyResult<Option<NodeOf<'py>>> {
        guarded(|| {
            let Some(entry) = self.0.nodes.named(name) else { return Ok(None) };
            let below = entry.below();
            let mut other = parts(py, &entry.other());
            if entry.says_as_below() {
                let body = moved(&below.other, entry.name.len());
                (other.3, other.4) = (PyBytes::new(py, &body), Vec::new());
            }
            Ok(Some((other, parts(py, &below.other), PyBytes::new(py, below.source))))
        })
    }

    /// Returns some of the names that are finished (0), that have sets (1), that exist (2), or that hide others (3); None past the last.
    fn names<'py>(&self, py: Python<'py>, kind: u8, number: usize) -> PyResult<Option<Vec<Bound<'py, PyBytes>>>> {
        guarded(|| {
            let kind = match kind {
                0 => Kind::Finished,
                1 => Kind::Owners,
                2 => Kind::Existing,
                _ => Kind::Barriers,
            };
            let names = self.0.listed(kind, number);
            Ok(names.map(|names| names.into_iter().map(|name| PyBytes::new(py, name)).collect()))
        })
    }

    /// Returns the sets of all names that Python is to compile.
    fn others<'py>(&self, py: Python<'py>) -> PyResult<Vec<SetOf<'py>>> {
        let set = |set: &content::Set| {
            let rdatas = PyTuple::new(py, set.rdatas.iter().map(|rdata| PyBytes::new(py, rdata)))?;
            Ok((PyBytes::new(py, &set.owner), set.rdtype, set.ttl_s, rdatas))
        };
        guarded(|| self.0.sets.iter().map(set).collect())
    }

    /// Returns the names without sets that Python is to compile.
    fn bare<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        guarded(|| Ok(self.0.bare.iter().map(|name| PyBytes::new(py, name)).collect()))
    }

    /// Returns the finished names whose answers hang on a name itself, or, unless `exactly`, on any name below it, too.
    fn dependents<'py>(&self, py: Python<'py>, name: &[u8], exactly: bool) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let owners = || self.0.dependents.on(name, exactly).into_iter();
        guarded(|| Ok(owners().map(|owner| PyBytes::new(py, owner)).collect()))
    }
}

fn parts<'py>(py: Python<'py>, answer: &Answer<'_>) -> AnswerOf<'py> {
    let trims = answer.trims().map(|trim| (trim.size, trim.counts.into())).collect();
    (answer.flags, answer.counts.into(), answer.soa, PyBytes::new(py, answer.body), answer.moving().collect(), trims)
}

/// The body as it is for a question name of so many octets.
fn moved(answer: &Answer<'_>, length: usize) -> Vec<u8> {
    let mut body = answer.body.to_vec();
    for place in answer.moving() {
        let moved = u16::from_be_bytes([body[place], body[place + 1]]).wrapping_add(length as u16);
        body[place..place + 2].copy_from_slice(&moved.to_be_bytes());
    }
    body
}

/// A zone while its sets or records come in.
#[pyclass(frozen)]
pub struct BulkDraft {
    origin: Vec<u8>,
    draft: Mutex<Option<(bulk::Draft, u32)>>,
}

#[pymethods]
impl BulkDraft {
    #[new]
    fn new(origin: Vec<u8>) -> PyResult<Self> {
        guarded(|| Ok(BulkDraft { origin, draft: Mutex::new(Some((bulk::Draft::new(), 0))) }))
    }

    /// Takes the sets of canonical lines; returns the lines that are not plain, for Python to read.
    fn add_lines<'py>(&self, py: Python<'py>, text: &[u8]) -> Vec<Bound<'py, PyBytes>> {
        let mut set = line::Set::default();
        let mut is_left = |line: &&[u8]| {
            let is_plain = set.read(line, &self.origin).is_some();
            if is_plain {
                self.add(&set.owner, set.rdtype, set.ttl_s, set.rdatas.iter().map(Vec::as_slice));
            }
            !is_plain
        };
        self.guarded(|| {
            let lines = text.split(|octet| *octet == b'\n').filter(|line| !line.is_empty());
            lines.filter(|line| is_left(line)).map(|line| PyBytes::new(py, line)).collect()
        })
    }

    /// Takes records of any order; says whether all of them are of types that are understood here.
    fn add_records(&self, records: Vec<RecordOf<'_>>) -> bool {
        self.guarded(|| {
            let mut draft = held(&self.draft);
            let Some((draft, _)) = &mut *draft else { return false };
            records.iter().all(|(owner, rdtype, ttl_s, rdata)| {
                let (owner, rdata) = (owner.as_bytes(), rdata.as_bytes());
                draft.add(&Record { owner, rdtype: *rdtype, ttl_s: *ttl_s, rdata, source: 0 });
                is_known(*rdtype)
            })
        })
    }

    /// Takes one set.
    fn add_set(&self, owner: &[u8], rdtype: u16, ttl_s: u32, rdatas: Vec<Bound<'_, PyBytes>>) {
        self.guarded(|| self.add(owner, rdtype, ttl_s, rdatas.iter().map(|rdata| rdata.as_bytes())));
    }

    /// Returns what the zone holds; None for one that Python has to compile whole.
    fn finish(&self, py: Python<'_>) -> Option<Bulk> {
        let (draft, _) = held(&self.draft).take()?;
        let origin = self.origin.clone();
        self.guarded(|| py.detach(|| draft.finish(Some(origin)))).map(Bulk)
    }
}

impl BulkDraft {
    /// The edge of a call: after a fault here there is no draft any more, so that Python compiles the zone.
    fn guarded<T: Default>(&self, work: impl FnOnce() -> T) -> T {
        panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
            *held(&self.draft) = None;
            T::default()
        })
    }

    fn add<'a>(&self, owner: &[u8], rdtype: u16, ttl_s: u32, rdatas: impl Iterator<Item = &'a [u8]>) {
        if let Some((draft, sources)) = &mut *held(&self.draft) {
            *sources += 1;
            rdatas.for_each(|rdata| draft.add(&Record { owner, rdtype, ttl_s, rdata, source: *sources }));
        }
    }
}
