/* Certificates: signing one with a cluster's own authority. */
#pragma once

#include "base/error.h"

/*
 * Make an ECDSA key and a client certificate for COMMON_NAME in ORGANIZATION, signed by
 * the authority CA_CERT_PEM with CA_KEY_PEM and valid for DAYS from now.  *RET_PEM has the
 * certificate and the key behind it, for the caller to free.
 */
int pki_sign_client(const char *ca_cert_pem, const char *ca_key_pem, const char *common_name,
		    const char *organization, unsigned days, char **ret_pem, struct error *err);
