# zsh type-into.zsh SHELL SETUP KEYS: start SHELL on a terminal, have it read the line SETUP, press
# KEYS and Enter, and print what comes until the next prompt.
zmodload zsh/zpty
zpty shell "$1"
zpty -w shell "$2"
# The line editor shows the prompt when it is ready for keys; its echo is not to look like it.
zpty -w shell 'PS1=rea\dy:'
zpty -r shell output '*ready:*' || exit
zpty -w -n shell "$3"$'\r'
zpty -r shell output '*ready:*' || exit
print -r -- "$output"
