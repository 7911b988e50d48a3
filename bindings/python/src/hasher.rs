//! Hash objects in the shape of hashlib's.

use crate::data::Data;
use crate::ending;
use crate::errors;
use crate::growing::{self, Growing};
use crate::spec::{self, Format};
use crate::watched::SHORT;
use mksum::{Digest, KeyedBlake3};
use mksum_io::Stop;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use std::sync::{Mutex, MutexGuard};

/// A hash object with the methods of hashlib's (`hashlib`, *Hash Objects*): of a plain sum, or of a tree format, whose digest is
/// the root's.
///
/// Made by `new` and by the functions that are named like hashes. Usable with `hashlib.file_digest` and `hmac.new`, from several
/// threads at once, and by `copy.copy`. Many bytes at a time are hashed without the GIL, those of trees on all cores.
#[pyclass(frozen, module = "mksum")]
pub struct Hasher {
    spec: mksum::Spec,
    state: Mutex<State>,
}

/// The bytes so far.
struct State {
    /// The first bytes, as long as there are no others: to hash them in one call takes the fewest steps.
    held: Held,
    growing: Option<Box<Growing>>,
    /// The digest of the bytes so far, once somebody has asked for it.
    digest: Option<Digest>,
}

enum Held {
    Nothing,
    Bytes(Py<PyBytes>),
    Copy(Box<[u8]>),
}

/// An object of at most this many bytes that cannot change is held rather than hashed at once.
const HELD: usize = 1 << 20;
/// Other bytes are copied to be held if they are at most so many.
const COPIED: usize = 16 << 10;

impl Hasher {
    fn begin(py: Python<'_>, spec: mksum::Spec, data: Data<'_>) -> PyResult<Self> {
        if !spec.family().streams() {
            return Err(errors::join(py, &spec, mksum::NeedsLength.into()));
        }
        Self::begin_with(py, spec, None, data)
    }

    /// A hash object whose state before the first byte is `growing`, if it has a key.
    fn begin_with(py: Python<'_>, spec: mksum::Spec, growing: Option<Growing>, data: Data<'_>) -> PyResult<Self> {
        let mut state = State { held: Held::Nothing, growing: growing.map(Box::new), digest: None };
        state.append(py, &spec, data)?;
        Ok(Hasher { spec, state: Mutex::new(state) })
    }

    /// The state. After a panic it is not used again: see `State::append`.
    fn lock(&self, py: Python<'_>) -> MutexGuard<'_, State> {
        ending::lock(py, &self.state)
    }

    fn result(&self, py: Python<'_>) -> PyResult<Digest> {
        let mut state = self.lock(py);
        if let Some(digest) = state.digest {
            return Ok(digest);
        }
        let spec = &self.spec;
        let digest = match (&state.held, &state.growing) {
            (_, Some(growing)) => growing.root().map(|root| root.digest()),
            (Held::Nothing, None) => growing::digest(spec, &[]),
            (Held::Bytes(bytes), None) => {
                Data::Bytes(bytes.bind(py).clone()).with(py, |bytes| growing::digest(spec, bytes))
            }
            (Held::Copy(bytes), None) => growing::digest(spec, bytes),
        };
        let digest = digest.map_err(|reason| errors::join(py, spec, reason))?;
        state.digest = Some(digest);
        Ok(digest)
    }
}

impl State {
    fn append(&mut self, py: Python<'_>, spec: &mksum::Spec, data: Data<'_>) -> PyResult<()> {
        let len = data.bytes().len();
        if len == 0 {
            return Ok(());
        }
        self.digest = None;
        if self.growing.is_none() && matches!(self.held, Held::Nothing) {
            match data {
                Data::Bytes(bytes) if len <= HELD => {
                    self.held = Held::Bytes(bytes.unbind());
                    return Ok(());
                }
                Data::Buffer(_) if len <= COPIED => {
                    self.held = Held::Copy(data.bytes().into());
                    return Ok(());
                }
                _ => {}
            }
        }
        let fail = |reason| errors::join(py, spec, reason);
        // Taken out: if this panics, the object has no bytes rather than some of them.
        let mut growing = match self.growing.take() {
            Some(growing) => growing,
            None => Box::new(Growing::new(spec).map_err(|reason| fail(reason.into()))?),
        };
        match std::mem::replace(&mut self.held, Held::Nothing) {
            Held::Nothing => {}
            Held::Bytes(bytes) => {
                Data::Bytes(bytes.into_bound(py))
                    .with(py, |bytes| growing.update(bytes, &Stop::default()))
                    .map_err(fail)?;
            }
            Held::Copy(bytes) => growing.update(&bytes, &Stop::default()).map_err(fail)?,
        }
        let before = (len > SHORT).then(|| growing.clone());
        let updated = data.watched(py, |bytes, stop| growing.update(bytes, stop));
        let ended = updated.and_then(|updated| updated.map_err(fail));
        // After a signal the object has none of these bytes.
        self.growing = if ended.is_ok() { Some(growing) } else { before };
        ended
    }
}

#[pymethods]
impl Hasher {
    /// The name: hashlib's for a plain sum (`sha3_256`), else the text of the format. `new(name)` makes such an object.
    #[getter]
    fn name(&self) -> String {
        spec::name(&self.spec)
    }

