//! From the compiled zones of Python to tables: docs/compiled-zone.md.
//!
//! Owns the reading of Python's values. Decides nothing about answers.
#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::rc::Rc;
use std::thread;

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::name::Name;
use crate::nodes::{Change, Nodes};
use crate::packed::{begin_entry, end_entry, put_answer, put_computed, put_node, Parts, Stored, Trim};

/// One name of a change: its content now, None when it is gone.
pub type Edit<'py> = (Bound<'py, PyBytes>, Option<(Bound<'py, PyAny>, Vec<(u16, Bound<'py, PyAny>)>)>);

/// A node and its answers by type, as Python has them.
type Found<'a, 'py> = (&'a Bound<'py, PyAny>, Vec<(u16, &'a Bound<'py, PyAny>)>);

/// Values that are read before other Python threads get a turn.
const TURN: usize = 500;
/// The type of answers that stand for no type.
const NO_TYPE: u16 = 0;

/// Reads answers; those that many names share are read once.
pub struct Reader {
    computed: Py<PyAny>,
    shared: HashMap<usize, Rc<Stored>>,
}

impl Reader {
    /// `computed` is the value that stands for answers that have to be worked out.
    pub fn new(computed: Py<PyAny>) -> Self {
        Reader { computed, shared: HashMap::new() }
    }

