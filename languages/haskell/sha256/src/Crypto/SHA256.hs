{-# LANGUAGE BangPatterns #-}
{-# OPTIONS_GHC -O2 #-}

-- |
-- Module      : Crypto.SHA256
-- Description : SHA-256 and HMAC-SHA256 in plain Haskell
-- License     : MIT OR Apache-2.0
--
-- SHA-256 (RFC 6234, FIPS 180-4) and HMAC-SHA256 (RFC 2104) without C and without foreign calls of its own.
--
-- Made for qualified import:
--
-- > import qualified Crypto.SHA256 as SHA256
--
-- >>> :set -XOverloadedStrings
-- >>> import qualified Crypto.SHA256 as SHA256
-- >>> SHA256.hex (SHA256.hash "abc")
-- "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
--
-- The functions are pure, run in time that depends only on the lengths of their arguments, and use memory that
-- does not grow with them.
module Crypto.SHA256
  ( -- * Hash of a message
    hash,
    hashLazy,

    -- * Hash of a message that comes in pieces
    Context,
    init,
    update,
    finalize,

    -- * Message authentication
    MAC (..),
    hmac,
    hmacLazy,

    -- * Output
    hex,
  )
where

import Crypto.SHA256.Block
import Data.Bits (unsafeShiftR, xor, (.&.), (.|.))
import qualified Data.ByteString as B
import qualified Data.ByteString.Builder as Builder
import qualified Data.ByteString.Char8 as Char8
import qualified Data.ByteString.Internal as Internal
import qualified Data.ByteString.Lazy as L
import qualified Data.ByteString.Lazy.Internal as L (ByteString (..))
import qualified Data.ByteString.Unsafe as Unsafe
import qualified Data.List as List
import Data.Word (Word64, Word8)
import Foreign.Ptr (Ptr, castPtr)
import System.IO.Unsafe (unsafeDupablePerformIO)
import Prelude hiding (init)

-- $setup
-- >>> :set -XOverloadedStrings
-- >>> import Prelude hiding (init)
-- >>> import qualified Data.ByteString as B
-- >>> import qualified Data.ByteString.Lazy as L

----------------------------------------------------------------------------------------------------------------
-- Hash

-- | The SHA-256 digest of a message, 32 bytes (RFC 6234, section 6.2).
--
-- >>> hex (hash "")
-- "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
hash :: B.ByteString -> B.ByteString
hash message = digest $ \mem out -> withBytes message $ \p len -> hashTo mem p len out

-- | The SHA-256 digest of a message that is read as it is needed. A file is hashed with about one chunk of it
-- in memory:
--
-- > hashLazy <$> Data.ByteString.Lazy.readFile "big.iso"
--
-- prop> \chunks -> hashLazy (L.fromChunks (map B.pack chunks)) == hash (B.concat (map B.pack chunks))
hashLazy :: L.ByteString -> B.ByteString
hashLazy message = finalize (updateLazy init message)

-- | A message of which not all bytes are known yet. Immutable: two messages with the same beginning can go on
-- from the same context.
data Context = Context
  { -- | The chaining value, in the form of a digest.
    _chaining :: !B.ByteString,
    -- | The bytes, fewer than 64, that do not fill a block yet.
    _pending :: !B.ByteString,
    -- | The number of bytes so far. Like RFC 6234, this package hashes messages of less than 2^61 bytes.
    _total :: !Word64
  }

-- | The context of the empty message.
init :: Context
init = Context (digest $ \mem out -> start mem >> writeDigest mem out) B.empty 0

-- | The context of the message with these bytes at its end. A call copies 32 to 95 bytes, so pieces of a few hundred
-- bytes or more go at full speed.
--
-- >>> hex (finalize (update (update init "a") "bc")) == hex (hash "abc")
-- True
update :: Context -> B.ByteString -> Context
update context@(Context chaining pending total) bytes
  | B.null bytes = context
  | B.length joined < 64 = Context chaining (if B.null pending then B.copy bytes else joined) total'
  | B.null pending = compress chaining bytes
  | otherwise = compress (blocksOf chaining joined) (Unsafe.unsafeDrop missing bytes)
  where
    missing = 64 - B.length pending
    joined = if B.null pending then bytes else pending <> B.take missing bytes
    total' = total + fromIntegral (B.length bytes)
    compress chaining' rest =
      let !whole = B.length rest .&. (-64)
          -- A copy, as above: a slice would keep the whole piece alive.
          !end = B.copy (Unsafe.unsafeDrop whole rest)
       in Context (blocksOf chaining' rest) end total'

-- | The chaining value after the whole blocks of the bytes.
blocksOf :: B.ByteString -> B.ByteString -> B.ByteString
blocksOf chaining bytes
  | B.length bytes < 64 = chaining
  | otherwise = digest $ \mem out ->
    withBytes chaining $ \c _ -> withBytes bytes $ \p len -> do
      resume mem c
      absorb mem p (len `unsafeShiftR` 6)
      writeDigest mem out

updateLazy :: Context -> L.ByteString -> Context
updateLazy !context L.Empty = context
updateLazy !context (L.Chunk bytes rest) = updateLazy (update context bytes) rest

-- | The digest of the message so far, 32 bytes. The context can be used further.
finalize :: Context -> B.ByteString
finalize (Context chaining pending total) = digest $ \mem out ->
  withBytes chaining $ \c _ -> withBytes pending $ \p len -> do
    resume mem c
    finish mem p len total
    writeDigest mem out

----------------------------------------------------------------------------------------------------------------
-- HMAC

-- | A message authentication code: the 32 bytes that 'hmac' returns, or the bytes that somebody sent and that are to be
-- compared with them.
--
-- '==' takes the same time wherever the codes differ, so an attacker learns nothing from it. Compare codes only
-- in this type, never as ByteStrings. Lengths are not secret: codes of different length differ at once.
--
-- >>> hmac "key" "message" == MAC (B.replicate 32 0)
-- False
newtype MAC = MAC B.ByteString

instance Eq MAC where
  MAC a == MAC b =
    B.length a == B.length b && List.foldl' (.|.) 0 (B.zipWith xor a b) == 0

-- | In hexadecimal.
instance Show MAC where
  showsPrec d (MAC code) = showParen (d > 10) $ showString "MAC " . shows (hex code)

-- | HMAC-SHA256 of a key and a message (RFC 2104, section 2; RFC 6234, section 8).
--
-- A key longer than the block of 64 bytes is hashed first (RFC 2104, section 3), so such a key and its hash
-- are the same key. Keys should have 32 bytes of entropy.
--
-- >>> hmac "Jefe" "what do ya want for nothing?"
-- MAC "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
hmac :: B.ByteString -> B.ByteString -> MAC
hmac key message = authenticated key (`update` message)

-- | The same of a message that is read as it is needed.
--
-- prop> \k m -> hmacLazy (B.pack k) (L.pack m) == hmac (B.pack k) (B.pack m)
hmacLazy :: B.ByteString -> L.ByteString -> MAC
hmacLazy key message = authenticated key (`updateLazy` message)

-- | H(K XOR opad, H(K XOR ipad, text)), where the function adds the text.
authenticated :: B.ByteString -> (Context -> Context) -> MAC
authenticated key addText = MAC (finalize (begun 0x5c `update` finalize (addText (begun 0x36))))
  where
    begun pad = init `update` B.map (xor pad) (short <> B.replicate (64 - B.length short) 0)
    short = if B.length key > 64 then hash key else key

----------------------------------------------------------------------------------------------------------------

-- | Bytes in lowercase hexadecimal, as digests are printed.
--
-- >>> hex "\0\255"
-- "00ff"
hex :: B.ByteString -> String
hex = Char8.unpack . L.toStrict . Builder.toLazyByteString . Builder.byteStringHex

-- | The 32 bytes that an action writes.
digest :: (Scratch -> Ptr Word8 -> IO ()) -> B.ByteString
digest action = unsafeDupablePerformIO $ Internal.create 32 $ \out -> withScratch $ \mem -> action mem out
{-# INLINE digest #-}

withBytes :: B.ByteString -> (Ptr Word8 -> Int -> IO r) -> IO r
withBytes bytes action = Unsafe.unsafeUseAsCStringLen bytes $ \(p, len) -> action (castPtr p) len
{-# INLINE withBytes #-}
