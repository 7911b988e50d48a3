-- |
-- Module      : Crypto.SHA256.Words
-- Description : Words of SHA-256 for GHC's native code generator
--
-- 32-bit words and the functions that rotate them, in the form that suits GHC's native code generator.
module Crypto.SHA256.Words
  ( W,
    doubled,
    bigSigma0,
    bigSigma1,
    bigSigma0Wide,
    bigSigma1Wide,
    smallSigma0,
    smallSigma1,
  )
where

import Data.Bits (unsafeShiftL, unsafeShiftR, xor, (.|.))
import Data.Word (Word32, Word64)
import Prelude hiding ((^))

-- | A 32-bit word. The low half is its value; after 'doubled' the high half is the same value once more.
type W = Word64

-- | The value of the low half, zero-extended.
low :: W -> Word64
low x = fromIntegral (fromIntegral x :: Word32)
{-# INLINE low #-}

-- | The value of the low half in both halves.
doubled :: W -> W
doubled x = (x `unsafeShiftL` 32) .|. low x
{-# INLINE doubled #-}

-- | Shift right. On a doubled word the low half of the result is the word rotated right.
(>>>) :: W -> Int -> W
(>>>) = unsafeShiftR
{-# INLINE (>>>) #-}

(^) :: W -> W -> W
(^) = xor
{-# INLINE (^) #-}

infixl 8 >>>

infixl 5 ^

-- | @BSIG0(x) = rotr 2 x ^ rotr 13 x ^ rotr 22 x@, nested: 22 = 2 + 11 + 9.
bigSigma0 :: W -> W
bigSigma0 x = ((x >>> 9 ^ x) >>> 11 ^ x) >>> 2
{-# INLINE bigSigma0 #-}

-- | @BSIG1(x) = rotr 6 x ^ rotr 11 x ^ rotr 25 x@, nested: 25 = 6 + 5 + 14.
bigSigma1 :: W -> W
bigSigma1 x = ((x >>> 14 ^ x) >>> 5 ^ x) >>> 6
{-# INLINE bigSigma1 #-}

-- | The same two functions side by side instead of nested: two instructions more, but a shorter chain of them.
bigSigma0Wide, bigSigma1Wide :: W -> W
bigSigma0Wide x = x >>> 2 ^ x >>> 13 ^ x >>> 22
bigSigma1Wide x = x >>> 6 ^ x >>> 11 ^ x >>> 25
{-# INLINE bigSigma0Wide #-}
{-# INLINE bigSigma1Wide #-}

-- | @SSIG0(x) = rotr 7 x ^ rotr 18 x ^ shr 3 x@, nested: 18 = 3 + 4 + 11. The word that is only shifted comes
-- without its double, so that zeros follow it; and first, since operands are evaluated from the right and a value that
-- waits takes a register.
smallSigma0 :: W -> W
smallSigma0 x = (low x ^ (x >>> 11 ^ x) >>> 4) >>> 3
{-# INLINE smallSigma0 #-}

-- | @SSIG1(x) = rotr 17 x ^ rotr 19 x ^ shr 10 x@, nested: 19 = 10 + 7 + 2.
smallSigma1 :: W -> W
smallSigma1 x = (low x ^ (x >>> 2 ^ x) >>> 7) >>> 10
{-# INLINE smallSigma1 #-}
