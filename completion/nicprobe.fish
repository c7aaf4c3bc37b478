# SPDX-License-Identifier: GPL-2.0
# fish completion for nicprobe(8), which itself says what may stand there: nicprobe complete line.

function __nicprobe_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l answer ($words[1] complete line $words[2..-1] "$word" 2>/dev/null)
    switch "$answer[1]"
        case files
            __fish_complete_path "$word"
        case 'command *'
            # What comes after "--" is a command line of its own.
            __fish_complete_subcommand --fcs-skip=(math (string sub -s 9 -- $answer[1]) + 1)
        case list
            # What stands before the last comma stays, and a + or - of a meter.
            set -l before (string match -r -- '^(?:.*,)?[+-]?' "$word")
            printf '%s\n' $before$answer[2..-1]
        case '*'
            printf '%s\n' $answer[2..-1]
    end
end

complete -c nicprobe -f -a '(__nicprobe_complete)'
