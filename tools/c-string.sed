# Make a C string of a text file.
s/[\\"]/\\&/g
s/	/\\t/g
s/.*/"&\\n"/
