/* Words of settings: whatever is read is whole. */

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "record/spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = xstrndup((const char *)data, size);
	cleanup_with(spec_release_mount) struct node_mount mount = { NULL };
	cleanup_with(spec_release_pair) struct pair_spec label = PAIR_SPEC_INIT;
	cleanup_with(spec_release_pair) struct pair_spec gate = PAIR_SPEC_INIT;
	cleanup_with(spec_release_pair) struct pair_spec mirror = PAIR_SPEC_INIT;
	cleanup_with(spec_release_taint) struct taint_spec taint = TAINT_SPEC_INIT;
	cleanup_with(spec_release_extra) struct extra_spec extra = EXTRA_SPEC_INIT;
	struct port_spec port;

	if (spec_parse_port(text, &port, NULL) == 0)
		assert(port.host_port > 0 && port.node_port > 0 && port.host_port < 65536);
	if (spec_parse_mount(text, &mount, NULL) == 0)
		assert(mount.host[0] == '/' && mount.node[0] == '/' && mount.node[1]);
	if (spec_parse_label(text, &label, NULL) == 0)
		assert(*label.key && !strpbrk(label.value, "\",\n "));
	if (spec_parse_gate(text, &gate, NULL) == 0)
		assert(*gate.key);
	if (spec_parse_mirror(text, &mirror, NULL) == 0)
		assert(strstr(mirror.value, "://") && !strpbrk(mirror.value, "\"\n"));
	if (spec_parse_taint(text, &taint, NULL) == 0)
		assert(*taint.label.key && *taint.effect);
	if (spec_parse_extra(text, &extra, NULL) == 0)
		assert(extra.component && *extra.key);
	(void)spec_check_registry(text, NULL);
	(void)spec_check_dns_name(text, NULL);
	return 0;
}
