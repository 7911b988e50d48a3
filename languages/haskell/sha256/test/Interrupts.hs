-- | A large message does not stop the rest of the program: GHC interrupts only code that allocates or was compiled for it, and
-- the rounds allocate nothing.
module Main (main) where

import Control.Concurrent (forkIO, killThread, threadDelay, yield)
import Control.Exception (evaluate)
import Control.Monad (forever, unless)
import qualified Crypto.SHA256 as SHA256
import qualified Data.ByteString as B
import Data.IORef (newIORef, readIORef, writeIORef)
import Data.Maybe (isNothing)
import GHC.Clock (getMonotonicTime)
import System.Exit (exitFailure)
import System.Timeout (timeout)

main :: IO ()
main = do
  -- A second or more of work.
  message <- evaluate (B.replicate (384 * 1048576) 90)
  good <- mapM (check message) cases
  unless (and good) exitFailure
  where
    cases =
      [ ("hash", SHA256.hash),
        ("hmac", \m -> let SHA256.MAC code = SHA256.hmac (B.replicate 32 7) m in code),
        ("update and finalize", SHA256.finalize . SHA256.update SHA256.init)
      ]

check :: B.ByteString -> (String, B.ByteString -> B.ByteString) -> IO Bool
check message (name, f) = do
  reference <- newIORef message
  start <- getMonotonicTime
  result <- timeout 50000 (readIORef reference >>= evaluate . f)
  stop <- getMonotonicTime
  -- Another thread, which notes the longest time that it had to wait.
  longest <- newIORef 0
  ticker <- forkIO $ do
    getMonotonicTime >>= newIORef >>= \previous -> forever $ do
      now <- getMonotonicTime
      before <- readIORef previous
      readIORef longest >>= writeIORef longest . max (now - before)
      writeIORef previous now
      yield
      threadDelay 1000
  threadDelay 20000
  whole <- getMonotonicTime
  _ <- readIORef reference >>= evaluate . f
  done <- getMonotonicTime
  threadDelay 20000
  killThread ticker
  stall <- readIORef longest
  let interrupted = isNothing result
      work = done - whole
      -- Against the time of the whole hash, which takes seconds: not against a clock, since machines may be busy.
      good = interrupted && stop - start < work / 2 && stall < work / 2
  putStrLn (name ++ ": " ++ show work ++ " s; a timeout of 0.05 s returned after " ++ show (stop - start) ++ " s, another thread waited " ++ show stall ++ " s at most")
  unless good $ putStrLn "not interrupted"
  pure good