    /// The size of the digest in bytes: 4 to 64.
    #[getter]
    fn digest_size(&self) -> usize {
        self.spec.hash().size()
    }

    /// The size of the blocks that the hash consumes, in bytes: 64 to 144, and 1 of a checksum. HMAC needs it (RFC 2104, 2).
    #[getter]
    fn block_size(&self) -> usize {
        self.spec.hash().block_size()
    }

    /// Appends bytes.
    ///
    /// Args:
    ///     data: Any contiguous object with the buffer protocol. A thread that writes to it meanwhile makes the digest one of a
    ///         mixture of old and new bytes.
    ///
    /// Raises:
    ///     LengthError: There are more than 2^63 bytes in all.
    #[pyo3(signature = (data, /))]
    fn update(&self, py: Python<'_>, data: Data<'_>) -> PyResult<()> {
        self.lock(py).append(py, &self.spec, data)
    }

    /// Returns the digest of the bytes so far: `digest_size` bytes.
    ///
    /// Raises:
    ///     LengthError: The format has no root for this length.
    fn digest<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, self.result(py)?.as_bytes()))
    }

    /// Returns the digest of the bytes so far as lower-case hex digits.
    ///
    /// Raises:
    ///     LengthError: The format has no root for this length.
    fn hexdigest<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        Ok(PyString::new(py, &self.result(py)?.to_string()))
    }

    /// Returns another object with the same bytes so far.
    fn copy(&self, py: Python<'_>) -> Self {
        let state = self.lock(py);
        let held = match &state.held {
            Held::Nothing => Held::Nothing,
            Held::Bytes(bytes) => Held::Bytes(bytes.clone_ref(py)),
            Held::Copy(bytes) => Held::Copy(bytes.clone()),
        };
        let state = State { held, growing: state.growing.clone(), digest: state.digest };
        Hasher { spec: self.spec.clone(), state: Mutex::new(state) }
    }

    fn __copy__(&self, py: Python<'_>) -> Self {
        self.copy(py)
    }

    fn __repr__(&self) -> String {
        format!("<{} mksum.Hasher>", self.name())
    }
}

/// Returns a hash object.
///
/// Args:
///     name: A name of hashlib's (`sha256`, `sha3_256`), a format (`rfc6962:sha256:64KiB`), or a `Spec`.
///     data: The first bytes: any contiguous object with the buffer protocol.
///     usedforsecurity: Accepted as hashlib does, and ignored.
///
/// Raises:
///     FormatError: The format is unknown.
///     LengthError: The format needs the input's length first (`mtsum`): use `root` or `file_root`.
#[pyfunction]
#[pyo3(signature = (name, data = Data::Nothing, *, usedforsecurity = true), text_signature = "(name, data=b'', *, usedforsecurity=True)")]
pub fn new(py: Python<'_>, name: Format, data: Data<'_>, usedforsecurity: bool) -> PyResult<Hasher> {
    let _ = usedforsecurity;
    Hasher::begin(py, name.0, data)
}

