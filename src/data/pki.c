/* Certificates: making authorities, signing certificates, reading validity periods. */

#include "data/pki.h"

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/cleanup.h"

/* Kubernetes' authorities have 2048 bits; some users replace them with up to 8192. */
#define KEY_MAX_BITS 8192

/* More than a key of that size has.  Other numbers in a key than the one that counts as its size,
 * such as the exponents, can be huge, too. */
#define KEY_MAX_BYTES (16 << 10)

DEFINE_CLEANUP(X509 *, X509_free)
DEFINE_CLEANUP(EVP_PKEY *, EVP_PKEY_free)
DEFINE_CLEANUP(BIO *, BIO_free_all)

static int fail(struct error *err, const char *what)
{
	char words[256];

	ERR_error_string_n(ERR_get_error(), words, sizeof(words));
	return error_set(err, -EBADMSG, "cannot %s: %s", what, words);
}

/* Without this OpenSSL asks for a pass phrase on the terminal: node root chooses what is read. */
static int refuse_pass_phrase(arg_unused char *buf, arg_unused int size, arg_unused int writes,
			      arg_unused void *data)
{
	return 0;
}

bool pki_is_encrypted(const char *pem)
{
	/* "BEGIN ENCRYPTED PRIVATE KEY" or "Proc-Type: 4,ENCRYPTED". */
	return strstr(pem, "ENCRYPTED");
}

static X509 *read_cert(const char *pem)
{
	cleanup_with(BIO_free_allp) BIO *in = BIO_new_mem_buf(pem, -1);

	return in ? PEM_read_bio_X509(in, NULL, refuse_pass_phrase, NULL) : NULL;
}

static EVP_PKEY *read_key(const char *pem)
{
	cleanup_with(BIO_free_allp) BIO *in = BIO_new_mem_buf(pem, -1);

	return in ? PEM_read_bio_PrivateKey(in, NULL, refuse_pass_phrase, NULL) : NULL;
}

bool pki_is_huge_key(const char *pem)
{
	bool is_long = strnlen(pem, KEY_MAX_BYTES) == KEY_MAX_BYTES;
	cleanup_with(EVP_PKEY_freep) EVP_PKEY *key = is_long ? NULL : read_key(pem);

	return is_long || (key && EVP_PKEY_get_bits(key) > KEY_MAX_BITS);
}

static bool set_serial(X509 *cert)
{
	unsigned char bytes[8];
	uint64_t number;

	if (RAND_bytes(bytes, sizeof(bytes)) != 1)
		return false;
	memcpy(&number, bytes, sizeof(number));
	return ASN1_INTEGER_set_uint64(X509_get_serialNumber(cert), number >> 1) == 1;
}

static bool add_name_field(X509_NAME *name, const char *field, const char *value)
{
	return X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, (const unsigned char *)value,
					  -1, -1, 0) == 1;
}

static bool add_extension(X509 *cert, X509 *issuer, int id, const char *value)
{
	X509_EXTENSION *extension;
	X509V3_CTX context;
	bool added;

	X509V3_set_ctx_nodb(&context);
	X509V3_set_ctx(&context, issuer, cert, NULL, NULL, 0);
	extension = X509V3_EXT_conf_nid(NULL, &context, id, value);
	added = extension && X509_add_ext(cert, extension, -1) == 1;
	X509_EXTENSION_free(extension);
	return added;
}

/* What a certificate is for. */
struct purpose {
	const char *common_name;
	const char *organization;
	unsigned days;
	const char *key_usage;
	const char *extended_usage; /* NULL: none */
	const char *constraints;
	const char *alternative_names; /* NULL: none */
};

/* Fill in CERT, all but its signature.  ISSUER may be CERT itself. */
static bool describe_certificate(X509 *cert, X509 *issuer, EVP_PKEY *key,
				 const struct purpose *purpose)
{
	X509_NAME *name = X509_get_subject_name(cert);

	/* Valid since five minutes ago, because clocks of different machines differ. */
	return X509_set_version(cert, X509_VERSION_3) == 1 && set_serial(cert) &&
	       X509_gmtime_adj(X509_getm_notBefore(cert), -300) &&
	       X509_gmtime_adj(X509_getm_notAfter(cert), (long)purpose->days * 86400) &&
	       add_name_field(name, "O", purpose->organization) &&
	       add_name_field(name, "CN", purpose->common_name) &&
	       X509_set_issuer_name(cert, X509_get_subject_name(issuer)) == 1 &&
	       X509_set_pubkey(cert, key) == 1 &&
	       add_extension(cert, issuer, NID_key_usage, purpose->key_usage) &&
	       (!purpose->extended_usage ||
		add_extension(cert, issuer, NID_ext_key_usage, purpose->extended_usage)) &&
	       add_extension(cert, issuer, NID_basic_constraints, purpose->constraints) &&
	       (!purpose->alternative_names ||
		add_extension(cert, issuer, NID_subject_alt_name, purpose->alternative_names)) &&
	       (issuer != cert ||
		add_extension(cert, issuer, NID_subject_key_identifier, "hash")) &&
	       (X509_get_ext_by_NID(issuer, NID_subject_key_identifier, -1) < 0 ||
		add_extension(cert, issuer, NID_authority_key_identifier, "keyid"));
}

