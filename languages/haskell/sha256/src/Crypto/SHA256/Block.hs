{-# LANGUAGE BangPatterns #-}
{-# OPTIONS_GHC -O2 #-}
-- The loops here allocate nothing, and GHC interrupts a thread only where it allocates, unless told otherwise. Without this
-- flag a hash of some gigabytes would stop `timeout` and all other threads until its end. It costs about 1 %.
{-# OPTIONS_GHC -fno-omit-yields #-}

-- |
-- Module      : Crypto.SHA256.Block
-- Description : The SHA-256 compression function in plain Haskell
--
-- The compression function of SHA-256 (RFC 6234, sections 5.1 and 6.2; FIPS 180-4, section 6.2.2), and a
-- small interface to it that works on memory. Everything that is fast or unusual in this package is here and
-- in "Crypto.SHA256.Words"; "Crypto.SHA256" is the interface to use.
--
-- == Why it is written this way
--
-- GHC's native code generator has no rotate instruction, and it keeps few values in registers. Four decisions
-- follow from that, and each is worth 5 to 40 % of the speed:
--
-- 1. /Every 32-bit word lives in both halves of a 64-bit word./ Rotating the pair @x:x@ right by @n@ is then one
--    plain shift: the low half of @(x:x) >> n@ is @rotr n x@. Sums and logical operations leave the low half
--    right whatever stands in the high half, so only the result of a chain of them is doubled again.
-- 2. /Shifts are nested/: @rotr 2 x ^ rotr 13 x ^ rotr 22 x@ is @((d >> 9 ^ d) >> 11 ^ d) >> 2@ for the doubled word
--    @d@. Five instructions on one register instead of eight on three.
-- 3. /Words that are not needed soon are in memory, on purpose./ Of the eight working variables a round reads
--    five early and uses the other three (c, d, h) once, or not at all. Kept in registers, all eight together
--    drive the register allocator to spill values on the critical path.
-- 4. /Sixteen rounds are unrolled, not sixty-four/, so that the loop fits the processor's cache of decoded
--    instructions.
--
-- There is no table lookup that depends on data and no branch that depends on data: the time depends on lengths only.
-- That was read in the Core that GHC 9.0.2 makes of this module (@-ddump-simpl -dsuppress-all@). It compares two pointers
-- with the end of the constants (@eqAddr#@, in the rounds), lengths with 56 and 0 (@\<#@, @>#@, in the padding), and the
-- number of blocks that are left with 0; there is no other comparison. The words of the state and of the schedule are
-- arguments of sums, logical operations and shifts by constants, and what writes write; no address is made of them. In
-- the repository, a script runs the package in Valgrind with keys and messages marked as undefined: memcheck reports no
-- branch and no address that depends on them.
module Crypto.SHA256.Block
  ( -- * A place to work
    Scratch,
    withScratch,

    -- * The chaining value
    start,
    resume,
    writeDigest,

    -- * Compression
    absorb,
    finish,
    hashTo,

    -- * Messages of a known length
    Padding,
    paddingOf,
    absorbPadding,
  )
where

import Control.Monad ((>=>))
import Crypto.SHA256.Words
import Data.Bits (shiftL, unsafeShiftR, xor, (.&.))
import Data.Word (Word32, Word64, Word8, byteSwap32, byteSwap64)
import Foreign.ForeignPtr (ForeignPtr, mallocForeignPtrArray, withForeignPtr)
import Foreign.Marshal.Alloc (allocaBytesAligned)
import Foreign.Marshal.Array (advancePtr, pokeArray)
import Foreign.Marshal.Utils (copyBytes, fillBytes)
import Foreign.Ptr (Ptr, castPtr, plusPtr)
import Foreign.Storable (peekElemOff, poke, pokeByteOff, pokeElemOff)
import GHC.ByteOrder (ByteOrder (..), targetByteOrder)
import System.IO.Unsafe (unsafePerformIO)

----------------------------------------------------------------------------------------------------------------
-- Functions of RFC 6234, section 5.1; those that rotate are in "Crypto.SHA256.Words"

-- | @CH(x, y, z) = (x & y) ^ (~x & z)@, with one operation less.
choose :: W -> W -> W -> W
choose x y z = ((y `xor` z) .&. x) `xor` z
{-# INLINE choose #-}

----------------------------------------------------------------------------------------------------------------
-- Memory

-- | 384 bytes. In words of 64 bits:
--
-- >   0 ..  7   the chaining value a b c d e f g h, doubled
-- >   8 .. 11   the last four values of a: that of round t is at 8 + t mod 4
-- >  12 .. 15   the last four values of e, likewise
-- >  16 .. 31   the last sixteen words of the message schedule: W(t) is at 16 + t mod 16
-- >  32 .. 47   room for the padded end of a message
type Scratch = Ptr W

-- | Gives a place to work to an action. Nothing of it may be used after the action.
withScratch :: (Scratch -> IO r) -> IO r
withScratch = allocaBytesAligned 384 8
{-# INLINE withScratch #-}

-- | Where round t, or the word before the first round when t is -1, -2 or -3, keeps its a and its e.
slotA, slotE :: Int -> Int
slotA t = 8 + t .&. 3
slotE t = 12 + t .&. 3
{-# INLINE slotA #-}
{-# INLINE slotE #-}

slotW :: Int -> Int
slotW t = 16 + t .&. 15
{-# INLINE slotW #-}

-- | Begins a message: the initial hash value of RFC 6234, section 6.1.
start :: Scratch -> IO ()
start mem = setChaining mem 0x6a09e667 0xbb67ae85 0x3c6ef372 0xa54ff53a 0x510e527f 0x9b05688c 0x1f83d9ab 0x5be0cd19

-- | Goes on from a chaining value that 'writeDigest' wrote.
resume :: Scratch -> Ptr Word8 -> IO ()
resume mem p = do
  let word i = fromIntegral . bigEndian32 <$> peekElemOff (castPtr p) i
  a <- word 0
  b <- word 1
  c <- word 2
  d <- word 3
  e <- word 4
  f <- word 5
  g <- word 6
  h <- word 7
  setChaining mem a b c d e f g h

-- | Sets the chaining value, and the rings of a and e, which agree with it between any two blocks: the eight
-- working variables are the last four values of a and the last four of e.
setChaining :: Scratch -> W -> W -> W -> W -> W -> W -> W -> W -> IO ()
setChaining mem a b c d e f g h = do
  set 0 (slotA 0) a
  set 1 (slotA (-1)) b
  set 2 (slotA (-2)) c
  set 3 (slotA (-3)) d
  set 4 (slotE 0) e
  set 5 (slotE (-1)) f
  set 6 (slotE (-2)) g
  set 7 (slotE (-3)) h
  where
    set i slot x = do
      pokeElemOff mem i (doubled x)
      pokeElemOff mem slot (doubled x)
    {-# INLINE set #-}

-- | Writes the chaining value, 32 bytes. After 'finish' it is the digest.
writeDigest :: Scratch -> Ptr Word8 -> IO ()
writeDigest mem p = word 0 >> word 1 >> word 2 >> word 3 >> word 4 >> word 5 >> word 6 >> word 7
  where
    word i = do
      x <- peekElemOff mem i
      pokeElemOff (castPtr p) i (bigEndian32 (fromIntegral x))
    {-# INLINE word #-}
{-# INLINE writeDigest #-}

bigEndian32 :: Word32 -> Word32
bigEndian32 = case targetByteOrder of
  LittleEndian -> byteSwap32
  BigEndian -> id
{-# INLINE bigEndian32 #-}

bigEndian64 :: Word64 -> Word64
bigEndian64 = case targetByteOrder of
  LittleEndian -> byteSwap64
  BigEndian -> id
{-# INLINE bigEndian64 #-}

----------------------------------------------------------------------------------------------------------------
-- Rounds

-- | What a round needs at once: a, b, e, f, g, and @b ^ c@. It finds d and h in memory; c it does not need, since
-- @MAJ(a, b, c) = ((a ^ b) & (b ^ c)) ^ b@, and the next round's @b ^ c@ is this round's @a ^ b@.
data Working = Working !W !W !W !W !W !W

-- | Round t (RFC 6234, section 6.2, step 3) with the sum of the round's constant and its schedule word. The first two arguments are
-- the functions BSIG0 and BSIG1, in either form.
--
-- A sum is computed from its right end, so what is known last stands first.
step :: (W -> W) -> (W -> W) -> Scratch -> Int -> W -> Working -> IO Working
step bsig0 bsig1 mem t kw (Working a b e f g bc) = do
  h <- peekElemOff mem (slotE (t + 1)) -- e of round t - 3; its place is free then
  d <- peekElemOff mem (slotA (t + 1))
  let !t1 = bsig1 e + choose e f g + h + kw
      !e' = doubled (t1 + d)
      !ab = a `xor` b
      !a' = doubled (t1 + bsig0 a + ((bc .&. ab) `xor` b))
  pokeElemOff mem (slotE (t + 1)) e'
  pokeElemOff mem (slotA (t + 1)) a'
  pure (Working a' a e' e f ab)
{-# INLINE step #-}

-- | Round t of sixteen, where @k@ points to the sixteen constants.
plainRound :: Scratch -> Ptr W -> Int -> Working -> IO Working
plainRound mem k t v = do
  w <- peekElemOff mem (slotW t)
  c <- peekElemOff k t
  step bigSigma0 bigSigma1 mem t (c + w) v
{-# INLINE plainRound #-}

-- | The same, and then W(t + 16) in the place of W(t) (RFC 6234, section 6.2, step 1).
--
-- The schedule is computed beside the rounds, not before them: these are two chains of dependent instructions,
-- and the processor works on both at a time.
extendingRound :: Scratch -> Ptr W -> Int -> Working -> IO Working
extendingRound mem k t v = do
  v' <- plainRound mem k t v
  w14 <- peekElemOff mem (slotW (t + 14))
  w9 <- peekElemOff mem (slotW (t + 9))
  w1 <- peekElemOff mem (slotW (t + 1))
  w0 <- peekElemOff mem (slotW t)
  pokeElemOff mem (slotW t) (doubled (smallSigma1 w14 + smallSigma0 w1 + w9 + w0))
  pure v'
{-# INLINE extendingRound #-}

-- | A round whose schedule word has been added to its constant beforehand. There is no schedule to compute beside these rounds, so
-- what counts is the chain from one round to the next.
knownRound :: Scratch -> Ptr W -> Int -> Working -> IO Working
knownRound mem kw t v = do
  c <- peekElemOff kw t
  step bigSigma0Wide bigSigma1Wide mem t c v
{-# INLINE knownRound #-}

-- | Sixteen rounds, unrolled.
sixteen :: (Int -> Working -> IO Working) -> Working -> IO Working
sixteen f =
  f 0 >=> f 1 >=> f 2 >=> f 3 >=> f 4 >=> f 5 >=> f 6 >=> f 7
    >=> f 8
    >=> f 9
    >=> f 10
    >=> f 11
    >=> f 12
    >=> f 13
    >=> f 14
    >=> f 15
{-# INLINE sixteen #-}

-- | The working variables at the beginning of a block.
working :: Scratch -> IO Working
working mem = do
  a <- peekElemOff mem 0
  b <- peekElemOff mem 1
  c <- peekElemOff mem 2
  e <- peekElemOff mem 4
  f <- peekElemOff mem 5
  g <- peekElemOff mem 6
  pure (Working a b e f g (b `xor` c))
{-# INLINE working #-}

-- | Adds the working variables, which after 64 rounds are where they were before the first, to the chaining
-- value (RFC 6234, section 6.2, step 4).
feedForward :: Scratch -> IO ()
feedForward mem = do
  add 0 (slotA 0)
  add 1 (slotA (-1))
  add 2 (slotA (-2))
  add 3 (slotA (-3))
  add 4 (slotE 0)
  add 5 (slotE (-1))
  add 6 (slotE (-2))
  add 7 (slotE (-3))
  where
    add i slot = do
      x <- peekElemOff mem i
      y <- peekElemOff mem slot
      let !z = doubled (x + y)
      pokeElemOff mem i z
      pokeElemOff mem slot z
    {-# INLINE add #-}
{-# INLINE feedForward #-}

-- | Reads the sixteen words of a block, two at a time.
load :: Scratch -> Ptr Word8 -> IO ()
load mem p = two 0 >> two 1 >> two 2 >> two 3 >> two 4 >> two 5 >> two 6 >> two 7
  where
    two i = do
      x <- bigEndian64 <$> peekElemOff (castPtr p) i
      pokeElemOff mem (slotW (2 * i)) (doubled (fromIntegral (x `unsafeShiftR` 32)))
      pokeElemOff mem (slotW (2 * i + 1)) (doubled (fromIntegral x))
    {-# INLINE two #-}
{-# INLINE load #-}

-- | Compresses the given number of 64-byte blocks, one after another in memory.
absorb :: Scratch -> Ptr Word8 -> Int -> IO ()
{-# NOINLINE absorb #-}
absorb mem p0 n0 = withForeignPtr roundConstants $ \k0 ->
  let blocks :: Ptr Word8 -> Int -> IO ()
      blocks !_ 0 = pure ()
      blocks p n = do
        load mem p
        v <- working mem
        rounds p n k0 v
      rounds :: Ptr Word8 -> Int -> Ptr W -> Working -> IO ()
      rounds !p !n !k v
        | k == k0 `advancePtr` 48 = do
          _ <- sixteen (plainRound mem k) v
          feedForward mem
          blocks (p `plusPtr` 64) (n - 1)
        | otherwise = sixteen (extendingRound mem k) v >>= rounds p n (k `advancePtr` 16)
   in blocks p0 n0

-- | The last block of a message whose length is a multiple of 64 bytes: padding and the length, nothing of the message. So its
-- schedule is a table, and the block costs about three quarters of any other.
newtype Padding = Padding (ForeignPtr W)

-- | The padding of messages of so many bytes, a multiple of 64. It takes as long as some blocks: keep it.
paddingOf :: Int -> Padding
paddingOf len = Padding (table (zipWith (+) constants (schedule (0x80000000 : replicate 13 0 ++ [high, low]))))
  where
    bits = (fromIntegral len :: Word64) `shiftL` 3
    high = fromIntegral (bits `unsafeShiftR` 32)
    low = fromIntegral bits

-- | Compresses the last block.
absorbPadding :: Scratch -> Padding -> IO ()
{-# NOINLINE absorbPadding #-}
absorbPadding mem (Padding constantsAndSchedule) = withForeignPtr constantsAndSchedule $ \k0 ->
  let rounds :: Ptr W -> Working -> IO ()
      rounds !k v
        | k == k0 `advancePtr` 64 = feedForward mem
        | otherwise = sixteen (knownRound mem k) v >>= rounds (k `advancePtr` 16)
   in working mem >>= rounds k0

-- | Pads and compresses the end of a message (RFC 6234, section 4.1): fewer than 64 bytes at the pointer, and the
-- length in bytes of the whole message.
finish :: Scratch -> Ptr Word8 -> Int -> Word64 -> IO ()
finish mem p len total = do
  let pad = castPtr (mem `plusPtr` 256) :: Ptr Word8
      blocks = if len < 56 then 1 else 2
      end = 64 * blocks - 8
  copyBytes pad p len
  pokeByteOff pad len (0x80 :: Word8)
  fillBytes (pad `plusPtr` (len + 1)) 0 (end - len - 1)
  poke (castPtr (pad `plusPtr` end)) (bigEndian64 (total `shiftL` 3))
  absorb mem pad blocks

-- | The digest of a message at a pointer, its length in bytes, and where to write the 32 bytes; the two may overlap.
hashTo :: Scratch -> Ptr Word8 -> Int -> Ptr Word8 -> IO ()
hashTo mem p len out = do
  start mem
  if len == 64
    then absorb mem p 1 >> absorbPadding mem paddingOf64
    else do
      let whole = len `unsafeShiftR` 6
      if whole > 0 then absorb mem p whole else pure ()
      finish mem (p `plusPtr` (64 * whole)) (len .&. 63) (fromIntegral len)
  writeDigest mem out

----------------------------------------------------------------------------------------------------------------
-- Tables

table :: [Word32] -> ForeignPtr W
table ws = unsafePerformIO $ do
  p <- mallocForeignPtrArray (length ws)
  withForeignPtr p (`pokeArray` map fromIntegral ws)
  pure p

roundConstants :: ForeignPtr W
roundConstants = table constants
{-# NOINLINE roundConstants #-}

-- | Messages of 64 bytes are frequent: pairs of digests.
paddingOf64 :: Padding
paddingOf64 = paddingOf 64
{-# NOINLINE paddingOf64 #-}

-- | The message schedule of sixteen words, to the letter of RFC 6234, section 6.2, step 1. Used for tables only.
schedule :: [Word32] -> [Word32]
schedule block = take 64 ws
  where
    ws = block ++ zipWith4' (drop 14 ws) (drop 9 ws) (drop 1 ws) ws
    zipWith4' (x : xs) (y : ys) (z : zs) (u : us) = sum32 x y z u : zipWith4' xs ys zs us
    zipWith4' _ _ _ _ = []
    sum32 w14 w9 w1 w0 = fromIntegral (smallSigma1 (both w14) + both w9 + smallSigma0 (both w1) + both w0)
    both = doubled . fromIntegral

-- | The first 32 bits of the fractional parts of the cube roots of the first 64 primes (RFC 6234, section 5.1).
constants :: [Word32]
constants =
  [ 0x428a2f98,
    0x71374491,
    0xb5c0fbcf,
    0xe9b5dba5,
    0x3956c25b,
    0x59f111f1,
    0x923f82a4,
    0xab1c5ed5,
    0xd807aa98,
    0x12835b01,
    0x243185be,
    0x550c7dc3,
    0x72be5d74,
    0x80deb1fe,
    0x9bdc06a7,
    0xc19bf174,
    0xe49b69c1,
    0xefbe4786,
    0x0fc19dc6,
    0x240ca1cc,
    0x2de92c6f,
    0x4a7484aa,
    0x5cb0a9dc,
    0x76f988da,
    0x983e5152,
    0xa831c66d,
    0xb00327c8,
    0xbf597fc7,
    0xc6e00bf3,
    0xd5a79147,
    0x06ca6351,
    0x14292967,
    0x27b70a85,
    0x2e1b2138,
    0x4d2c6dfc,
    0x53380d13,
    0x650a7354,
    0x766a0abb,
    0x81c2c92e,
    0x92722c85,
    0xa2bfe8a1,
    0xa81a664b,
    0xc24b8b70,
    0xc76c51a3,
    0xd192e819,
    0xd6990624,
    0xf40e3585,
    0x106aa070,
    0x19a4c116,
    0x1e376c08,
    0x2748774c,
    0x34b0bcb5,
    0x391c0cb3,
    0x4ed8aa4a,
    0x5b9cca4f,
    0x682e6ff3,
    0x748f82ee,
    0x78a5636f,
    0x84c87814,
    0x8cc70208,
    0x90befffa,
    0xa4506ceb,
    0xbef9a3f7,
    0xc67178f2
  ]
