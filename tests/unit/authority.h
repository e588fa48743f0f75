/* A certificate authority for tests. */
#pragma once

/* Make an authority that signs itself; both texts are PEM and the caller's to free. */
void authority_make(char **ret_cert, char **ret_key);

/* Likewise one that is good from BEGIN to END, in seconds from now. */
void authority_make_for(long begin, long end, char **ret_cert, char **ret_key);