/// Returns a hash object of BLAKE3 with 32 bytes (the BLAKE3 paper, 2), with the arguments that the package `blake3` has for keys.
///
/// Args:
///     data: The first bytes: any contiguous object with the buffer protocol.
///     key: For a keyed hash, 32 bytes. Bytes are then hashed on one core.
///     derive_key_context: For a key that is derived from the bytes, a text that is used for nothing else. As `key`, and not
///         together with it.
///     usedforsecurity: Accepted as hashlib does, and ignored.
///
/// Raises:
///     ValueError: The key has not 32 bytes, or there are a key and a context.
#[pyfunction]
#[pyo3(
    signature = (data = Data::Nothing, *, key = None, derive_key_context = None, usedforsecurity = true),
    text_signature = "(data=b'', *, key=None, derive_key_context=None, usedforsecurity=True)"
)]
pub fn blake3(
    py: Python<'_>,
    data: Data<'_>,
    key: Option<Data<'_>>,
    derive_key_context: Option<&str>,
    usedforsecurity: bool,
) -> PyResult<Hasher> {
    let _ = usedforsecurity;
    let spec = spec::named(py, "blake3")?;
    let hash = match (key, derive_key_context) {
        (None, None) => return Hasher::begin(py, spec, data),
        (Some(key), None) => {
            let key = key.with(py, |bytes| <[u8; 32]>::try_from(bytes).map_err(|_| bytes.len()));
            KeyedBlake3::new(&key.map_err(|len| PyValueError::new_err(format!("key has {len} bytes: expected 32")))?)
        }
        (None, Some(context)) => KeyedBlake3::derive(context),
        (Some(_), Some(_)) => {
            return Err(PyValueError::new_err("key and derive_key_context cannot be used together"));
        }
    };
    Hasher::begin_with(py, spec.clone(), Some(Growing::Keyed(spec, hash, 0)), data)
}

/// A function for each hash and format whose name is one in Python, with the format's defaults.
macro_rules! constructors {
    ($($name:ident, $about:literal;)*) => {
        $(
            #[doc = concat!("Returns a hash object of ", $about, ".")]
            ///
            /// Args:
            ///     data: The first bytes: any contiguous object with the buffer protocol.
            ///     usedforsecurity: Accepted as hashlib does, and ignored.
            #[pyfunction]
            #[pyo3(signature = (data = Data::Nothing, *, usedforsecurity = true), text_signature = "(data=b'', *, usedforsecurity=True)")]
            pub fn $name(py: Python<'_>, data: Data<'_>, usedforsecurity: bool) -> PyResult<Hasher> {
                let _ = usedforsecurity;
                Hasher::begin(py, spec::named(py, stringify!($name))?, data)
            }
        )*
    };
}

constructors! {
    md5, "MD5 (RFC 1321)";
    sha1, "SHA-1 (FIPS 180-4, 6.1)";
    sha224, "SHA-224 (FIPS 180-4, 6.3)";
    sha256, "SHA-256 (FIPS 180-4, 6.2)";
    sha384, "SHA-384 (FIPS 180-4, 6.5)";
    sha512, "SHA-512 (FIPS 180-4, 6.4)";
    sha512_256, "SHA-512/256 (FIPS 180-4, 6.7)";
    sha3_224, "SHA3-224 (FIPS 202, 6.1)";
    sha3_256, "SHA3-256 (FIPS 202, 6.1)";
    sha3_384, "SHA3-384 (FIPS 202, 6.1)";
    sha3_512, "SHA3-512 (FIPS 202, 6.1)";
    blake2b, "BLAKE2b with 64 bytes, without a key (RFC 7693, 3)";
    blake2s, "BLAKE2s with 32 bytes, without a key (RFC 7693, 3)";
    sm3, "SM3 (GB/T 32905)";
    ripemd160, "RIPEMD-160 (ISO/IEC 10118-3)";
    rfc6962, "Certificate Transparency's tree (RFC 9162, 2.1; spec/rfc6962.md)";
    plain, "a binary tree without prefixes (spec/plain.md)";
    glacier, "Amazon Glacier's tree hash (spec/glacier.md)";
    blake3_pairs, "BLAKE3 of pairs over 2^k digests (spec/blake3-pairs.md)";
    btv2, "BitTorrent v2's pieces root (BEP 52; spec/btv2.md)";
    fsverity, "Linux fs-verity's file digest (spec/fsverity.md)";
    dmverity, "Linux dm-verity's root hash (spec/dmverity.md)";
    s3, "S3's composite checksum of a multipart upload (spec/s3.md)";
    dropbox, "Dropbox's content_hash (spec/dropbox.md)";
    sha256tree, "Bazel's digest function SHA256TREE (spec/sha256tree.md)";
    xet, "Hugging Face's file hash of Xet storage (spec/xet.md)";
    c4, "c4";
}
