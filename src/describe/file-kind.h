/* Functions shared by the readers of kind's files. */
#pragma once

#include "describe/file-read.h"

/* Warn the user about something at PLACE that differs from the file. */
void file_warn(struct file_reader *reader, struct yaml_place place, const char *fmt, ...)
	printf_like(3, 4);

/* Check that MAP, which is called WHAT in messages, is a map with no other keys than KEYS, which is
 * NULL-terminated. */
int kind_check_keys(struct file_reader *reader, const struct yaml_value *map, const char *what,
		    const char *const *keys);

/* The word at KEY of MAP; NULL if there is none. */
int kind_get_text(struct file_reader *reader, const struct yaml_value *map, const char *key,
		  const char **ret);

/* The list at KEY of MAP; NULL if there is none, or if the value is not a list: then *R is
 * negative. */
const struct yaml_value *kind_get_list(struct file_reader *reader, const struct yaml_value *map,
				       const char *key, int *r);

/* Add WORD, which is taken over, to LIST of the cluster if it is valid for --OPTION; AT is its
 * position. */
int kind_add_word(struct file_reader *reader, const struct yaml_value *at, const char *option,
		  struct strlist *list, char *word);

enum kind_nodes {
	KIND_FOR_ALL,
	KIND_FOR_PRIMARY,
	KIND_FOR_JOINING,
};

/* kubeadmConfigPatches and kubeadmConfigPatchesJSON6902 of MAP, which apply to NODES. */
int kind_read_patches(struct file_reader *reader, const struct yaml_value *map,
		      struct strlist *list, enum kind_nodes nodes);

/* containerdConfigPatches of ROOT: only TOML about registries is supported. */
int kind_read_containerd(struct file_reader *reader, const struct yaml_value *root);
