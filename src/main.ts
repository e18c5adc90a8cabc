/**
 * Where the bundle begins. The build appends a call with the manifest of the commands, so that help and usage errors
 * need no command's code, and oclif never looks on disk for commands, plugins or hooks.
 */
import type { Command, Interfaces } from '@oclif/core'
import pjson from '../package.json' with { type: 'json' }
import { isColourful } from './core/cli/colour.ts'
import { messages } from './core/cli/messages.ts'
import { standardOutput } from './core/cli/output.ts'
import { errorText, isStructured } from './core/cli/report-error.ts'
import { asksForCommands, rootHelp } from './core/cli/root-help.ts'
import { helpAsked, SHORT, shortHelp } from './core/cli/short-help.ts'
import { explainError } from './core/cli/usage-error.ts'
import { asksForVersion, versionLine } from './core/cli/version-line.ts'
import { acceptCaller } from './core/trust/caller.ts'
import { environment } from './core/trust/environment.ts'
import { acceptName, programName } from './core/trust/own-program.ts'
import { palette } from './core/views/palette.ts'

/** Literal imports, which the bundler keeps lazy. */
const LOADERS: Readonly<Record<string, () => Promise<{ default: Command.Class }>>> = {
  apply: () => import('./commands/apply.ts'),
  check: () => import('./commands/check.ts'),
  completion: () => import('./commands/completion.ts'),
  doctor: () => import('./commands/doctor.ts'),
  explain: () => import('./commands/explain.ts'),
  journal: () => import('./commands/journal.ts'),
  plan: () => import('./commands/plan.ts'),
  status: () => import('./commands/status.ts'),
  snapshot: () => import('./commands/snapshot.ts'),
  version: () => import('./commands/version.ts'),
  wait: () => import('./commands/wait.ts'),
}

/**
 * Runs one command line and ends the process: a call that hangs on a dead mount would else keep it alive for ever.
 * The exit status is `process.exitCode`, which the commands set.
 */
export async function main(manifest: Interfaces.Manifest, root: string): Promise<never> {
  const output = standardOutput()
  process.stderr.on('error', () => undefined)
  try {
    const args = acceptName(acceptCaller(process.argv.slice(2)))
    if (asksForVersion(args)) {
      output.write(versionLine())
      await output.flush()
      process.exit()
    }
    if (asksForCommands(commandLine(args))) {
      const colour = isColourful(args, environment(), process.stdout.isTTY === true)
      const columns = process.stdout.columns || undefined
      output.write(rootHelp(Object.values(manifest.commands), await palette(colour), columns))
      await output.flush()
      process.exit()
    }
    // Not before: a version does not need it, and it is a third of what a start evaluates.
    const { run, settings } = await loadOclif()
    settings.enableAutoTranspile = false
    const { args: line, help } = helpAsked(commandLine(args))
    const plugin =
      help === 'short' ? embeddedPlugin(shortHelp(manifest), root, SHORT) : embeddedPlugin(manifest, root, {})
    await run(line, {
      root,
      pjson: plugin.pjson,
      plugins: new Map([[plugin.name, plugin]]),
      userPlugins: false,
      devPlugins: false,
    })
    await output.flush()
  } catch (error) {
    await report(error, Object.keys(manifest.commands))
  }
  await messages.flush()
  process.exit()
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

/** `volctl help plan` as everybody's fingers have it. */
function commandLine(argv: readonly string[]): string[] {
  return argv[0] === 'help' ? [...argv.slice(1), '--help'] : [...argv]
}

/** What goes wrong outside a command: an unknown command, output that cannot be written. */
async function report(error: unknown, commands: readonly string[]): Promise<void> {
  // oclif's own way of ending, after help for example.
  const { code, oclif } = error as { code?: string; oclif?: { exit?: number } }
  if (code === 'EEXIT') {
    process.exitCode = oclif?.exit ?? 0
    return
  }
  const explained = explainError(error, { commands })
  const colour = isColourful(process.argv, environment(), process.stderr.isTTY === true)
  messages.write(errorText(explained, isStructured(process.argv), await palette(colour), messages.columns))
  process.exitCode = explained.exit
}

/** A plugin of oclif's shape, made of the inlined manifest. */
function embeddedPlugin(
  manifest: Interfaces.Manifest,
  root: string,
  options: Partial<typeof SHORT>,
): Interfaces.Plugin {
  const findCommand = async (id: string): Promise<Command.Class> => {
    const loaded = await LOADERS[id]?.()
    if (loaded === undefined) throw new Error(`no such command: ${id}`)
    return Object.assign(loaded.default, { id, plugin })
  }
  const commands = Object.entries(manifest.commands).map(([id, command]) => ({
    ...command,
    load: () => findCommand(id),
  }))
  const plugin = {
    _base: '@oclif/core',
    alias: pjson.name,
    name: pjson.name,
    version: pjson.version,
    root,
    pjson: {
      ...pjson,
      oclif: { ...pjson.oclif, ...options, bin: programName() },
    } as unknown as Interfaces.Plugin['pjson'],
    type: 'core',
    moduleType: 'module',
    isRoot: true,
    valid: true,
    hasManifest: true,
    hooks: {},
    topics: [],
    options: { root, isRoot: true },
    commandIDs: Object.keys(manifest.commands),
    commandsDir: undefined,
    manifest,
    commands,
    load: async () => undefined,
    findCommand,
  }
  return plugin as unknown as Interfaces.Plugin
}
