-- |
-- Module      : Crypto.SHA256.Words
-- Description : Words of SHA-256 for LLVM
--
-- 32-bit words and the functions that rotate them, in the form that suits LLVM: as RFC 6234, section 5.1, has them. LLVM
-- finds the rotate instruction by itself.
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
import Data.Word (Word32)

-- | A 32-bit word.
type W = Word32

-- | The word. Only the other form has something to do here.
doubled :: W -> W
doubled = id
{-# INLINE doubled #-}

rotr :: Int -> W -> W
rotr n x = (x `unsafeShiftR` n) .|. (x `unsafeShiftL` (32 - n))
{-# INLINE rotr #-}

shr :: Int -> W -> W
shr n x = x `unsafeShiftR` n
{-# INLINE shr #-}

-- | BSIG0 and BSIG1, in the one form that there is here.
bigSigma0, bigSigma1, bigSigma0Wide, bigSigma1Wide :: W -> W
bigSigma0 x = rotr 2 x `xor` rotr 13 x `xor` rotr 22 x
bigSigma1 x = rotr 6 x `xor` rotr 11 x `xor` rotr 25 x
bigSigma0Wide = bigSigma0
bigSigma1Wide = bigSigma1
{-# INLINE bigSigma0 #-}
{-# INLINE bigSigma1 #-}
{-# INLINE bigSigma0Wide #-}
{-# INLINE bigSigma1Wide #-}

-- | SSIG0 and SSIG1.
smallSigma0, smallSigma1 :: W -> W
smallSigma0 x = rotr 7 x `xor` rotr 18 x `xor` shr 3 x
smallSigma1 x = rotr 17 x `xor` rotr 19 x `xor` shr 10 x
{-# INLINE smallSigma0 #-}
{-# INLINE smallSigma1 #-}
