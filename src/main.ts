/**
 * What one command line does, from its words to its exit status. The build appends the process's own call, with the manifest of the
 * commands, so that help and usage errors need no command's code, and oclif never looks on disk for commands, plugins or hooks.
 */
import { setImmediate } from 'node:timers/promises'
import type { Config, Interfaces } from '@oclif/core'
import pjson from '../package.json' with { type: 'json' }
import { asksForCommands, commandHelp, helpAsked, rootHelp } from './core/cli/help.ts'
import { messages, paintOf, standardOutput } from './core/cli/output.ts'
import { explainError, sayError, unknownCommand } from './core/cli/report-error.ts'
import { asksForVersion, versionLine } from './core/cli/version-line.ts'
import { givePlaces, type Places } from './core/node/places.ts'
import { acceptName, programName } from './core/trust/own-program.ts'
import { acceptCaller, type Io, type Run, thisRun, within } from './core/trust/run.ts'

interface Runnable {
  id: string
  new (argv: string[], config: Config): { start(): Promise<void> }
}

/** Where a run finds itself. */
export interface Where {
  readonly manifest: Interfaces.Manifest
  /** Where volctl is installed. */
  readonly root: string
  /** What Node.js was started with; undefined: volctl is one executable. */
  readonly script: string | undefined
  /** The node that it looks at in place of this machine (core/node/places.ts). */
  readonly node?: () => Places | undefined
}

/**
 * Runs one command line, and returns its exit status. Nothing of a run outlives it, but for calls that hang: whoever started the process
 * ends it then (`process.exit`), which a call on a dead mount would else keep alive for ever.
 *
 * @param argv what follows the script
 */
export async function main(argv: readonly string[], io: Io, where: Where): Promise<number> {
  const { script, node } = where
  const run: Run = { io, argv, script, status: 0 }
  const lose = (): void => undefined
  io.stderr.on('error', lose)
  try {
    return await within(run, async () => {
      if (node !== undefined) givePlaces(node)
      using output = standardOutput()
      try {
        const { args: named, caller } = acceptCaller(argv)
        const { args, isPlugin } = acceptName(named, io.name)
        Object.assign(run, { argv: named, caller, isPlugin })
        await perform(args, where)
        await output.flush()
      } catch (error) {
        // What goes wrong outside a command: an unknown one, output that cannot be written.
        const explained = explainError(error)
        await sayError(explained, argv)
        run.status = explained.exit
      }
      await messages.flush()
      // A stream says what went wrong after it has called back.
      await setImmediate()
      return run.status
    })
  } finally {
    io.stderr.off('error', lose)
  }
}

async function perform(args: readonly string[], { manifest: { commands }, root }: Where): Promise<void> {
  const output = standardOutput()
  const { stdout } = thisRun().io
  if (asksForVersion(args)) return output.write(versionLine())
  // `volctl help plan` as everybody's fingers have it.
  const { args: line, help } = helpAsked(args[0] === 'help' ? [...args.slice(1), '--help'] : args)
  if (asksForCommands(line, help !== undefined)) {
    const paint = await paintOf(args, stdout)
    return output.write(rootHelp(commands, paint, stdout.columns || undefined))
  }
  const id = (help === undefined ? line[0] : line.find((word) => !word.startsWith('-'))) ?? ''
  const command = Object.hasOwn(commands, id) ? commands[id] : undefined
  if (command === undefined) throw unknownCommand(id, Object.keys(commands))
  // Not before: a version does not need it, and it is a third of what a start evaluates.
  const { CommandHelp, Config } = await loadOclif()
  const known = { root, bin: programName(), version: pjson.version, pjson, topicSeparator: ':' }
  const noHooks = { runHook: async () => ({ successes: [], failures: [] }) }
  const config = Object.assign(new Config({ root }), known, noHooks)
  Object.defineProperty(config, 'commands', { value: Object.values(commands) })
  if (help !== undefined) {
    const maxWidth = stdout.isTTY === true && stdout.columns ? Math.max(stdout.columns, 40) : 80
    return output.write(commandHelp(command, help === 'short', config, CommandHelp, maxWidth))
  }
  // The bundler keeps each command lazy, by this pattern.
  const { default: Loaded }: { default: Runnable } = await import(`./commands/${id}.ts`)
  Loaded.id = id
  await new Loaded(line.slice(1), config).start()
}

/** Its own listeners, which it adds when it is loaded, throw whatever is not EPIPE, past every catch. */
async function loadOclif(): Promise<typeof import('@oclif/core')> {
  const streams = [process.stdout, process.stderr]
  const ours = streams.map((stream) => new Set(stream.listeners('error')))
  const oclif = await import('@oclif/core')
  for (const [index, stream] of streams.entries()) {
    for (const listener of stream.listeners('error') as (() => void)[])
      if (ours[index]?.has(listener) !== true) stream.removeListener('error', listener)
  }
  return oclif
}
