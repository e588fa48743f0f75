# Convert a text file to a C string.
s/[\\"]/\\&/g
s/	/\\t/g
s/.*/"&\\n"/
