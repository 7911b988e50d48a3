-- | The program @merkle@: prints the root of a file.
module Main (main) where

import Args
import Control.Exception (IOException, try)
import Control.Monad (zipWithM_)
import qualified Crypto.SHA256 as SHA256
import qualified Data.ByteString as B
import qualified Data.ByteString.Internal as Internal
import Foreign.ForeignPtr (withForeignPtr)
import GHC.ForeignPtr (mallocPlainForeignPtrAlignedBytes)
import GHC.IO.Encoding (getFileSystemEncoding)
import GHC.IO.Exception (IOException (..))
import Merkle
import Rate (hashRate)
import Rows (completeProof, completeRoot, completeVerdict)
import System.Environment (getArgs)
import System.Exit (ExitCode (..), exitWith)
import System.IO

main :: IO ()
main = do
  -- The encoding of names keeps bytes that are no text in the locale, which messages have to print again.
  getFileSystemEncoding >>= hSetEncoding stderr
  arguments <- getArgs
  hSetBinaryMode stdout True
  case parse arguments of
    Left message -> complain 2 (message ++ "\nTry 'merkle --help'.")
    Right command -> do
      result <- try (run command)
      flushed <- try (hFlush stdout)
      case result >> flushed of
        Right () -> pure ()
        Left e -> complain 1 (describe command e)

-- | Ends the program, but not through exitWith's flush of standard output, which is what may have failed.
complain :: Int -> String -> IO ()
complain status message = do
  hPutStrLn stderr ("merkle: " ++ message)
  hFlush stderr
  exitWith (ExitFailure status)

-- | An error with the name of the file that it is about.
describe :: Command -> IOException -> String
describe command e
  | ioe_handle e == Just stdout = "standard output: " ++ reason
  | ioe_handle e == Just stdin = "standard input: " ++ reason
  | null (ioe_location e) = reason
  | otherwise = maybe "" (++ ": ") (_file command) ++ reason
  where
    reason = ioe_description e

run :: Command -> IO ()
run command
  | _help command = putStr usage
  | otherwise = case (fst <$> _mode command, _file command) of
    (Just CompleteRoots, _) -> rows completeRoot
    (Just CompleteProofs, _) -> rows completeProof
    (Just CompleteVerdicts, _) -> rows completeVerdict
    (Just HashRate, _) -> hashRate (_times command)
    (Nothing, Just file) | file /= "-" -> withBinaryFile file ReadMode printRoot
    (Nothing, _) -> printRoot stdin
  where
    tree = maybe (error "the command line was checked") empty (shape (_format command) (_segment command))
    -- Reads until the end of the file, whatever length single reads have.
    printRoot handle = do
      hSetBinaryMode handle True
      end <- go handle tree
      putStrLn (SHA256.hex (root end))
    go handle t = do
      -- New memory that begins at a multiple of 64, which B.hGetSome's does not: into other places, some processors copy at a third
      -- of the speed.
      memory <- mallocPlainForeignPtrAlignedBytes 65536 64
      got <- withForeignPtr memory (\start -> hGetBufSome handle start 65536)
      let piece = Internal.fromForeignPtr memory 0 got
      if B.null piece then pure t else let next = update t piece in next `seq` go handle next

-- | Copies comments, and completes rows, up to the first that cannot be completed.
rows :: (String -> Either String String) -> IO ()
rows complete = do
  hSetBinaryMode stdin True
  input <- lines <$> getContents
  zipWithM_ row [1 :: Int ..] input
  where
    row _ line@('#' : _) = putStrLn line
    row number line = case complete line of
      Right completed -> putStrLn completed
      Left message -> ioError (userError "") {ioe_description = "row " ++ show number ++ ": " ++ message}
