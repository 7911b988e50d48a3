-- | The program @merkle@: prints the root of a file.
module Main (main) where

import Control.Exception (IOException, try)
import Control.Monad (zipWithM_)
import qualified Crypto.SHA256 as SHA256
import qualified Data.ByteString as B
import Merkle
import Rate (hashRate)
import Rows (completeRow, wholeNumber)
import System.Environment (getArgs)
import System.Exit (ExitCode (..), exitWith)
import System.IO

usage :: String
usage =
  unlines
    [ "usage: merkle [--format plain|rfc6962] [--segment BYTES] [FILE]",
      "       merkle --rows",
      "       merkle --hash-rate COUNT",
      "",
      "Prints the Merkle root of FILE, or of standard input, in hexadecimal.",
      "",
      "  --format     plain: leaves H(bytes), nodes H(left, right)   (default)",
      "               rfc6962: leaves H(0, bytes), nodes H(1, left, right)",
      "  --segment    bytes in a leaf, 1 or more; 64 by default",
      "  --rows       reads test vectors from standard input and writes them with the roots",
      "  --hash-rate  hashes the string test.dat COUNT times and prints seconds and MH/s"
    ]

data Options = Options {_format :: Format, _segment :: Int, _files :: [FilePath]}

main :: IO ()
main = do
  arguments <- getArgs
  hSetBinaryMode stdout True
  result <- try $ do
    run arguments
    hFlush stdout
  case result of
    Right () -> pure ()
    Left e -> do
      hPutStrLn stderr ("merkle: " ++ show (e :: IOException))
      -- Not through exitWith's flush of standard output, which is what may have failed.
      exitWith (ExitFailure 1)

run :: [String] -> IO ()
run ["--help"] = putStr usage
run ["--rows"] = rows
run ["--hash-rate", count] = maybe (misuse ("not a count: " ++ count)) hashRate (wholeNumber count)
run arguments = case parse (Options Plain 64 []) arguments of
  Left message -> misuse message
  Right (Options f size files) -> case (shape f size, files) of
    (Nothing, _) -> misuse "a segment has 1 byte or more"
    (Just s, []) -> printRoot s stdin
    (Just s, [file]) -> withBinaryFile file ReadMode (printRoot s)
    (_, _ : file : _) -> misuse ("a second file: " ++ file)

parse :: Options -> [String] -> Either String Options
parse options arguments = case arguments of
  [] -> Right options {_files = reverse (_files options)}
  "--format" : "plain" : rest -> parse options {_format = Plain} rest
  "--format" : "rfc6962" : rest -> parse options {_format = Rfc6962} rest
  "--format" : other : _ -> Left ("unknown format: " ++ other)
  "--segment" : text : rest -> case wholeNumber text of
    Just size -> parse options {_segment = size} rest
    Nothing -> Left ("not a number of bytes: " ++ text)
  "--" : files -> Right options {_files = reverse (_files options) ++ files}
  [option] | option `elem` ["--format", "--segment"] -> Left (option ++ " needs a value")
  option@('-' : _ : _) : _ -> Left ("unknown option: " ++ option)
  file : rest -> parse options {_files = file : _files options} rest

misuse :: String -> IO a
misuse message = do
  hPutStrLn stderr ("merkle: " ++ message ++ "\n" ++ usage)
  exitWith (ExitFailure 2)

-- | Reads until the end of the file, whatever length single reads have.
printRoot :: Shape -> Handle -> IO ()
printRoot s handle = do
  hSetBinaryMode handle True
  tree <- go (empty s)
  putStrLn (SHA256.hex (root tree))
  where
    go tree = do
      piece <- B.hGetSome handle 65536
      if B.null piece then pure tree else let next = update tree piece in next `seq` go next

-- | Copies comments, and completes rows with their root.
rows :: IO ()
rows = do
  hSetBinaryMode stdin True
  input <- lines <$> getContents
  zipWithM_ row [1 :: Int ..] input
  where
    row number line = case completeRow line of
      Right completed -> putStrLn completed
      Left message -> ioError (userError ("row " ++ show number ++ ": " ++ message))
