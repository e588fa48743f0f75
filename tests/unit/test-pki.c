#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "data/pki.h"
#include "test.h"

/* An authority made by itself: a certificate that signs itself. */
static void make_authority(char **ret_cert, char **ret_key)
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
	X509_gmtime_adj(X509_getm_notBefore(cert), -60);
	X509_gmtime_adj(X509_getm_notAfter(cert), 3600);
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

TEST(a_signed_certificate_is_trusted_for_clients)
{
	cleanup_free char *ca_cert = NULL;
	cleanup_free char *ca_key = NULL;
	cleanup_free char *pem = NULL;
	char subject[256];
	X509_STORE_CTX *context = X509_STORE_CTX_new();
	X509_STORE *store = X509_STORE_new();
	X509 *issuer;
	X509 *cert;
	BIO *in;

	make_authority(&ca_cert, &ca_key);
	ASSERT_OK(pki_sign_client(ca_cert, ca_key, "system:node:node-1", "system:nodes", 365, &pem,
				  &err));
	ASSERT(strstr(pem, "PRIVATE KEY"));
	in = BIO_new_mem_buf(ca_cert, -1);
	issuer = PEM_read_bio_X509(in, NULL, NULL, NULL);
	BIO_free_all(in);
	in = BIO_new_mem_buf(pem, -1);
	cert = PEM_read_bio_X509(in, NULL, NULL, NULL);
	BIO_free_all(in);
	X509_STORE_add_cert(store, issuer);
	X509_STORE_CTX_init(context, store, cert, NULL);
	X509_STORE_CTX_set_purpose(context, X509_PURPOSE_SSL_CLIENT);
	ASSERT_INT(X509_verify_cert(context), 1);
	X509_NAME_oneline(X509_get_subject_name(cert), subject, sizeof(subject));
	ASSERT_STR(subject, "/O=system:nodes/CN=system:node:node-1");
	X509_STORE_CTX_free(context);
	X509_STORE_free(store);
	X509_free(cert);
	X509_free(issuer);
}

TEST(refuses_an_authority_that_is_none)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	char *pem = NULL;

	ASSERT_INT(pki_sign_client("x", "y", "a", "b", 1, &pem, &err), -EBADMSG);
	ASSERT(strncmp(err.text, "cannot read the certificate authority", 37) == 0);
}
