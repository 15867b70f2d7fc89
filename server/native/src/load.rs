//! From the compiled zones of Python to tables: docs/compiled-zone.md.
//!
//! Owns the reading of Python's values. Decides nothing about answers.
#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::sync::Arc;
use std::thread;

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::map::Map;
use crate::table::{Answer, Cover, Node, Trim};

/// One name of a change: its content now, None when it is gone.
pub type Edit<'py> = (Bound<'py, PyBytes>, Option<(Bound<'py, PyAny>, Vec<(u16, Bound<'py, PyAny>)>)>);

/// Values that are read before other Python threads get a turn.
const TURN: usize = 500;

/// Reads answers; those that many names share are read once.
pub struct Reader {
    computed: Py<PyAny>,
    none: Arc<Answer>,
    shared: HashMap<usize, Arc<Answer>>,
}

impl Reader {
    /// `computed` is the value that stands for answers that have to be worked out.
    pub fn new(computed: Py<PyAny>) -> Self {
        let none = Answer {
            flags: 0,
            counts: [0; 3],
            soa: false,
            computed: true,
            body: Box::new([]),
            moving: Box::new([]),
            trims: Box::new([]),
        };
        Reader { computed, none: Arc::new(none), shared: HashMap::new() }
    }

    pub fn nodes(&mut self, answers: &[Bound<'_, PyDict>], nodes: &[Bound<'_, PyDict>]) -> PyResult<Map<Node>> {
        let Some(py) = nodes.first().map(Bound::py) else { return Ok(Map::with_room_for(0)) };
        let names = nodes.iter().map(|page| page.len()).sum();
        let mut found = Vec::with_capacity(names);
        for (number, (key, value)) in answers.iter().flatten().enumerate() {
            if number % TURN == 0 {
                py.detach(thread::yield_now);
            }
            found.push((key.downcast_into::<PyBytes>()?, self.answer(&value)?));
        }
        let mut by_name: HashMap<&[u8], Vec<(u16, Arc<Answer>)>> = HashMap::with_capacity(names);
        for (key, answer) in &found {
            let Some((name, [high, low])) = key.as_bytes().split_last_chunk::<2>() else {
                return Err(PyValueError::new_err("an answer's key is shorter than a type"));
            };
            by_name.entry(name).or_default().push((u16::from_be_bytes([*high, *low]), Arc::clone(answer)));
        }
        let mut map = Map::with_room_for(names);
        for (number, (name, node)) in nodes.iter().flatten().enumerate() {
            if number % TURN == 0 {
                py.detach(thread::yield_now);
            }
            let name = name.downcast_into::<PyBytes>()?;
            let answers = by_name.remove(name.as_bytes()).unwrap_or_default();
            map.put(Arc::new(self.node(&name, &node, answers)?));
        }
        Ok(map)
    }

    /// Makes the changes in a copy of the map.
    pub fn edit(&mut self, before: &Map<Node>, edits: Vec<Edit<'_>>) -> PyResult<Map<Node>> {
        let mut map = before.clone();
        for (name, content) in edits {
            let Some((node, answers)) = content else {
                map.remove(name.as_bytes());
                continue;
            };
            let answers =
                answers.iter().map(|(qtype, answer)| Ok((*qtype, self.answer(answer)?))).collect::<PyResult<_>>()?;
            map.put(Arc::new(self.node(&name, &node, answers)?));
        }
        Ok(map)
    }

    fn node(
        &mut self,
        name: &Bound<'_, PyBytes>,
        node: &Bound<'_, PyAny>,
        answers: Vec<(u16, Arc<Answer>)>,
    ) -> PyResult<Node> {
        let py = node.py();
        let below = node.getattr(intern!(py, "below"))?;
        let source = below.getattr(intern!(py, "source"))?;
        Ok(Node {
            name: name.as_bytes().into(),
            answers: answers.into_boxed_slice(),
            other: self.shared(&node.getattr(intern!(py, "other"))?)?,
            below: Cover {
                source: source.downcast::<PyBytes>()?.as_bytes().into(),
                other: self.shared(&below.getattr(intern!(py, "other"))?)?,
            },
        })
    }

    fn shared(&mut self, value: &Bound<'_, PyAny>) -> PyResult<Arc<Answer>> {
        let identity = value.as_ptr() as usize;
        if let Some(found) = self.shared.get(&identity) {
            return Ok(Arc::clone(found));
        }
        let answer = self.answer(value)?;
        self.shared.insert(identity, Arc::clone(&answer));
        Ok(answer)
    }

    pub fn answer(&self, value: &Bound<'_, PyAny>) -> PyResult<Arc<Answer>> {
        let py = value.py();
        if value.is(&self.computed) {
            return Ok(Arc::clone(&self.none));
        }
        let body = value.getattr(intern!(py, "body"))?.downcast_into::<PyBytes>()?;
        let (flags, counts) = head(&value.getattr(intern!(py, "heads"))?)?;
        let step = value.getattr(intern!(py, "step"))?;
        let moving = if step.is_truthy()? { moving(&step, body.as_bytes().len())? } else { Box::default() };
        let trims = value.getattr(intern!(py, "trims"))?.downcast_into::<PyTuple>()?;
        let trims = trims.iter().map(|each| trim(&each)).collect::<PyResult<Vec<_>>>()?;
        Ok(Arc::new(Answer {
            flags,
            counts,
            soa: value.getattr(intern!(py, "soa"))?.is_truthy()?,
            computed: false,
            body: body.as_bytes().into(),
            moving,
            trims: trims.into_boxed_slice(),
        }))
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
fn moving(step: &Bound<'_, PyAny>, length: usize) -> PyResult<Box<[u32]>> {
    let py = step.py();
    let octets =
        step.call_method1(intern!(py, "to_bytes"), (length, intern!(py, "big")))?.downcast_into::<PyBytes>()?;
    let places = octets.as_bytes().iter().enumerate().filter(|(_, octet)| **octet == 1);
    Ok(places.map(|(place, _)| place as u32 - 1).collect())
}
