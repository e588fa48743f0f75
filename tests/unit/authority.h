/* A certificate authority for tests. */
#pragma once

/* Make an authority that signs itself; both texts are PEM and the caller's to free. */
void authority_make(char **ret_cert, char **ret_key);
