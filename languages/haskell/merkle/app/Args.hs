-- | The command line: contract.sh, beside the languages, has its grammar.
module Args (Command (..), Mode (..), parse, wholeNumber, usage) where

import Data.Char (isDigit)
import Data.Maybe (isJust)
import Merkle

usage :: String
usage =
  unlines
    [ "Usage: merkle [OPTION]... [FILE]",
      "       merkle --rows | --prove | --verify < ROWS",
      "       merkle --hash-rate N",
      "",
      "Prints the Merkle root of FILE over SHA-256, as lowercase hex. Reads the",
      "standard input if FILE is missing or is -.",
      "",
      "  --format NAME   plain: leaf H(bytes), node H(left || right) (the default);",
      "                  rfc6962: leaf H(00 || bytes), node H(01 || left || right)",
      "  --segment N     leaf size in bytes, 1 to 1099511627776 (2^40); default 64",
      "  --rows          complete rows of test vectors with the root computed here",
      "  --prove         complete rows with the root and the inclusion proof",
      "  --verify        complete rows with the verdict on a proof: valid or invalid",
      "  --hash-rate N   hash the string \"test.dat\" N times, print seconds and MH/s",
      "  --help          print this help",
      "",
      "Options may follow FILE; -- ends them. A value is given as --segment 64 or as",
      "--segment=64. Exit status: 0 on success, 1 if a file or a row cannot be read",
      "or written, 2 on a bad command line."
    ]

-- | What is to be done instead of printing the root of a file.
data Mode = CompleteRoots | CompleteProofs | CompleteVerdicts | HashRate
  deriving (Eq)

-- | What the command line asks for.
data Command = Command
  { _format :: Format,
    _segment :: Int,
    -- | @--format@ or @--segment@, if one was given.
    _shaped :: Maybe String,
    _mode :: Maybe (Mode, String),
    _times :: Int,
    -- | Nothing, or @-@, is the standard input.
    _file :: Maybe FilePath,
    _help :: Bool
  }

-- | The command, or what is wrong with the arguments.
parse :: [String] -> Either String Command
parse = go True (Command Plain 64 Nothing Nothing 0 Nothing False)
  where
    go _ command [] = check command
    go True command ("--" : rest) = go False command rest
    go True command (argument@('-' : _ : _) : rest) = do
      (command', rest') <- option argument command rest
      if _help command' then Right command' else go True command' rest'
    go options command (argument : rest)
      | isJust (_file command) = Left ("one FILE is expected, '" ++ argument ++ "' is one more")
      | otherwise = go options command {_file = Just argument} rest
    check command = case (_mode command, _file command, _shaped command) of
      (Just (_, name), Just file, _) -> Left (name ++ " takes no FILE: '" ++ file ++ "'")
      (Just (_, name), _, Just shaped) -> Left (name ++ " takes no " ++ shaped)
      _ -> Right command

option :: String -> Command -> [String] -> Either String (Command, [String])
option argument command rest
  | name `elem` ["--format", "--segment", "--hash-rate"] = do
    (value, rest') <- case (afterEquals, rest) of
      (_ : value, _) -> Right (value, rest)
      ([], value : rest') -> Right (value, rest')
      ([], []) -> Left (name ++ ": its value is missing")
    command' <- valued name value command
    Right (command', rest')
  | name `elem` ["--rows", "--prove", "--verify", "--help"] && not (null afterEquals) = Left (name ++ " takes no value")
  | otherwise = case name of
    "--rows" -> mode CompleteRoots
    "--prove" -> mode CompleteProofs
    "--verify" -> mode CompleteVerdicts
    "--help" -> Right (command {_help = True}, rest)
    _ -> Left ("unknown option '" ++ argument ++ "'")
  where
    (name, afterEquals) = break (== '=') argument
    mode m = do
      command' <- setMode m name command
      Right (command', rest)

valued :: String -> String -> Command -> Either String Command
valued "--format" value command = case value of
  "plain" -> Right command {_format = Plain, _shaped = Just "--format"}
  "rfc6962" -> Right command {_format = Rfc6962, _shaped = Just "--format"}
  _ -> Left ("--format: '" ++ value ++ "' is neither plain nor rfc6962")
valued name value command = do
  number <- either (Left . ((name ++ ": ") ++)) Right (wholeNumber 1 value)
  if name == "--segment"
    then Right command {_segment = number, _shaped = Just name}
    else (\c -> c {_times = number}) <$> setMode HashRate name command

setMode :: Mode -> String -> Command -> Either String Command
setMode mode name command = case _mode command of
  Just (other, otherName) | other /= mode -> Left (otherName ++ " and " ++ name ++ " exclude each other")
  _ -> Right command {_mode = Just (mode, name)}

-- | Decimal digits, without a leading zero, as a number from the given least one to 2^40.
wholeNumber :: Int -> String -> Either String Int
wholeNumber least text
  | digits && number >= least && number <= maxSegment = Right number
  | otherwise = Left ("'" ++ text ++ "' is not a number from " ++ show least ++ " to " ++ show maxSegment)
  where
    digits = not (null text) && length text < 14 && all isDigit text && (take 1 text /= "0" || text == "0")
    number = if digits then read text else 0
