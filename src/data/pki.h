/* Certificates: making authorities, signing certificates, reading validity periods. */
#pragma once

#include "base/error.h"

/*
 * Make an ECDSA key and a client certificate for COMMON_NAME in ORGANIZATION, signed by
 * the authority CA_CERT_PEM with CA_KEY_PEM and valid for DAYS from now.  *RET_PEM holds the
 * certificate followed by the key; the caller frees it.
 */
int pki_sign_client(const char *ca_cert_pem, const char *ca_key_pem, const char *common_name,
		    const char *organization, unsigned days, char **ret_pem, struct error *err);

/*
 * Make an ECDSA key and a certificate for a server at ADDRESS, an IPv4 address, which is also its
 * common name.  It is no client certificate.  Otherwise like pki_sign_client().
 */
int pki_sign_server(const char *ca_cert_pem, const char *ca_key_pem, const char *address,
		    const char *organization, unsigned days, char **ret_pem, struct error *err);

/* Make an authority called COMMON_NAME: an ECDSA key and a certificate signed with it.  Otherwise
 * like pki_sign_client(). */
int pki_make_authority(const char *common_name, const char *organization, unsigned days,
		       char **ret_pem, struct error *err);

/* The key in PEM, made by the functions above, as a pointer into it; NULL if it has none. */
const char *pki_find_key(const char *pem);

/* The validity period of a certificate, in seconds since 1970. */
struct pki_times {
	int64_t begin;
	int64_t end;
};

/* The validity period of the first certificate in PEM; -EBADMSG if there is none. */
int pki_read_times(const char *pem, struct pki_times *ret_times, struct error *err);

/* Whether the certificate should be renewed at NOW: it expires within 30 days, or within a third of
 * its validity period if that is shorter. */
bool pki_is_ending(const struct pki_times *times, int64_t now);

/* Whether PEM is a private key, or a text, so large that signing with it takes minutes or more. */
bool pki_is_huge_key(const char *pem);

/* Whether a pass phrase is needed to read any part of PEM.  libcurl asks for it on the terminal, or
 * crashes. */
bool pki_is_encrypted(const char *pem);