static char *print_pair(X509 *cert, EVP_PKEY *key)
{
	cleanup_with(BIO_free_allp) BIO *out = BIO_new(BIO_s_mem());
	char *data;
	long len;

	if (!out || PEM_write_bio_X509(out, cert) != 1 ||
	    PEM_write_bio_PrivateKey(out, key, NULL, NULL, 0, NULL, NULL) != 1)
		return NULL;
	len = BIO_get_mem_data(out, &data);
	return xstrndup(data, (size_t)len);
}

/* Make a key and a certificate for PURPOSE, signed by ISSUER with ISSUER_KEY, or by itself if both
 * are NULL. */
static int make_pair(X509 *issuer, EVP_PKEY *issuer_key, const struct purpose *purpose,
		     char **ret_pem, struct error *err)
{
	cleanup_with(EVP_PKEY_freep) EVP_PKEY *key = EVP_EC_gen("P-256");
	cleanup_with(X509_freep) X509 *cert = X509_new();

	if (!key || !cert || !describe_certificate(cert, issuer ? issuer : cert, key, purpose) ||
	    X509_sign(cert, issuer_key ? issuer_key : key, EVP_sha256()) == 0)
		return fail(err, "sign a certificate");
	*ret_pem = print_pair(cert, key);
	return *ret_pem ? 0 : fail(err, "write a certificate");
}

static int sign_pair(const char *ca_cert_pem, const char *ca_key_pem, const struct purpose *purpose,
		     char **ret_pem, struct error *err)
{
	cleanup_with(X509_freep) X509 *issuer = read_cert(ca_cert_pem);
	cleanup_with(EVP_PKEY_freep) EVP_PKEY *issuer_key = read_key(ca_key_pem);

	if (!issuer || !issuer_key)
		return fail(err, "read the certificate authority");
	if (EVP_PKEY_get_bits(issuer_key) > KEY_MAX_BITS)
		return error_set(err, -EBADMSG,
				 "the key of the certificate authority is too large");
	return make_pair(issuer, issuer_key, purpose, ret_pem, err);
}

int pki_sign_client(const char *ca_cert_pem, const char *ca_key_pem, const char *common_name,
		    const char *organization, unsigned days, char **ret_pem, struct error *err)
{
	const struct purpose purpose = {
		.common_name = common_name,
		.organization = organization,
		.days = days,
		.key_usage = "critical,digitalSignature,keyEncipherment",
		.extended_usage = "clientAuth",
		.constraints = "critical,CA:FALSE",
	};

	return sign_pair(ca_cert_pem, ca_key_pem, &purpose, ret_pem, err);
}

int pki_sign_server(const char *ca_cert_pem, const char *ca_key_pem, const char *address,
		    const char *organization, unsigned days, char **ret_pem, struct error *err)
{
	cleanup_free char *names = xasprintf("IP:%s", address);
	const struct purpose purpose = {
		.common_name = address,
		.organization = organization,
		.days = days,
		.key_usage = "critical,digitalSignature,keyEncipherment",
		.extended_usage = "serverAuth",
		.constraints = "critical,CA:FALSE",
		.alternative_names = names,
	};

	return sign_pair(ca_cert_pem, ca_key_pem, &purpose, ret_pem, err);
}

int pki_make_authority(const char *common_name, const char *organization, unsigned days,
		       char **ret_pem, struct error *err)
{
	const struct purpose purpose = {
		.common_name = common_name,
		.organization = organization,
		.days = days,
		.key_usage = "critical,keyCertSign,cRLSign",
		.constraints = "critical,CA:TRUE,pathlen:0",
	};

	return make_pair(NULL, NULL, &purpose, ret_pem, err);
}

const char *pki_find_key(const char *pem)
{
	return strstr(pem, "-----BEGIN PRIVATE KEY-----");
}

static bool read_time(const ASN1_TIME *time, int64_t *ret)
{
	struct tm moment;

	if (!time || ASN1_TIME_to_tm(time, &moment) != 1)
		return false;
	*ret = timegm(&moment);
	return true;
}

int pki_read_times(const char *pem, struct pki_times *ret_times, struct error *err)
{
	cleanup_with(X509_freep) X509 *cert = read_cert(pem);
	struct pki_times times;

	if (!cert || !read_time(X509_get0_notBefore(cert), &times.begin) ||
	    !read_time(X509_get0_notAfter(cert), &times.end))
		return fail(err, "read a certificate");
	*ret_times = times;
	return 0;
}

bool pki_is_ending(const struct pki_times *times, int64_t now)
{
	int64_t month = INT64_C(30) * 24 * 3600;

	return times->end - now < MIN(month, (times->end - times->begin) / 3);
}
