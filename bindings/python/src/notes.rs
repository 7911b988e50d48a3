//! Signed notes, checkpoints, policies and proofs of logs: what is checked without the log.

use crate::data::Data;
use crate::errors;
use mksum_log::{Error, VerifierKey};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// What a call trusts: a `Policy`, or the text of one.
pub struct Trusted(pub mksum_log::Policy);

impl<'py> FromPyObject<'_, 'py> for Trusted {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(policy) = object.cast::<Policy>() {
            return Ok(Trusted(policy.get().policy.clone()));
        }
        let text: String = object.extract()?;
        text.parse().map(Trusted).map_err(|error| errors::log(object.py(), error))
    }
}

/// Reads something from text or bytes.
fn parsed<T>(data: &Bound<'_, PyAny>, parse: impl FnOnce(&[u8]) -> Result<T, Error>) -> PyResult<T> {
    let parsed = match data.cast::<PyString>() {
        Ok(text) => parse(text.to_str()?.as_bytes()),
        Err(_) => parse(data.extract::<Data>()?.bytes()),
    };
    parsed.map_err(|error| errors::log(data.py(), error))
}

/// A key as `NAME+ID+KEY`.
pub fn verifier(py: Python<'_>, text: &str) -> PyResult<VerifierKey> {
    text.trim_end().parse().map_err(|error| errors::log(py, error))
}

/// Hashes as bytes of Python's.
fn lists<'py>(py: Python<'py>, hashes: &[[u8; 32]]) -> Vec<Bound<'py, PyBytes>> {
    hashes.iter().map(|hash| PyBytes::new(py, hash)).collect()
}

/// A policy: which logs are trusted, and which witnesses must have cosigned (C2SP tlog-policy).
///
/// Args:
///     text: The lines of a policy; or a verifier key, `NAME+ID+KEY`, whose log is trusted without witnesses.
///
/// Raises:
///     ProofError: It is neither. The message has the line.
///
/// Example:
///     >>> policy = Policy("example.com/ledger+3481d542+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c")
///     >>> policy.logs[0][:18]
///     'example.com/ledger'
#[pyclass(frozen, module = "mksum.log")]
pub struct Policy {
    policy: mksum_log::Policy,
}

#[pymethods]
impl Policy {
    #[new]
    fn new(text: Trusted) -> Self {
        Policy { policy: text.0 }
    }

    /// The keys of the trusted logs, as `NAME+ID+KEY`.
    #[getter]
    fn logs(&self) -> Vec<String> {
        self.policy.logs().iter().map(ToString::to_string).collect()
    }

    /// The keys of the witnesses, of the quorum or not.
    #[getter]
    fn witnesses(&self) -> Vec<String> {
        self.policy.witnesses().iter().map(ToString::to_string).collect()
    }

    /// Checks that a note is a checkpoint which a trusted log signed and enough witnesses cosigned. Returns the checkpoint.
    ///
    /// Args:
    ///     note: The `Note`.
    ///
    /// Raises:
    ///     ProofError: It is no checkpoint, is not signed so, or a signature by one of the keys is not valid.
    fn check(&self, py: Python<'_>, note: &Bound<'_, Note>) -> PyResult<Checkpoint> {
        self.policy.check(&note.get().note).map(Checkpoint::from).map_err(|error| errors::log(py, error))
    }
}

/// A checkpoint: the number of entries of a log, and the root of their tree (C2SP tlog-checkpoint).
///
/// Args:
///     text: Its text, three lines or more: that of a note.
///
/// Raises:
///     ProofError: It is none. The message has the line.
#[pyclass(frozen, eq, module = "mksum.log")]
#[derive(Clone, PartialEq)]
pub struct Checkpoint {
    pub checkpoint: mksum_log::Checkpoint,
}

impl From<mksum_log::Checkpoint> for Checkpoint {
    fn from(checkpoint: mksum_log::Checkpoint) -> Self {
        Checkpoint { checkpoint }
    }
}

#[pymethods]
impl Checkpoint {
    #[new]
    fn new(py: Python<'_>, text: &str) -> PyResult<Self> {
        text.parse().map(|checkpoint| Checkpoint { checkpoint }).map_err(|error| errors::log(py, error))
    }

