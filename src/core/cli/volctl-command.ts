import { existsSync } from 'node:fs'
import { Command } from '@oclif/core'
import { formatDuration } from '../base/text.ts'
import { marked, SafetyRefusal, said, usageError, VolctlError } from '../messages/findings.ts'
import { environment, io, type OutputStream, thisRun } from '../trust/run.ts'
import { ASCII_SYMBOLS, isUtf8Locale, renderNames, type Screen, UNICODE_SYMBOLS, wrapped } from '../views/screen.ts'
import { jsonPieces, toYaml } from '../views/structured.ts'
import { baseFlags, type OutputFormat } from './flags.ts'
import { Reentered } from './live-node.ts'
import { messages, paintOf, standardOutput } from './output.ts'
import { explainError, sayError } from './report-error.ts'

/** By what each shows; `$` stands for the name that volctl is called by. */
export function examples(all: Readonly<Record<string, string>>): Command.Example[] {
  return Object.entries(all).map(([description, command]) => ({
    description,
    command: command.replaceAll('$', '<%= config.bin %>'),
  }))
}

/**
 * Base of every command: output and colour, messages on standard error, one exit status per meaning, and errors as
 * one clear line. oclif's own printing of errors (stacks, parser state) is never reached.
 */
export abstract class VolctlCommand extends Command {
  /** Does the command look at files or at the node? */
  static readonly looks: boolean = true

  static override baseFlags = baseFlags

  readonly io = io()
  readonly output = standardOutput()
  readonly #started = performance.now()

  /** `Command.run` reads oclif's own settings from the disk before. */
  async start(): Promise<void> {
    await this._run()
  }

  /** Before anything else reads the command line: `--verbose=false` is not verbose. */
  protected override async init(): Promise<void> {
    await super.init()
    if ((this.ctor as typeof VolctlCommand).looks) requireProc()
    const { flags, baseFlags } = this.ctor
    this.argv = plainSwitches(this.argv, { ...baseFlags, ...flags })
  }

  /** What an answer or a question is drawn on. */
  async screenOf(stream: OutputStream, format: OutputFormat): Promise<Screen> {
    const paint = await paintOf(this.argv, stream)
    const symbols = isUtf8Locale(environment()) ? UNICODE_SYMBOLS : ASCII_SYMBOLS
    const wide = format === 'wide'
    if (stream.isTTY !== true) return { paint, symbols, width: undefined, wide }
    const { columns, rows } = stream
    return { paint, symbols, width: columns || undefined, rows: rows || undefined, wide }
  }

  get verbose(): boolean {
    return this.argv.includes('-v') || this.argv.includes('--verbose')
  }

  /** A sentence on standard error: a line, which a terminal's width breaks. */
  say(message: string): void {
    messages.write(wrapped('', message, messages.columns))
  }

  /** A line on standard error under `--verbose`, with the time since the start. */
  readonly detail = (message: string): void => {
    if (this.verbose) this.say(`[${formatDuration(performance.now() - this.#started)}] ${message}`)
  }

  /**
   * Prints the answer in the chosen form; `draw` makes the two forms for people.
   *
   * @param names what the answer is about, for `-o name`
   */
  async answer(
    value: unknown,
    format: OutputFormat,
    draw: (screen: Screen) => string,
    names: readonly string[] = [],
  ): Promise<void> {
    if (format === 'json') {
      // Piece by piece, as fast as it is read: a journal is large.
      for (const piece of jsonPieces(value)) {
        this.output.write(piece)
        await this.output.flush()
      }
    } else if (format === 'yaml') this.output.write(await toYaml(value))
    else if (format === 'name') this.output.write(renderNames(names))
    else this.output.write(draw(await this.screenOf(this.io.stdout, format)))
    await this.output.flush()
  }

  finish(status: number): void {
    thisRun().status = status
  }

  protected override async catch(thrown: unknown): Promise<void> {
    if (thrown instanceof Reentered) {
      this.finish(thrown.status)
      return
    }
    // Else oclif adds its own warning to a usage error.
    this.parsed = true
    const error = explainError(thrown, this.id)
    await sayError(error, this.argv)
    if (this.verbose && error instanceof SafetyRefusal) this.say(`rule: ${error.rule}`)
    if (this.verbose && error.cause instanceof Error) this.say(`caused by: ${error.cause.stack ?? error.cause.message}`)
    this.finish(error.exit)
  }
}

/**
 * Files are opened, and mounts, processes and privileges read, through /proc. Without it a file that exists seems to be missing,
 * root to have no capability, and no pod to have a process.
 *
 * @throws VolctlError NodeUnreadable
 */
function requireProc(): void {
  if (process.platform !== 'linux' || existsSync('/proc/self/fd')) return
  throw new VolctlError(said('NodeUnreadable.noProc'), {
    hint: marked('Mount it, then run volctl again: `mount -t proc proc /proc`'),
  })
}

// Flags without a value, written as with kubectl: `--yes=true` is `--yes`, and `--yes=false` is no flag.

/**
 * The command line with every switch in its plain form: `--name` where it is on, nothing where it is off.
 *
 * @param flags of the command
 * @throws VolctlError Usage for any other value
 */
export function plainSwitches(
  argv: readonly string[],
  flags: Readonly<Record<string, { readonly type: string }>>,
): string[] {
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length
  return argv.flatMap((arg, index) => {
    const [, flag = '', name, text] = /^(--([^=]+))=(.*)$/s.exec(arg) ?? []
    if (index > end || name === undefined || !Object.hasOwn(flags, name) || flags[name]?.type !== 'boolean') return arg
    if (text === 'true') return flag
    if (text === 'false') return []
    throw usageError('Usage.form', `Give ${flag} without a value, or omit it.`, { flag, text, form: 'true or false' })
  })
}
