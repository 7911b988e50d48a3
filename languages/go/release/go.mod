module release

go 1.19

require golang.org/x/mod v0.17.0
