//! Transfers that go out, as Python sees them: sets or plain names in, messages out.
//!
//! Owns that border. `transfer` packs.
#![forbid(unsafe_code)]

use std::collections::HashSet;
use std::sync::Mutex;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::edge::guarded;
use crate::shared::held;
use crate::source::{Bulk, RecordOf};
use crate::transfer::{self, Record};

struct State {
    packer: transfer::Packer,
    skipped: HashSet<Vec<u8>>,
}

/// The messages of one transfer in the making.
#[pyclass(frozen)]
pub struct Packer(Mutex<State>);

#[pymethods]
impl Packer {
    /// `head` are ID and flags. Of plain names, those that are `skipped` are not packed.
    #[new]
    fn new(head: [u8; 4], question: &[u8], opt: &[u8], skipped: Vec<Vec<u8>>) -> PyResult<Self> {
        guarded(|| {
            let packer = transfer::Packer::new(head, question, opt);
            Ok(Packer(Mutex::new(State { packer, skipped: skipped.into_iter().collect() })))
        })
    }

    /// Takes records; returns the messages that are full.
    fn add<'py>(&self, py: Python<'py>, records: Vec<RecordOf<'py>>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        guarded(|| {
            let mut state = held(&self.0);
            for (owner, rdtype, ttl_s, rdata) in &records {
                let record =
                    Record { owner: owner.as_bytes(), rdtype: *rdtype, ttl_s: *ttl_s, rdata: rdata.as_bytes() };
                state.packer.add(&record);
            }
            Ok(taken(py, &mut state))
        })
    }

    /// Takes whole sets, as `zonemodel.rrset` has them; returns the messages that are full.
    fn add_sets<'py>(&self, py: Python<'py>, sets: Vec<Bound<'py, PyAny>>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        guarded(|| {
            let mut state = held(&self.0);
            for set in &sets {
                let owner = set.getattr(intern!(py, "owner"))?.downcast_into::<PyBytes>()?;
                let rdtype = set.getattr(intern!(py, "rdtype"))?.extract()?;
                let ttl_s = set.getattr(intern!(py, "ttl_s"))?.extract()?;
                for rdata in set.getattr(intern!(py, "rdatas"))?.downcast::<PyTuple>()?.iter_borrowed() {
                    let rdata = rdata.downcast::<PyBytes>()?.as_bytes();
                    state.packer.add(&Record { owner: owner.as_bytes(), rdtype, ttl_s, rdata });
                }
            }
            Ok(taken(py, &mut state))
        })
    }

    /// Takes the plain names of a zone from a segment on, until so many octets are ready or there are no more.
    ///
    /// Returns the messages that are full, and the segment to go on with.
    fn add_plain<'py>(
        &self,
        py: Python<'py>,
        plain: &Bulk,
        segment: usize,
        octets: usize,
    ) -> PyResult<(Vec<Bound<'py, PyBytes>>, Option<usize>)> {
        guarded(|| {
            let mut state = held(&self.0);
            let State { packer, skipped } = &mut *state;
            let mut next = Some(segment);
            while let Some(segment) = next.filter(|_| packer.ready_octets() < octets) {
                next = plain.0.for_each_record(segment, &mut |record| {
                    if skipped.is_empty() || !skipped.contains(record.owner) {
                        packer.add(record);
                    }
                });
            }
            Ok((taken(py, &mut state), next))
        })
    }

    /// Returns the last messages.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        guarded(|| {
            let mut state = held(&self.0);
            state.packer.close();
            Ok(taken(py, &mut state))
        })
    }
}

fn taken<'py>(py: Python<'py>, state: &mut State) -> Vec<Bound<'py, PyBytes>> {
    state.packer.take().iter().map(|message| PyBytes::new(py, message)).collect()
}
