/* A certificate authority for tests. */
#pragma once

/* Make a self-signed authority.  Both texts are PEM; the caller frees them. */
void authority_make(char **ret_cert, char **ret_key);

/* The same, valid from BEGIN to END, in seconds from now. */
void authority_make_for(long begin, long end, char **ret_cert, char **ret_key);
