/** The command of `volctl on`, as it was typed and understood: what volctl on the node would refuse is refused before there is a Pod. */
import type { Config } from '@oclif/core'
import { Parser } from '@oclif/core'
import { VolctlError } from '../errors/errors.ts'
import { nearNames } from '../lang/near-names.ts'
import type { SavedPlan } from '../plan/plan-shape.ts'
import { NODE_PLAN, readTypedPlan } from '../plan-file/read-plan-file.ts'
import { NODE_COMMANDS, type NodeCommand, requireForNode, type Token } from '../through-pod/node-command.ts'
import { programName } from '../trust/called-as.ts'
import { applyArguments, narrowing } from './plan-arguments.ts'
import { requireNoPlanFlags } from './plan-file.ts'
import { planFlags } from './plan-flags.ts'
import { plainSwitches } from './switches.ts'
import { explainError } from './usage-error.ts'

export interface CommandThere {
  readonly command: NodeCommand
  readonly tokens: readonly Token[]
  readonly flags: Readonly<Record<string, unknown>>
  /** Names of its flags without a value. */
  readonly switches: ReadonlySet<string>
  /** As typed, of an apply: a file of this machine. */
  readonly planfile: string | undefined
}

/**
 * @param command as typed; undefined where none was
 * @param words what was typed after it
 * @throws VolctlError Usage for what is no such command, or has flags or arguments that it does not take
 */
export async function commandThere(
  config: Config,
  command: string | undefined,
  words: readonly string[],
): Promise<CommandThere> {
  const known = knownCommand(command)
  const loaded = await config.findCommand(known, { must: true }).load()
  const flags = { ...loaded.baseFlags, ...loaded.flags }
  const names = Object.keys(flags)
  const switches = new Set(names.filter((name) => flags[name]?.type === 'boolean'))
  try {
    const argv = plainSwitches([...words], [...switches])
    const parsed = await Parser.parse(argv, { flags, args: loaded.args, strict: loaded.strict })
    const tokens = parsed.raw as readonly Token[]
    requireForNode(known, tokens)
    const there = { command: known, tokens, flags: parsed.flags, switches }
    return known === 'plan' || known === 'apply' ? narrowedThere(there, parsed.args) : { ...there, planfile: undefined }
  } catch (error) {
    throw explainError(error, { command: known, commands: [], flags: names })
  }
}

/** Names become flags: what is fetched or carried out there is narrowed by these, and no file of the node is meant. */
function narrowedThere(there: Omit<CommandThere, 'planfile'>, args: Readonly<Record<string, unknown>>): CommandThere {
  const { command, flags } = there
  const names = (args.names ?? args['name-or-planfile'] ?? []) as readonly string[]
  const typed = flags as Parameters<typeof applyArguments>[1]
  const { planfile, ...narrowed } =
    command === 'apply' ? applyArguments(names, typed) : { ...narrowing(names, typed), planfile: undefined }
  const replaced = new Set([...Object.keys(narrowed), 'plan'])
  const words = Object.entries(narrowed).flatMap(([flag, values]) =>
    values.map((input) => ({ type: 'flag', flag, input }) as const),
  )
  const kept = there.tokens.filter((token) => token.type === 'flag' && !replaced.has(token.flag))
  return { ...there, planfile, tokens: [...kept, ...words], flags: { ...flags, ...narrowed } }
}

function knownCommand(command: string | undefined): NodeCommand {
  if (command === undefined)
    throw usage('COMMAND is missing', `One of ${NODE_COMMANDS.join(', ')}: ${programName()} on NODE plan`)
  const known = NODE_COMMANDS.find((each) => each === command)
  if (known !== undefined) return known
  const [near] = nearNames(command, NODE_COMMANDS, 1)
  const meant = near === undefined ? '' : `Did you mean ${near}? `
  throw usage(`${command} does not run through a Pod`, `${meant}These do: ${NODE_COMMANDS.join(', ')}`)
}

/**
 * The plan that `apply PLANFILE` was given.
 *
 * @returns undefined where it was given none
 * @throws VolctlError for a file that is no plan, or a plan of another node
 */
export async function givenPlan(
  { planfile, tokens }: CommandThere,
  node: string,
  version: string,
): Promise<SavedPlan | undefined> {
  if (planfile === undefined) return undefined
  requireNoPlanFlags(tokens.flatMap((token) => (token.type === 'flag' ? token.flag : [])))
  const saved = await readTypedPlan(NODE_PLAN, planfile, version)
  if (saved.node === node) return saved
  throw usage(`plan file ${planfile} is of the node ${saved.node}, not of ${node}`, 'Give the plan of this node.')
}

/** The same apply, of a plan file that comes on its standard input: the flags that made the plan are in the file. */
export function ofPlanFile(there: CommandThere): CommandThere {
  const tokens = there.tokens.filter((token) => token.type === 'flag' && !Object.hasOwn(planFlags, token.flag))
  return { ...there, tokens: [{ type: 'arg', arg: 'name-or-planfile', input: '-' }, ...tokens] }
}

function usage(message: string, hint: string): VolctlError {
  return new VolctlError('Usage', message, { hint })
}