    /// Reads all names of a zone from the pages of two mappings.
    pub fn nodes(&mut self, answers: &[Bound<'_, PyDict>], nodes: &[Bound<'_, PyDict>]) -> PyResult<Nodes> {
        let Some(py) = nodes.first().map(Bound::py) else { return Ok(Nodes::empty(0)) };
        let names = nodes.iter().map(|page| page.len()).sum();
        let mut found = Vec::with_capacity(names);
        for (key, value) in answers.iter().flatten() {
            found.push((key.downcast_into::<PyBytes>()?, value));
        }
        let mut by_name: HashMap<&[u8], Vec<(u16, &Bound<'_, PyAny>)>> = HashMap::with_capacity(names);
        for (key, answer) in &found {
            let Some((name, [high, low])) = key.as_bytes().split_last_chunk::<2>() else {
                return Err(PyValueError::new_err("an answer's key is shorter than a type"));
            };
            by_name.entry(name).or_default().push((u16::from_be_bytes([*high, *low]), answer));
        }
        let mut changes = Vec::with_capacity(names);
        for (number, (name, node)) in nodes.iter().flatten().enumerate() {
            if number % TURN == 0 {
                py.detach(thread::yield_now);
            }
            let name = name.downcast_into::<PyBytes>()?;
            let answers = by_name.remove(name.as_bytes()).unwrap_or_default();
            changes.push(self.change(name.as_bytes(), Some((&node, answers)))?);
        }
        let mut map = Nodes::empty(names);
        py.detach(|| map.change(changes));
        Ok(map)
    }

    /// Makes the changes in a copy of the map.
    pub fn edit(&mut self, before: &Nodes, edits: &[Edit<'_>]) -> PyResult<Nodes> {
        let mut map = before.clone();
        let mut changes = Vec::with_capacity(edits.len());
        for (name, content) in edits {
            let content = content.as_ref().map(|(node, answers)| {
                (node, answers.iter().map(|(qtype, answer)| (*qtype, answer)).collect::<Vec<_>>())
            });
            changes.push(self.change(name.as_bytes(), content)?);
        }
        map.change(changes);
        Ok(map)
    }

    fn change(&mut self, name: &[u8], content: Option<Found<'_, '_>>) -> PyResult<Change> {
        let hash = hash_of(name)?;
        let Some((node, answers)) = content else { return Ok(Change { hash, name: name.into(), entry: None }) };
        let py = node.py();
        let mut entry = Vec::new();
        let start = begin_entry(&mut entry, name);
        let below = node.getattr(intern!(py, "below"))?;
        let source = below.getattr(intern!(py, "source"))?;
        let source = source.downcast::<PyBytes>()?.as_bytes();
        let other = self.shared(&node.getattr(intern!(py, "other"))?)?;
        let covering = self.shared(&below.getattr(intern!(py, "other"))?)?;
        let source_hash = if source.is_empty() { 0 } else { hash_of(source)? };
        put_node(&mut entry, start, |octets| other.put(octets), |octets| covering.put(octets), source, source_hash);
        for (qtype, answer) in answers {
            self.put(&mut entry, qtype, answer)?;
        }
        end_entry(&mut entry, start);
        Ok(Change { hash, name: name.into(), entry: Some(entry) })
    }

    fn shared(&mut self, value: &Bound<'_, PyAny>) -> PyResult<Rc<Stored>> {
        let identity = value.as_ptr() as usize;
        if let Some(found) = self.shared.get(&identity) {
            return Ok(Rc::clone(found));
        }
        let answer = Rc::new(self.answer(value)?);
        self.shared.insert(identity, Rc::clone(&answer));
        Ok(answer)
    }

    /// Reads an answer that stands for no type.
    pub fn answer(&self, value: &Bound<'_, PyAny>) -> PyResult<Stored> {
        let mut result = Ok(());
        let stored = Stored::new(|octets| result = self.put(octets, NO_TYPE, value));
        result.map(|()| stored)
    }

    fn put(&self, octets: &mut Vec<u8>, qtype: u16, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = value.py();
        if value.is(&self.computed) {
            put_computed(octets, qtype);
            return Ok(());
        }
        let body = value.getattr(intern!(py, "body"))?.downcast_into::<PyBytes>()?;
        let (flags, counts) = head(&value.getattr(intern!(py, "heads"))?)?;
        let step = value.getattr(intern!(py, "step"))?;
        let moving = if step.is_truthy()? { moving(&step, body.as_bytes().len())? } else { Vec::new() };
        let trims = value.getattr(intern!(py, "trims"))?.downcast_into::<PyTuple>()?;
        let trims = trims.iter().map(|each| trim(&each)).collect::<PyResult<Vec<_>>>()?;
        let soa = value.getattr(intern!(py, "soa"))?.is_truthy()?;
        put_answer(octets, qtype, &Parts { flags, counts, soa, body: body.as_bytes(), moving: &moving, trims: &trims });
        Ok(())
    }
}

/// The hash of a name in lower case.
pub fn hash_of(name: &[u8]) -> PyResult<u64> {
    let mut read = Name::new();
    match read.read(name) {
        Some(length) if length == name.len() => Ok(read.hash(0)),
        _ => Err(PyValueError::new_err("a name is not in wire form")),
    }
}

fn trim(value: &Bound<'_, PyAny>) -> PyResult<Trim> {
    let py = value.py();
    let (_, counts) = head(&value.getattr(intern!(py, "heads"))?)?;
    Ok(Trim { size: value.getattr(intern!(py, "size"))?.extract()?, counts })
}

/// Reads flags and counts from the first variant of a header: no RD, no OPT.
fn head(heads: &Bound<'_, PyAny>) -> PyResult<(u16, [u16; 3])> {
    let first = heads.get_item(0)?.downcast_into::<PyBytes>()?;
    let octets: &[u8; 10] =
        first.as_bytes().try_into().map_err(|_| PyValueError::new_err("a header has a wrong length"))?;
    let number = |at: usize| u16::from_be_bytes([octets[at], octets[at + 1]]);
    Ok((number(0) & 0x7FFF, [number(4), number(6), number(8)]))
}

/// Reads where the offsets stand: a number as long as the body holds a 1 in the last octet of each.
fn moving(step: &Bound<'_, PyAny>, length: usize) -> PyResult<Vec<u16>> {
    let py = step.py();
    let octets =
        step.call_method1(intern!(py, "to_bytes"), (length, intern!(py, "big")))?.downcast_into::<PyBytes>()?;
    Ok(places(octets.as_bytes()))
}

/// Where the offsets begin whose last octets are 1: up to place 65535, the last octet of one being the 65536th then.
fn places(octets: &[u8]) -> Vec<u16> {
    let ends = octets.iter().enumerate().skip(1).filter(|(_, octet)| **octet == 1);
    ends.map(|(end, _)| (end - 1) as u16).collect()
}

#[cfg(test)]
mod tests {
    use super::places;

    #[test]
    fn an_offset_may_stand_at_the_last_place_of_a_message() {
        let mut octets = vec![0; 65600];
        octets[1] = 1;
        octets[65536] = 1;
        assert_eq!(places(&octets), [0, 65535]);
    }
}
