/**
 * What a person types to call volctl, for help and hints: `volctl`; `kubectl volctl`, where it was called by the name
 * kubectl-volctl; and in a Pod what the person typed on the workstation (`volctl on NODE`). It decides nothing else.
 *
 * The executable sees its name itself; bin/volctl hands it on as an argument, and so does a volctl that starts another.
 */
import { posix } from 'node:path'
import { isSea } from 'node:sea'

const WORD = '--internal-called-as='
const WIDTH = '--internal-width='
/** As kubectl wants it of a plugin. */
const PLUGIN_FILE = 'kubectl-volctl'
export const PLUGIN = 'kubectl volctl'
const PLAIN = 'volctl'

let called = PLAIN
let through = false
let width: number | undefined
let pattern: RegExp | undefined
let known: readonly string[] = []

/** `volctl`, `kubectl volctl`, or `kubectl volctl on NODE`. */
export function programName(): string {
  return called
}

/** This run is in a Pod of `volctl on`: `programName` is what was typed elsewhere. */
export function isThroughPod(): boolean {
  return through
}

/** As a plugin of kubectl, which is a workstation's way. */
export function isPlugin(): boolean {
  return called === PLUGIN
}

/** Columns of the terminal that the answer is for, where it is not this process's own. */
export function terminalWidth(): number | undefined {
  return width
}

/** The arguments that say so, for a volctl that this one starts. */
export function calledWords(name = called, columns = width): readonly string[] {
  return [...(name === PLAIN ? [] : [`${WORD}${name}`]), ...(columns === undefined ? [] : [`${WIDTH}${columns}`])]
}

/**
 * Takes these arguments off the command line.
 *
 * @param argv what follows the script
 * @param commands what is a command of volctl after its name
 */
export function acceptCalledAs(argv: readonly string[], commands: readonly string[]): readonly string[] {
  if (isSea() && posix.basename(process.argv0) === PLUGIN_FILE) called = PLUGIN
  let rest = argv
  for (;;) {
    const [word = ''] = rest
    const columns = new RegExp(`^${WIDTH}(\\d{1,4})$`).exec(word)?.[1]
    if (word.startsWith(WORD)) called = word.slice(WORD.length)
    else if (columns !== undefined) width = Number(columns)
    else break
    rest = rest.slice(1)
  }
  through = / on [^ ]/.test(called)
  known = commands
  pattern = patternFor(called)
  return rest
}

/** Where a text names a command of volctl; undefined: as everybody calls it. */
function patternFor(name: string): RegExp | undefined {
  if (name === PLAIN) return undefined
  // Not after a pause for the kubelet, which starts no Pod then, nor in what is typed on the node itself.
  const gap = '\\s{1,80}'
  const onNode = [
    '; ',
    `ssh${gap}\\S{1,253}${gap}sudo${gap}`,
    `on${gap}node${gap}\\S{1,253}:${gap}`,
    `kubelet(?:${gap}\\([^()]{1,300}\\))?;${gap}then:${gap}`,
  ].join('|')
  const before = `(?<!(?:[\\w/.-]|kubectl\\s{1,80}|${onNode})volctl)`
  // The help of all commands is nothing to be run on another node.
  const after = name === PLUGIN ? [...known, '--help'] : known
  return new RegExp(`volctl${before}(?= (?:${after.join('|')})\\b)`, 'g')
}

/** Draws something that belongs to another call of volctl: a plan of another node. */
export function calledWhile<T>(name: string, draw: () => T): T {
  const before = { called, pattern }
  called = name
  pattern = patternFor(name)
  try {
    return draw()
  } finally {
    ;({ called, pattern } = before)
  }
}

/** A text for a person, with volctl's commands as this person types them. */
export function asCalled(text: string): string {
  return pattern === undefined ? text : text.replaceAll(pattern, () => called)
}