    /// The name of the log: mostly its URL without the scheme.
    #[getter]
    fn origin(&self) -> &str {
        self.checkpoint.origin()
    }

    /// The number of entries, at most 2^63.
    #[getter]
    fn size(&self) -> u64 {
        self.checkpoint.size()
    }

    /// The root of the tree over the entries: 32 bytes (RFC 6962, 2.1).
    #[getter]
    fn root<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.checkpoint.root())
    }

    /// Further lines, which mean nothing to mksum.
    #[getter]
    fn extensions(&self) -> Vec<String> {
        self.checkpoint.extensions().to_vec()
    }

    fn __str__(&self) -> String {
        self.checkpoint.to_string()
    }

    fn __repr__(&self) -> String {
        format!("Checkpoint({:?})", self.checkpoint.to_string())
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        PyString::new(py, &self.checkpoint.to_string()).hash()
    }
}

/// A signed note: a text, and lines with signatures, none of which is verified yet (C2SP signed-note).
///
/// Args:
///     data: The note: text, or bytes in UTF-8, at most 1 MiB with at most 256 signatures.
///
/// Raises:
///     ProofError: It is none.
#[pyclass(frozen, eq, module = "mksum.log")]
#[derive(Clone, PartialEq)]
pub struct Note {
    pub note: mksum_log::Note,
}

#[pymethods]
impl Note {
    #[new]
    fn new(data: &Bound<'_, PyAny>) -> PyResult<Self> {
        parsed(data, mksum_log::Note::parse).map(|note| Note { note })
    }

    /// The text, with the newline at its end.
    #[getter]
    fn text(&self) -> &str {
        self.note.text()
    }

    /// The signatures, none of which need be valid: the name of the key, its identifier (4 bytes), and the signature.
    #[getter]
    fn signatures<'py>(&self, py: Python<'py>) -> Vec<(String, Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
        let row = |signature: &mksum_log::NoteSignature| {
            (signature.name.clone(), PyBytes::new(py, &signature.id), PyBytes::new(py, &signature.bytes))
        };
        self.note.signatures().iter().map(row).collect()
    }

    /// Verifies the signature by a key (Ed25519, RFC 8032).
    ///
    /// Args:
    ///     key: The verifier key, `NAME+ID+KEY`.
    ///
    /// Returns:
    ///     The time of a witness's cosignature, in seconds since 1970, and 0 for a log's signature. None if the key did not sign the note.
    ///
    /// Raises:
    ///     ProofError: A signature claims to be by the key and is not valid; or the key is none.
    fn verify(&self, py: Python<'_>, key: &str) -> PyResult<Option<u64>> {
        let signed = self.note.verify(&verifier(py, key)?).map_err(|error| errors::log(py, error))?;
        Ok(signed.map(|signed| signed.time))
    }

    fn __str__(&self) -> String {
        self.note.to_string()
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.note.to_string().as_bytes())
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        PyString::new(py, &self.note.to_string()).hash()
    }
}

/// A proof that an entry is in a log, with a signed checkpoint: a `.tlog-proof` file (C2SP tlog-proof).
///
/// Nothing in it is trusted before `check`. `str(proof)` and `bytes(proof)` are the file.
///
/// Args:
///     data: The proof: text, or bytes in UTF-8.
///
/// Raises:
///     ProofError: It is none. The message has the line.
#[pyclass(frozen, module = "mksum.log")]
pub struct Proof {
    pub proof: mksum_log::Proof,
}

#[pymethods]
impl Proof {
    #[new]
    fn new(data: &Bound<'_, PyAny>) -> PyResult<Self> {
        parsed(data, mksum_log::Proof::parse).map(|proof| Proof { proof })
    }

    /// The index of the entry, from 0.
    #[getter]
    fn index(&self) -> u64 {
        self.proof.index()
    }

