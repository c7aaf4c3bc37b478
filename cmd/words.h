/* SPDX-License-Identifier: GPL-2.0 */
/* The words that a command line may contain, for completion and for suggestions. */
#ifndef NICPROBE_CMD_WORDS_H
#define NICPROBE_CMD_WORDS_H

#include <stdbool.h>

typedef void word_fn(const char *word, void *arg);

/* Tells each of `words`, separated by spaces; for "@meters", a list of `complete`, each meter. */
void words_each(const char *words, word_fn *tell, void *arg);
/* Tells the words of one list of `complete`. False: there is no such list. */
bool words_listed(const char *list, word_fn *tell, void *arg);

/* The word that `wrong` probably means, preceded by `before`; `otherwise` if none is near. */
const char *did_you_mean(const char *words, const char *wrong, const char *before,
			 const char *otherwise);

#endif
