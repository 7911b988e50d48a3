-- | How many short strings a second.
module Rate (hashRate) where

import Control.Exception (evaluate)
import Control.Monad (replicateM_)
import qualified Crypto.SHA256 as SHA256
import qualified Data.ByteString.Char8 as C
import Data.IORef (newIORef, readIORef)
import GHC.Clock (getMonotonicTime)
import Numeric (showFFloat)

-- | Hashes the string @test.dat@ so many times, and prints the seconds and the rate.
hashRate :: Int -> IO ()
hashRate count = do
  -- Read anew each time, so that the compiler cannot hash it once for all.
  string <- newIORef (C.pack "test.dat")
  before <- getMonotonicTime
  replicateM_ count (readIORef string >>= evaluate . SHA256.hash)
  after <- getMonotonicTime
  let seconds = after - before
  putStrLn (showFFloat (Just 6) seconds " s " ++ showFFloat (Just 3) (fromIntegral count / seconds / 1e6) " MH/s")
