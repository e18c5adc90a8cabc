/** The completion script for fish, which quotes what it inserts by itself. */
import { type ArgumentSpec, type CommandSpec, type FlagSpec, spellings, type Values } from './spec.ts'

/** @param commands what can be typed */
export function fishCompletion(commands: readonly CommandSpec[]): string {
  const lines = commands.flatMap(({ name, summary, flags, args }) => [
    `complete -c volctl -n 'not __volctl_command' -a ${name} -d ${quoted(summary)}`,
    ...flags.map((flag) => flagLine(name, flag)),
    ...args.map((argument, index) => argumentLine(name, argument, index)),
  ])
  return `# fish completion for volctl, written by: volctl completion fish

# Is there a command on the line, and is it one of these?
function __volctl_command
    set -l tokens (commandline -opc)
    for token in $tokens[2..-1]
        string match -q -- '-*' $token; and continue
        test (count $argv) -eq 0; or contains -- $token $argv
        return
    end
    return 1
end

# COMMAND PLACE FLAG…: is the argument at this place to come? The flags take a value.
function __volctl_place
    set -l tokens (commandline -opc)
    set -l place -1
    set -l skip 0
    for token in $tokens[2..-1]
        if test $skip -eq 1
            set skip 0
        else if string match -q -- '-*' $token
            contains -- $token $argv[3..-1]; and set skip 1
        else
            set place (math $place + 1)
        end
    end
    __volctl_command $argv[1]; and test "$argv[2]" = '*' -o "$argv[2]" = $place
end

# Without its flag, where it is --flag=VALUE.
function __volctl_current
    string replace -r '^--[a-z-]+=' '' -- (commandline -ct)
end

function __volctl_live
    set -l current (__volctl_current)
    set -l tokens (commandline -opc)
    command volctl __complete $argv[1] (string unescape -- "$current"; or echo "$current") $tokens[2..-1] 2>/dev/null </dev/null
end

# Whatever explain takes: a name, or a path.
function __volctl_thing
    set -l current (__volctl_current)
    if string match -q -- '/*' $current
        __fish_complete_path $current
    else
        __volctl_live thing
    end
end

function __volctl_list
    set -l before (string match -r '^.*,' -- (__volctl_current))
    for word in $argv
        echo "$before$word"
    end
end

complete -c volctl -f
complete -c volctl -n 'not __volctl_command' -s h -l help -d 'Show the help'
complete -c volctl -n 'not __volctl_command' -l version -d 'Show the version'
${lines.join('\n')}
`
  function argumentLine(name: string, { values, repeatable }: ArgumentSpec, index: number): string {
    const flags = commands.find((each) => each.name === name)?.flags ?? []
    const taking = flags.filter((flag) => flag.values !== undefined).flatMap(spellings)
    const place = `__volctl_place ${[name, repeatable ? "'*'" : String(index), ...taking].join(' ')}`
    return `complete -c volctl -n ${quoted(place)}${offered(values)}`
  }
}

function flagLine(command: string, { name, char, summary, values }: FlagSpec): string {
  const short = char === undefined ? '' : ` -s ${char}`
  const value = values === undefined ? '' : ` -r${offered(values)}`
  return `complete -c volctl -n '__volctl_command ${command}'${short} -l ${name}${value} -d ${quoted(summary)}`
}

/** Words of flags have no blanks and no quotes. */
function offered(values: Values): string {
  switch (values.kind) {
    case 'words':
      return ` -f -a '${values.words.join(' ')}'`
    case 'list':
      return ` -f -a '(__volctl_list ${values.words.join(' ')})'`
    case 'file':
      return ' -F'
    case 'directory':
      return ` -f -a '(__fish_complete_directories (__volctl_current))'`
    case 'live':
      return ` -f -a '(${values.of === 'thing' ? '__volctl_thing' : `__volctl_live ${values.of}`})'`
    case 'free':
      return ' -f'
    default:
      throw new Error(`nothing for ${JSON.stringify(values satisfies never)}`)
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
