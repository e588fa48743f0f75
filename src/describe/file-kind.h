/* What the readers of kind's files share. */
#pragma once

#include "describe/file-read.h"

/* Have the person be told of something at PLACE that is not as the file says. */
void file_warn(struct file_reader *reader, struct yaml_place place, const char *fmt, ...)
	printf_like(3, 4);

/* See that MAP, which people call WHAT, is a map of only those KEYS, ended by NULL. */
int kind_check_keys(struct file_reader *reader, const struct yaml_value *map, const char *what,
		    const char *const *keys);

/* The word at KEY of MAP; NULL if there is none. */
int kind_get_text(struct file_reader *reader, const struct yaml_value *map, const char *key,
		  const char **ret);

/* The list at KEY of MAP; NULL if there is none, or what is there is none: then *R is negative. */
const struct yaml_value *kind_get_list(struct file_reader *reader, const struct yaml_value *map,
				       const char *key, int *r);

/* Add WORD, which is taken over, to LIST of the cluster if it is good for --OPTION; AT is where it
 * stands. */
int kind_add_word(struct file_reader *reader, const struct yaml_value *at, const char *option,
		  struct strlist *list, char *word);

enum kind_nodes {
	KIND_FOR_ALL,
	KIND_FOR_PRIMARY,
	KIND_FOR_JOINING,
};

/* kubeadmConfigPatches and kubeadmConfigPatchesJSON6902 of MAP, which is about NODES. */
int kind_read_patches(struct file_reader *reader, const struct yaml_value *map,
		      struct strlist *list, enum kind_nodes nodes);

/* containerdConfigPatches of ROOT: of TOML, only what is about registries is understood. */
int kind_read_containerd(struct file_reader *reader, const struct yaml_value *root);
