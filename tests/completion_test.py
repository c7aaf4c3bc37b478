# SPDX-License-Identifier: GPL-2.0
"""Completion in Bash, zsh and fish: each shell itself is asked, and offers what the program says."""
import os
import shutil
import subprocess
import tempfile

from documents import NICPROBE, ROOT, check, complete, options, say, skip

SCRIPTS = os.path.join(ROOT, "completion")
INTERFACE = complete("interfaces")[0]

# words of a command line, what must be among those offered, what must not
LINES = (
    (["at"], ["attach"], ["show"]),
    (["attach", ""], [INTERFACE], ["pktsize"]),
    (["attach", INTERFACE, "-m", "pktsize,ec"], ["pktsize,ecn", "pktsize,ecn_source"], ["ecn"]),
    (["attach", INTERFACE, "-m", "+ec"], ["+ecn", "+ecn_source"], ["ecn"]),
    (["attach", INTERFACE, "--rx", ""], ["auto", "xdp", "driver"], [INTERFACE]),
    (["attach", INTERFACE, "--"], ["--meters", "--rx", "--sample", "--stacks", "--help"], ["--interval"]),
    (["show", "ecn", ""], ["txlat", "rxcpu", "hw"], [INTERFACE]),
    (["show", "h"], ["hw"], ["ecn"]),
    (["show", "-f", ""], ["table", "json", "openmetrics", "prometheus"], ["txlat"]),
    (["show", "-i", ""], [], ["txlat", INTERFACE]),
    (["run", "-m", "ecn", ""], [INTERFACE], ["attach"]),
    (["run", INTERFACE, "--", "nicprob"], [], ["attach", "pktsize"]),
    (["detach", "--"], ["--all", "--force"], ["--rx"]),
    (["bench", INTERFACE, "--rate", "10", "t"], ["tx"], [INTERFACE]),
    (["drivers", "--check", "README"], ["README.md"], ["igb"]),
    (["drivers", "--btf", "README"], ["README.md"], ["igb"]),
    (["record", "README"], ["README.md"], [INTERFACE]),
    (["report", "README"], ["README.md"], [INTERFACE]),
    (["record", "README.md", ""], [INTERFACE], ["pktsize"]),
    (["explain", "rx-ring"], ["rx-ring-full", "rx-ring-near"], ["gro-off"]),
    (["bench", INTERFACE, "--ab", "a", ""], [], ["tx", INTERFACE]),
    (["list", "-v", "pkt"], ["pktsize"], [INTERFACE]),
    (["show", "--each", "queue,c"], ["queue,cpu"], ["cpu"]),
    (["list", "-v", "@netsi"], ["@netsize"], ["pktsize"]),
    (["trace", "@acc"], ["@accept-ports"], ["@netsize", "tcp:::send"]),
    (["trace", "@netsize", "--source", ""], ["tp", "nf", "cgroup"], [INTERFACE]),
    (["trace", "tcp:::re"], ["tcp:::receive", "tcp:::retransmit"], ["tcp:::send"]))

BASH = '''source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_WORDBREAKS=${COMP_WORDBREAKS//:}
_nicprobe; printf "%s\\n" "${COMPREPLY[@]}"'''

# A shell in a terminal of its own completes $LINE; what it would offer is printed.
ZSH = r'''zmodload zsh/zpty
zpty z zsh -i
zpty -r z answer "*<END>*"
print -r -- "$answer"'''
ZSHRC = r'''PROMPT= RPROMPT=
fpath=($SCRIPTS $fpath)
autoload -Uz compinit && compinit -u -d $ZDOTDIR/dump
zstyle ':completion:*' menu no
compadd() {
	local -a hits
	if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
		builtin compadd "$@"
		return
	fi
	builtin compadd -A hits "$@"
	(( ! $#hits )) || print -rl -- "" "<$IPREFIX"${^hits}">"
}
ask() { BUFFER=$LINE CURSOR=$#LINE; zle complete-word; print -r -- "<END>"; exit }
zle -N zle-line-init ask'''


def bash(words):
    return say("bash", "-c", BASH, "bash", os.path.join(SCRIPTS, "nicprobe"), NICPROBE, *words).split()


def zsh(words):
    if not os.path.exists(f"{HOME}/.zshrc"):
        with open(f"{HOME}/.zshrc", "w", encoding="ascii") as f:
            f.write(ZSHRC)
    answer = say("timeout", "20", "zsh", "-f", "-c", ZSH, cwd=ROOT, env={
        **os.environ, "ZDOTDIR": HOME, "SCRIPTS": SCRIPTS, "TERM": "vt100", "LINE": " ".join([NICPROBE, *words])})
    return [line[1:-1] for line in answer.replace("\r", "").splitlines() if line[:1] == "<" and line[-1:] == ">"]


def fish(words):
    answer = say("fish", "--no-config", "-c", 'source $argv[1]; complete -C "$argv[2]"',
                 os.path.join(SCRIPTS, "nicprobe.fish"), " ".join([NICPROBE, *words]), cwd=ROOT,
                 env={**os.environ, "HOME": HOME, "XDG_CONFIG_HOME": HOME, "XDG_DATA_HOME": HOME})
    return [line.split("\t")[0] for line in answer.splitlines()]


def shell_test(shell):
    name, wrong = shell.__name__, []
    if not shutil.which(name):
        skip(f"completion: {name}", f"{name} is not installed")
        return
    for words, want, never in LINES:
        got = shell(words)
        wrong += [f"{' '.join(words)}: no {w}" for w in want if w not in got]
        wrong += [f"{' '.join(words)}: {w}" for w in never if w in got]
    check(f"completion: {name} offers what belongs there, and nothing else", wrong)
    wrong = []
    for command in complete("commands"):
        got = shell([command, "--"])
        wrong += [f"{command} {o}" for o in sorted(options(command)) if o.startswith("--") and o not in got]
    check(f"completion: {name} offers every option", wrong)


with tempfile.TemporaryDirectory() as HOME:
    for each in bash, zsh, fish:
        shell_test(each)
