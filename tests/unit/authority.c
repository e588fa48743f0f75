/* A self-signed certificate authority for tests. */

#include "authority.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "base/alloc.h"

void authority_make(char **ret_cert, char **ret_key)
{
	authority_make_for(-60, 3600, ret_cert, ret_key);
}

void authority_make_for(long begin, long end, char **ret_cert, char **ret_key)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	BIO *cert_out = BIO_new(BIO_s_mem());
	BIO *key_out = BIO_new(BIO_s_mem());
	X509 *cert = X509_new();
	X509_EXTENSION *ca;
	char *data;
	long len;

	X509_set_version(cert, X509_VERSION_3);
	ASN1_INTEGER_set(X509_get_serialNumber(cert), 1);
	X509_gmtime_adj(X509_getm_notBefore(cert), begin);
	X509_gmtime_adj(X509_getm_notAfter(cert), end);
	X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_UTF8,
				   (const unsigned char *)"test", -1, -1, 0);
	X509_set_issuer_name(cert, X509_get_subject_name(cert));
	X509_set_pubkey(cert, key);
	ca = X509V3_EXT_conf_nid(NULL, NULL, NID_basic_constraints, "critical,CA:TRUE");
	X509_add_ext(cert, ca, -1);
	X509_EXTENSION_free(ca);
	X509_sign(cert, key, EVP_sha256());
	PEM_write_bio_X509(cert_out, cert);
	PEM_write_bio_PrivateKey(key_out, key, NULL, NULL, 0, NULL, NULL);
	len = BIO_get_mem_data(cert_out, &data);
	*ret_cert = xstrndup(data, (size_t)len);
	len = BIO_get_mem_data(key_out, &data);
	*ret_key = xstrndup(data, (size_t)len);
	BIO_free_all(cert_out);
	BIO_free_all(key_out);
	X509_free(cert);
	EVP_PKEY_free(key);
}
