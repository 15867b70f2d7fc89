//! The edge between Python and native code: no fault crosses it as a panic.
//!
//! Owns how a fault is told. What the caller does then is the caller's affair.
#![forbid(unsafe_code)]

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// Every call from Python goes through here: a fault is told as RuntimeError, which ends what Python was doing and nothing else.
pub fn guarded<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|fault| Err(PyRuntimeError::new_err(words(&*fault))))
}

/// What a panic says.
fn words(fault: &(dyn Any + Send)) -> String {
    let text = fault.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| fault.downcast_ref::<&str>().copied()).unwrap_or("a fault without words").to_owned()
}
