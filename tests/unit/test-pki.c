#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "authority.h"
#include "base/clock.h"
#include <poll.h>
#include <unistd.h>

#include "data/pki.h"
#include "test.h"

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

	authority_make(&ca_cert, &ca_key);
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

/* Whether CERT_PEM, signed by CA_PEM, is good for PURPOSE. */
static bool is_good_for(const char *ca_pem, const char *cert_pem, int purpose)
{
	X509_STORE_CTX *context = X509_STORE_CTX_new();
	X509_STORE *store = X509_STORE_new();
	BIO *ca_in = BIO_new_mem_buf(ca_pem, -1);
	BIO *cert_in = BIO_new_mem_buf(cert_pem, -1);
	X509 *issuer = PEM_read_bio_X509(ca_in, NULL, NULL, NULL);
	X509 *cert = PEM_read_bio_X509(cert_in, NULL, NULL, NULL);
	bool good;

	X509_STORE_add_cert(store, issuer);
	X509_STORE_CTX_init(context, store, cert, NULL);
	X509_STORE_CTX_set_purpose(context, purpose);
	good = X509_verify_cert(context) == 1;
	X509_STORE_CTX_free(context);
	X509_STORE_free(store);
	X509_free(cert);
	X509_free(issuer);
	BIO_free_all(ca_in);
	BIO_free_all(cert_in);
	return good;
}

TEST(an_authority_signs_clients_and_servers_that_are_not_each_other)
{
	cleanup_free char *ca = NULL;
	cleanup_free char *other = NULL;
	cleanup_free char *server = NULL;
	cleanup_free char *client = NULL;
	BIO *in;
	X509 *cert;

	ASSERT_OK(pki_make_authority("Docker of dev", "manykube", 3650, &ca, &err));
	ASSERT_OK(pki_make_authority("Docker of dev", "manykube", 3650, &other, &err));
	ASSERT_OK(pki_sign_server(ca, ca, "192.168.39.2", "manykube", 365, &server, &err));
	ASSERT_OK(pki_sign_client(ca, ca, "docker", "manykube", 365, &client, &err));
	ASSERT(is_good_for(ca, server, X509_PURPOSE_SSL_SERVER));
	ASSERT(!is_good_for(ca, server, X509_PURPOSE_SSL_CLIENT));
	ASSERT(is_good_for(ca, client, X509_PURPOSE_SSL_CLIENT));
	ASSERT(!is_good_for(ca, client, X509_PURPOSE_SSL_SERVER));
	ASSERT(!is_good_for(other, client, X509_PURPOSE_SSL_CLIENT));
	in = BIO_new_mem_buf(server, -1);
	cert = PEM_read_bio_X509(in, NULL, NULL, NULL);
	ASSERT_INT(X509_check_ip_asc(cert, "192.168.39.2", 0), 1);
	ASSERT_INT(X509_check_ip_asc(cert, "192.168.39.3", 0), 0);
	X509_free(cert);
	BIO_free_all(in);
	ASSERT(strncmp(pki_find_key(ca), "-----BEGIN PRIVATE KEY-----", 27) == 0);
	ASSERT(!pki_find_key("-----BEGIN CERTIFICATE-----"));
}

TEST(refuses_an_authority_that_is_none)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	char *pem = NULL;

	ASSERT_INT(pki_sign_client("x", "y", "a", "b", 1, &pem, &err), -EBADMSG);
	ASSERT(strncmp(err.text, "cannot read the certificate authority", 37) == 0);
}

TEST(tells_when_a_certificate_is_good)
{
	cleanup_free char *cert = NULL;
	cleanup_free char *key = NULL;
	int64_t now = clock_wall_seconds();
	struct pki_times times;

	authority_make_for(-1000, 2000, &cert, &key);
	ASSERT_OK(pki_read_times(cert, &times, &err));
	ASSERT(times.begin >= now - 1000 && times.begin <= now - 990);
	ASSERT_INT(times.end - times.begin, 3000);
	ASSERT_INT(pki_read_times(key, &times, NULL), -EBADMSG);
	ASSERT_INT(pki_read_times("", &times, NULL), -EBADMSG);
}

#define DAY INT64_C(86400)

