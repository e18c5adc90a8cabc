/** The help of volctl itself: what to type first, and the commands by what a person wants. */
import type { Command } from '@oclif/core'
import pjson from '../../../package.json' with { type: 'json' }
import { programName } from '../trust/own-program.ts'
import type { Palette } from '../views/screen.ts'
import { wrapped } from '../views/wrap.ts'
import { helpAsked } from './short-help.ts'

/** By their titles; a command of none of them stands under the last one. */
const GROUPS: ReadonlyMap<string, readonly string[]> = new Map([
  ['LOOK (changes nothing)', ['plan', 'status', 'explain', 'doctor', 'check', 'wait', 'journal']],
  ['DO', ['apply']],
  ['MORE', ['snapshot', 'completion', 'version']],
])

/** Of help in a pipe too, as that of a command. */
const COLUMNS = 80

/** Nothing is typed, or help is asked for and no command is named. */
export function asksForCommands(args: readonly string[]): boolean {
  if (args.length === 0) return true
  const { args: line, help } = helpAsked(args)
  const first = line.find((arg) => arg !== '--help' && arg !== '-h')
  return help !== undefined && (first === undefined || first.startsWith('-'))
}

/** @param commands as the help names them: a hidden one is left out */
export function rootHelp(
  commands: readonly Pick<Command.Cached, 'id' | 'summary' | 'hidden'>[],
  { bold }: Palette,
  columns = COLUMNS,
): string {
  const shown = commands.filter(({ hidden }) => hidden !== true)
  const inGroup = new Set([...GROUPS.values()].flat())
  const last = [...GROUPS.keys()].at(-1)
  const pad = Math.max(...shown.map(({ id }) => id.length))
  const groups = [...GROUPS].map(([title, ids]) => {
    const more = title === last ? shown.filter(({ id }) => !inGroup.has(id)) : []
    const lines = [...ids.flatMap((id) => shown.find((each) => each.id === id) ?? []), ...more].map(
      ({ id, summary = '' }) => wrapped(`  ${id.padEnd(pad)}  `, summary.replace(/ Changes nothing\.$/, ''), columns),
    )
    return `${bold(title)}\n${lines.join('')}`
  })
  const program = programName()
  return [
    wrapped('', pjson.description, columns),
    `${bold('USAGE')}\n  $ ${program} COMMAND\n`,
    `${bold('FIRST STEP')}\n  What is wrong on this node: ${program} plan\n`,
    ...groups,
    `More about one of them: ${program} plan --help\n`,
  ].join('\n')
}
