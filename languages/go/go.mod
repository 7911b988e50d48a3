module example.org/mksum/languages/go

go 1.19