TEST(a_certificate_ends_with_its_last_month_or_its_last_third)
{
	static const struct {
		int64_t life;
		int64_t left;
		bool is_ending;
	} cases[] = {
		{ 365 * DAY, 31 * DAY, false },
		{ 365 * DAY, 30 * DAY, false },
		{ 365 * DAY, 30 * DAY - 1, true },
		{ 365 * DAY, 0, true },
		{ 365 * DAY, -100 * DAY, true },
		{ 3650 * DAY, 31 * DAY, false },
		{ 3650 * DAY, 29 * DAY, true },
		{ 60 * DAY, 21 * DAY, false },
		{ 60 * DAY, 19 * DAY, true },
		{ 3600, 1200, false },
		{ 3600, 1199, true },
		/* What ends before it begins has ended. */
		{ -1 * DAY, -1 * DAY, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct pki_times times = { 1000000 - cases[i].life + cases[i].left,
					   1000000 + cases[i].left };

		ASSERT_INT(pki_is_ending(&times, 1000000), cases[i].is_ending);
	}
}

TEST(nobody_is_asked_for_a_pass_phrase)
{
	static const char pem[] = "-----BEGIN CERTIFICATE-----\n"
				  "Proc-Type: 4,ENCRYPTED\n"
				  "DEK-Info: AES-256-CBC,00112233445566778899AABBCCDDEEFF\n\n"
				  "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"
				  "-----END CERTIFICATE-----\n";
	struct pollfd typed = { .fd = STDIN_FILENO, .events = POLLIN };
	struct pki_times times;
	int ends[2];

	/* Without a terminal OpenSSL reads standard input. */
	(void)setsid();
	ASSERT(pipe(ends) == 0 && write(ends[1], "secret\n", 7) == 7);
	ASSERT(dup2(ends[0], STDIN_FILENO) == STDIN_FILENO);
	ASSERT_INT(pki_read_times(pem, &times, NULL), -EBADMSG);
	ASSERT(poll(&typed, 1, 0) == 1);
	ASSERT(pki_is_encrypted(pem));
}

/* A private RSA key of BITS, with exponents of EXPONENT_BITS; its numbers have no meaning, because
 * primes of that size take hours. */
static char *print_rsa_key(int bits, int exponent_bits)
{
	static const char *const names[] = { "n",
					     "d",
					     "rsa-factor1",
					     "rsa-factor2",
					     "rsa-exponent1",
					     "rsa-exponent2",
					     "rsa-coefficient1" };
	OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
	BIO *out = BIO_new(BIO_s_mem());
	BIGNUM *e = BN_new(), *numbers[ARRAY_SIZE(names)];
	EVP_PKEY *key = NULL;
	OSSL_PARAM *params;
	char *data, *text;
	long len;

	ASSERT(BN_set_word(e, 65537) == 1 && OSSL_PARAM_BLD_push_BN(build, "e", e) == 1);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		bool is_exponent = strstr(names[i], "exponent");
		int size = is_exponent ? exponent_bits : i < 2 ? bits : bits / 2;

		numbers[i] = BN_new();
		ASSERT(BN_rand(numbers[i], size, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ODD) == 1);
		ASSERT(OSSL_PARAM_BLD_push_BN(build, names[i], numbers[i]) == 1);
	}
	params = OSSL_PARAM_BLD_to_param(build);
	ASSERT(EVP_PKEY_fromdata_init(ctx) == 1);
	ASSERT(EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_KEYPAIR, params) == 1);
	ASSERT(PEM_write_bio_PrivateKey(out, key, NULL, NULL, 0, NULL, NULL) == 1);
	len = BIO_get_mem_data(out, &data);
	text = xstrndup(data, (size_t)len);
	EVP_PKEY_free(key);
	OSSL_PARAM_free(params);
	BIO_free_all(out);
	EVP_PKEY_CTX_free(ctx);
	OSSL_PARAM_BLD_free(build);
	BN_free(e);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		BN_free(numbers[i]);
	return text;
}

TEST(a_key_that_takes_ages_to_sign_with_is_refused)
{
	cleanup_free char *small = print_rsa_key(2048, 1024);
	cleanup_free char *most = print_rsa_key(8192, 4096);
	cleanup_free char *huge = print_rsa_key(100000, 50000);
	cleanup_free char *slow = print_rsa_key(2048, 1000000);

	ASSERT(!pki_is_huge_key(small));
	ASSERT(!pki_is_huge_key("no key"));
	ASSERT(!pki_is_huge_key(most));
	ASSERT(pki_is_huge_key(huge));
	ASSERT(pki_is_huge_key(slow));
}
