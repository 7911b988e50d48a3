{-# LANGUAGE ForeignFunctionInterface #-}

-- | Hashes bytes that Valgrind's memcheck takes for undefined. It reports every branch and every address that depends on them: there
-- must be none. With the argument @branch@ there is one, to see that memcheck reports it.
module Main (main) where

import Control.Monad (forM_, when)
import qualified Crypto.SHA256 as SHA256
import qualified Data.ByteString as B
import qualified Data.ByteString.Unsafe as Unsafe
import Foreign.C.Types (CSize (..))
import Foreign.Ptr (Ptr, castPtr)
import System.Environment (getArgs)

foreign import ccall unsafe mark_secret :: Ptr () -> CSize -> IO ()

foreign import ccall unsafe mark_public :: Ptr () -> CSize -> IO ()

marked :: (Ptr () -> CSize -> IO ()) -> B.ByteString -> IO ()
marked mark bytes = Unsafe.unsafeUseAsCStringLen bytes $ \(p, n) -> mark (castPtr p) (fromIntegral n)

main :: IO ()
main = do
  arguments <- getArgs
  forM_ [0, 1, 31, 32, 55, 56, 63, 64, 65, 127, 128, 129, 1000] $ \n -> do
    let key = B.replicate (n `mod` 100) 7
        message = B.replicate n 90
        split = n `div` 3
    key `seq` marked mark_secret key
    message `seq` marked mark_secret message
    let digest = SHA256.hash message
        SHA256.MAC code = SHA256.hmac key message
        pieces = SHA256.finalize (SHA256.update (SHA256.update SHA256.init (B.take split message)) (B.drop split message))
    forM_ [digest, code, pieces] $ \result -> do
      when (arguments == ["branch"]) $ when (B.head result == 0) $ putStrLn "a first byte is 0"
      marked mark_public result
      putStrLn (SHA256.hex result)
