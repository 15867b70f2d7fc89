//! Zones on their way in, as Python sees them: read from a master file or gathered from the lines of a snapshot.
//!
//! Owns that border. `bulk` decides which names are plain.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::sync::Mutex;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::load::hash_of;
use crate::master::Record;
use crate::shared::held;
use crate::{bulk, line};

/// The content of a zone that was read from its master file: plain names, whose answers are finished, and the sets of all others.
#[pyclass(frozen)]
pub struct Bulk(pub bulk::Bulk);

/// The sets of a name: type, TTL and data.
type Sets<'py> = Vec<(u16, u32, Bound<'py, PyTuple>)>;

/// One set: owner, type, TTL and data.
type SetOf<'py> = (Bound<'py, PyBytes>, u16, u32, Bound<'py, PyTuple>);

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
        py.detach(|| bulk::read(&path, origin, &mut ask)).map(Bulk)
    }

    #[getter]
    fn apex<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.apex)
    }

    /// The number of plain names.
    fn __len__(&self) -> usize {
        self.0.nodes.len()
    }

    /// The number of their answers.
    #[getter]
    fn answers(&self) -> usize {
        self.0.answers
    }

    /// Says whether a name is a plain one.
    fn has(&self, name: &[u8]) -> bool {
        hash_of(name).is_ok_and(|hash| self.0.nodes.get(hash, name).is_some())
    }

    /// Returns the sets of a plain name: type, TTL and data; None for any other name.
    fn sets<'py>(&self, py: Python<'py>, name: &[u8]) -> PyResult<Option<Sets<'py>>> {
        let Ok(hash) = hash_of(name) else { return Ok(None) };
        let Some(entry) = self.0.nodes.get(hash, name) else { return Ok(None) };
        let sets = bulk::sets_of(&entry).into_iter();
        sets.map(|(rdtype, ttl_s, rdatas)| {
            Ok((rdtype, ttl_s, PyTuple::new(py, rdatas.iter().map(|rdata| PyBytes::new(py, rdata)))?))
        })
        .collect::<PyResult<_>>()
        .map(Some)
    }

    /// Returns the plain names of one segment, None past the last one.
    fn names<'py>(&self, py: Python<'py>, segment: usize) -> Option<Vec<Bound<'py, PyBytes>>> {
        let entries = self.0.nodes.segment(segment)?;
        Some(entries.map(|entry| PyBytes::new(py, entry.name)).collect())
    }

    /// Returns the sets of all names that are not plain.
    fn others<'py>(&self, py: Python<'py>) -> PyResult<Vec<SetOf<'py>>> {
        let set = |set: &bulk::Set| {
            let rdatas = PyTuple::new(py, set.rdatas.iter().map(|rdata| PyBytes::new(py, rdata)))?;
            Ok((PyBytes::new(py, &set.owner), set.rdtype, set.ttl_s, rdatas))
        };
        self.0.sets.iter().map(set).collect()
    }

    /// Returns how many names exist directly below each name that has some.
    fn children<'py>(&self, py: Python<'py>) -> Vec<(Bound<'py, PyBytes>, u32)> {
        self.0.children.iter().map(|(name, count)| (PyBytes::new(py, name), *count)).collect()
    }
}

/// A zone of a snapshot while its sets come in.
#[pyclass(frozen)]
pub struct BulkDraft {
    origin: Vec<u8>,
    draft: Mutex<Option<(bulk::Draft, u32)>>,
}

#[pymethods]
impl BulkDraft {
    #[new]
    fn new(origin: Vec<u8>) -> Self {
        BulkDraft { origin, draft: Mutex::new(Some((bulk::Draft::new(), 0))) }
    }

    /// Takes the sets of canonical lines; returns the lines that are not plain, for Python to read.
    fn add_lines<'py>(&self, lines: &Bound<'py, PyTuple>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let mut left = Vec::new();
        let mut set = line::Set::default();
        for line in lines.iter() {
            let line = line.downcast_into::<PyBytes>()?;
            match set.read(line.as_bytes(), &self.origin) {
                Some(()) => self.add(&set.owner, set.rdtype, set.ttl_s, set.rdatas.iter().map(Vec::as_slice)),
                None => left.push(line),
            }
        }
        Ok(left)
    }

    /// Takes one set.
    fn add_set(&self, owner: &[u8], rdtype: u16, ttl_s: u32, rdatas: Vec<Bound<'_, PyBytes>>) {
        self.add(owner, rdtype, ttl_s, rdatas.iter().map(|rdata| rdata.as_bytes()));
    }

    /// Returns what the zone holds; None for one that Python has to compile whole.
    fn finish(&self, py: Python<'_>) -> Option<Bulk> {
        let (draft, _) = held(&self.draft).take()?;
        let origin = self.origin.clone();
        py.detach(|| draft.finish(Some(origin))).map(Bulk)
    }
}

impl BulkDraft {
    fn add<'a>(&self, owner: &[u8], rdtype: u16, ttl_s: u32, rdatas: impl Iterator<Item = &'a [u8]>) {
        if let Some((draft, sources)) = &mut *held(&self.draft) {
            *sources += 1;
            rdatas.for_each(|rdata| draft.add(&Record { owner, rdtype, ttl_s, rdata, source: *sources }));
        }
    }
}