    /// The hashes beside the path from the entry to the root, the lowest first: at most 64 of 32 bytes (RFC 9162, 2.1.3).
    #[getter]
    fn hashes<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        lists(py, self.proof.hashes())
    }

    /// The checkpoint with its signatures, none of which is verified yet.
    #[getter]
    fn note(&self) -> Note {
        Note { note: self.proof.note().clone() }
    }

    /// Opaque data of an application, which nothing vouches for; None if there is none.
    #[getter]
    fn extra<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.proof.extra().map(|extra| PyBytes::new(py, extra))
    }

    /// Checks that a trusted log, and enough witnesses, signed a tree with `entry` at the proof's index (RFC 9162, 2.1.3.2).
    ///
    /// Args:
    ///     entry: The bytes of the entry.
    ///     trusted: A `Policy`; or the text of one, such as a verifier key.
    ///
    /// Returns:
    ///     The `Checkpoint` that the log signed.
    ///
    /// Raises:
    ///     ProofError: The checkpoint is not signed so, or the entry is another one or elsewhere.
    fn check(&self, py: Python<'_>, entry: Data<'_>, trusted: Trusted) -> PyResult<Checkpoint> {
        let checked = entry.with(py, |entry| self.proof.check(entry, &trusted.0));
        checked.map(Checkpoint::from).map_err(|error| errors::log(py, error))
    }

    /// Checks the same by the hash of the entry.
    ///
    /// Args:
    ///     hash: The hash of the entry as a leaf, 32 bytes: see `entry_hash`.
    ///     trusted: As for `check`.
    ///
    /// Raises:
    ///     ProofError: As for `check`.
    fn check_hash(&self, py: Python<'_>, hash: [u8; 32], trusted: Trusted) -> PyResult<Checkpoint> {
        let checked = self.proof.check_hash(hash, &trusted.0);
        checked.map(Checkpoint::from).map_err(|error| errors::log(py, error))
    }

    fn __str__(&self) -> String {
        self.proof.to_string()
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.proof.to_string().as_bytes())
    }
}

/// A proof that a log has only grown, with the newer checkpoint (C2SP tlog-witness, the body of `add-checkpoint`).
///
/// Nothing in it is trusted before `check`. `str(proof)` and `bytes(proof)` are the file.
///
/// Args:
///     data: The proof: text, or bytes in UTF-8.
///
/// Raises:
///     ProofError: It is none. The message has the line.
#[pyclass(frozen, module = "mksum.log")]
pub struct ConsistencyProof {
    pub proof: mksum_log::ConsistencyProof,
}

#[pymethods]
impl ConsistencyProof {
    #[new]
    fn new(data: &Bound<'_, PyAny>) -> PyResult<Self> {
        parsed(data, mksum_log::ConsistencyProof::parse).map(|proof| ConsistencyProof { proof })
    }

    /// The number of entries of the older tree.
    #[getter]
    fn old_size(&self) -> u64 {
        self.proof.old_size()
    }

    /// The hashes, in the order of RFC 9162, 2.1.4: at most 64 of 32 bytes.
    #[getter]
    fn hashes<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        lists(py, self.proof.hashes())
    }

    /// The newer checkpoint with its signatures, none of which is verified yet.
    #[getter]
    fn note(&self) -> Note {
        Note { note: self.proof.note().clone() }
    }

    /// Checks that the newer checkpoint is signed as wanted, and that its tree extends that of `old` (RFC 9162, 2.1.4.2).
    ///
    /// Args:
    ///     old: The older checkpoint, which the caller has verified.
    ///     trusted: A `Policy`; or the text of one, such as a verifier key.
    ///
    /// Returns:
    ///     The newer `Checkpoint`.
    ///
    /// Raises:
    ///     ProofError: The newer checkpoint is not signed so, is of another log, or does not extend the older one.
    fn check(&self, py: Python<'_>, old: &Bound<'_, Checkpoint>, trusted: Trusted) -> PyResult<Checkpoint> {
        let checked = self.proof.check(&old.get().checkpoint, &trusted.0);
        checked.map(Checkpoint::from).map_err(|error| errors::log(py, error))
    }

    fn __str__(&self) -> String {
        self.proof.to_string()
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.proof.to_string().as_bytes())
    }
}

/// Returns the hash of an entry as a leaf of a log's tree: SHA-256(0x00 ‖ entry), 32 bytes (RFC 6962, 2.1).
///
/// Args:
///     entry: The bytes of the entry.
#[pyfunction]
pub fn entry_hash<'py>(py: Python<'py>, entry: Data<'py>) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &entry.with(py, mksum_log::entry_hash))
}
