module example.org/mksum/plain

go 1.21
