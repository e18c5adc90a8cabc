import { gzipSync } from 'node:zlib'
import { Args, Flags, Parser } from '@oclif/core'
import { createKubeClient, type PodClient } from '../core/api/kube-client.ts'
import { discoverKubeConfig } from '../core/api/kubeconfig/kube-config.ts'
import { isColourful } from '../core/cli/colour.ts'
import { confirm } from '../core/cli/confirm.ts'
import { FromNode } from '../core/cli/from-node.ts'
import { Interrupts } from '../core/cli/interrupts.ts'
import { messages } from '../core/cli/messages.ts'
import { apiFlags, nodeChoice } from '../core/cli/node-flags.ts'
import { requireNoPlanFlags } from '../core/cli/plan-file.ts'
import { planFlags, planOptions } from '../core/cli/plan-flags.ts'
import { Gathered, planFromNode } from '../core/cli/plan-from-node.ts'
import { StopSignal } from '../core/cli/stop-signal.ts'
import { plainSwitches } from '../core/cli/switches.ts'
import { explainError } from '../core/cli/usage-error.ts'
import { type OutputFormat, VolctlCommand } from '../core/cli/volctl-command.ts'
import { mustAsk, terminals } from '../core/cli/whom-to-ask.ts'
import { type Destination, destinationOf } from '../core/cli/write-out.ts'
import { VolctlError } from '../core/errors/errors.ts'
import { ExitStatus } from '../core/errors/exit-status.ts'
import { ownDescriptor } from '../core/files/own-descriptor.ts'
import { replaceFile } from '../core/files/replace-file.ts'
import { count } from '../core/lang/count.ts'
import { defined } from '../core/lang/defined.ts'
import { parseDuration } from '../core/lang/duration.ts'
import { nearNames } from '../core/lang/near-names.ts'
import type { Plan, PlanOptions } from '../core/plan/plan.ts'
import { planId } from '../core/plan/plan-id.ts'
import type { SavedPlan } from '../core/plan-file/plan-shape.ts'
import { readPlanFile, readPlanInput } from '../core/plan-file/read-plan-file.ts'
import { planFileText, savedPlanText, writePlanFile } from '../core/plan-file/write-plan-file.ts'
import { snapshotNotWritten } from '../core/snapshot/write-snapshot.ts'
import { inputWords } from '../core/through-pod/handed-input.ts'
import {
  calledOn,
  NODE_COMMANDS,
  type NodeCommand,
  nodeCommandLine,
  requireForNode,
  splitAtCommand,
  type Token,
} from '../core/through-pod/node-command.ts'
import { type Errand, requireWay, runThroughPod } from '../core/through-pod/run-through-pod.ts'
import { calledWhile, programName } from '../core/trust/called-as.ts'
import { callerPath } from '../core/trust/caller.ts'
import { environment } from '../core/trust/environment.ts'
import { namesOfPlan } from '../core/views/names.ts'
import { renderPlan } from '../core/views/plan-view.ts'
import { isUtf8Locale } from '../core/views/symbols.ts'

const DEFAULT_NAMESPACE = 'kube-system'
const DEFAULT_START = '2m'
const DEFAULT_LIMIT = '30m'
/** Held before it is written to a file as a whole. */
const MAX_SNAPSHOT = 1 << 30

/** A command of the node, as it was typed and understood. */
interface Typed {
  readonly command: NodeCommand
  readonly tokens: readonly Token[]
  readonly flags: Readonly<Record<string, unknown>>
  /** Names of its flags without a value. */
  readonly switches: ReadonlySet<string>
  readonly planfile: string | undefined
}

/** A way to the node. */
interface Way {
  readonly client: PodClient
  readonly base: Omit<Errand, 'args' | 'out'>
  /** What a hint of volctl there begins with. */
  readonly called: string
}

export default class On extends VolctlCommand {
  static override summary = 'Run a command of volctl on another node, through a Pod that is deleted afterwards.'
  static override description =
    'For any machine that reaches the API server. Makes a privileged Pod on the node, runs the command there with --host-root, prints the answer here, and deletes the ' +
    'Pod. The exit status is that of the command. Flags before COMMAND belong to on, those after it to the command, and ' +
    'paths among these are paths of the node. plan --out, snapshot -o and the PLANFILE of apply are files of this machine. ' +
    'apply shows the plan and asks here, and then carries out exactly the plan that was shown. A Pod starts only where a ' +
    'kubelet runs: what a running kubelet leaves undone can be applied, what needs a stopped kubelet is done on the node itself.'
  static override usage = 'on [FLAGS] NODE COMMAND [ARGS]'
  static override strict = false
  static override args = {
    node: Args.string({ name: 'NODE', ignoreStdin: true, description: 'The name of the node: kubectl get nodes.' }),
    command: Args.string({
      name: 'COMMAND',
      ignoreStdin: true,
      options: [...NODE_COMMANDS],
      description: 'The command of volctl, with its flags.',
    }),
  }
  static override examples = [
    { description: 'What is wrong on a node:', command: '<%= config.bin %> on node7 plan' },
    { description: 'Clean up there, after a look at the plan:', command: '<%= config.bin %> on node7 apply' },
    {
      description: 'A snapshot, for later and for --snapshot:',
      command: '<%= config.bin %> on node7 snapshot -o node7.json.gz',
    },
    {
      description: 'With an image of your own registry:',
      command: '<%= config.bin %> on --image registry.example.com/volctl:0.1.0 node7 status',
    },
  ]
  static override flags = {
    ...apiFlags,
    image: Flags.string({
      helpValue: 'IMAGE',
      summary: 'The image to run. Default: volctl, with the version of this volctl as tag.',
    }),
    'image-pull-policy': Flags.string({
      options: ['Always', 'IfNotPresent', 'Never'],
      helpValue: 'POLICY',
      summary: 'When the node pulls the image: Always, IfNotPresent (default) or Never.',
    }),
    'image-pull-secret': Flags.string({
      helpValue: 'NAME',
      multiple: true,
      multipleNonGreedy: true,
      summary: 'Secret of the namespace to pull the image with. Repeatable.',
    }),
    'pod-namespace': Flags.string({
      helpValue: 'NS',
      summary: `Namespace of the Pod, which must admit privileged Pods. Default: ${DEFAULT_NAMESPACE}.`,
    }),
    'service-account': Flags.string({
      helpValue: 'NAME',
      summary: "Service account of the Pod, whose token volctl uses. Default: none, but the node's own credential.",
    }),
    'start-timeout': Flags.string({
      helpValue: 'DUR',
      summary: `How long to wait until the Pod runs, the pull included (default ${DEFAULT_START}).`,
    }),
    'time-limit': Flags.string({
      helpValue: 'DUR',
      summary: `How long the Pod may live; the kubelet ends it, whatever happens to this machine (default ${DEFAULT_LIMIT}).`,
    }),
  }

  #command: string | undefined

  async run(): Promise<void> {
    const split = splitAtCommand(this.argv, valuedFlags())
    const { flags, args } = await this.parse(On, [...split.own])
    const [command, ...words] = split.command
    this.#command = command
    const { node } = args
    if (node === undefined) throw usage('NODE is missing', 'As in: volctl on node7 plan. The nodes: kubectl get nodes')
    const typed = await this.#typed(command, words)
    const saved = await this.#savedPlan(typed, node)
    const isApply = typed.command === 'apply'
    const asks = isApply && mustAsk({ yes: typed.flags.yes === true, reviewed: saved !== undefined }, terminals())
    const startMs = parseDuration(flags['start-timeout'] ?? DEFAULT_START, '--start-timeout')
    const limitMs = parseDuration(flags['time-limit'] ?? DEFAULT_LIMIT, '--time-limit')
    const { kubeconfig, context } = nodeChoice(flags)
    const client = createKubeClient(
      discoverKubeConfig({
        kubeconfig,
        context,
        onAttempt: ({ source, problem = 'used' }) => this.detail(`${source}: ${problem}`),
      }),
    )
    using interrupts = isApply ? new Interrupts((line) => this.say(line)) : undefined
    using signals = new StopSignal(isApply ? [] : ['SIGINT', 'SIGTERM', 'SIGHUP'])
    const stop = interrupts?.stop ?? signals.signal
    const errors = new FromNode((text) => void messages.write(text), process.stderr.isTTY === true)
    const base: Way['base'] = {
      node,
      command: [command, ...words].join(' '),
      version: this.config.version,
      locale: isUtf8Locale({ ...environment() }) ? 'C.UTF-8' : undefined,
      pod: {
        namespace: flags['pod-namespace'] ?? DEFAULT_NAMESPACE,
        image: flags.image ?? `volctl:${this.config.version}`,
        pullPolicy: flags['image-pull-policy'] ?? 'IfNotPresent',
        pullSecrets: flags['image-pull-secret'] ?? [],
        serviceAccount: flags['service-account'],
        limitSeconds: Math.max(1, Math.ceil(limitMs / 1000)),
      },
      startMs,
      err: (bytes) => errors.take(bytes),
      say: (line) => this.say(line),
      log: (line) => this.detail(line),
      stop,
    }
    const way: Way = { client, base, called: calledOn(programName(), split.own, node) }
    try {
      await requireWay(client, { ...base, args: [], out: () => undefined })
      const status = await this.#carryOut(way, typed, { asks, saved, interrupts })
      errors.end()
      process.exitCode = status
    } catch (error) {
      errors.end()
      if (stop.aborted && !(error instanceof VolctlError))
        throw new VolctlError('Interrupted', 'interrupted', { exit: ExitStatus.Interrupted })
      throw error
    } finally {
      client.close()
    }
  }

  /** What the node's volctl would refuse is refused here, before there is a Pod. */
  async #typed(command: string | undefined, words: readonly string[]): Promise<Typed> {
    if (command === undefined)
      throw usage('COMMAND is missing', `One of ${NODE_COMMANDS.join(', ')}: volctl on NODE plan`)
    const known = NODE_COMMANDS.find((each) => each === command)
    if (known === undefined) {
      const [near] = nearNames(command, NODE_COMMANDS, 1)
      const meant = near === undefined ? '' : `Did you mean ${near}? `
      throw usage(`${command} does not run through a Pod`, `${meant}These do: ${NODE_COMMANDS.join(', ')}`)
    }
    const loaded = await this.config.findCommand(known, { must: true }).load()
    const flags = { ...loaded.baseFlags, ...loaded.flags }
    const names = Object.keys(flags)
    const switches = new Set(names.filter((name) => flags[name]?.type === 'boolean'))
    try {
      const argv = plainSwitches([...words], [...switches])
      const parsed = await Parser.parse(argv, { flags, args: loaded.args, strict: loaded.strict })
      const tokens = parsed.raw as readonly Token[]
      requireForNode(known, tokens)
      const planfile = known === 'apply' ? parsed.args.planfile : undefined
      return { command: known, tokens, flags: parsed.flags, switches, planfile: planfile as string | undefined }
    } catch (error) {
      throw explainError(error, { command: known, commands: [], flags: names })
    }
  }

  async #savedPlan({ planfile, tokens }: Typed, node: string): Promise<SavedPlan | undefined> {
    if (planfile === undefined) return undefined
    requireNoPlanFlags(tokens.flatMap((token) => (token.type === 'flag' ? token.flag : [])))
    const { version } = this.config
    const saved =
      ownDescriptor(planfile, 0) === 0
        ? await readPlanInput(version)
        : readPlanFile(callerPath(planfile), version, planfile)
    if (saved.node === node) return saved
    throw usage(`plan file ${planfile} is of the node ${saved.node}, not of ${node}`, 'Give the plan of this node.')
  }

  async #carryOut(
    way: Way,
    typed: Typed,
    { asks, saved, interrupts }: { asks: boolean; saved: SavedPlan | undefined; interrupts: Interrupts | undefined },
  ): Promise<number> {
    const { command, flags } = typed
    if (command === 'apply' && interrupts !== undefined) {
      if (saved !== undefined) return await this.#applySaved(way, typed, { saved, asks, interrupts })
      if (asks) return await this.#reviewAndApply(way, typed, interrupts)
      // No terminal, or --yes: nobody is asked there either.
      return await this.#pass(way, typed, { abandon: interrupts.abandon })
    }
    if (command === 'plan' && typeof flags.out === 'string') return await this.#planTo(way, typed, flags.out)
    if (command === 'snapshot' && typeof flags.output === 'string' && ownDescriptor(flags.output, 1) !== 1)
      return await this.#snapshotTo(way, typed, flags.output)
    return await this.#pass(way, typed, {})
  }

  /** The answer of the node as it is. */
  async #pass(
    { client, base, called }: Way,
    typed: Typed,
    { abandon, input = [] }: { abandon?: AbortSignal; input?: readonly string[] },
  ): Promise<number> {
    const terminal = process.stdout.isTTY === true
    const answer = new FromNode((text) => this.output.write(text), terminal)
    const width = terminal && process.stdout.columns > 0 ? [`--width=${process.stdout.columns}`] : []
    const words = [`--called-as=${called}`, ...width, ...input]
    const status = await runThroughPod(client, {
      ...base,
      args: ['__framed', ...words, '--', ...this.#commandLine(typed)],
      out: (bytes) => answer.take(bytes),
      ...defined({ abandon }),
    })
    answer.end()
    await this.output.flush()
    return status
  }

  #commandLine({ command, tokens, switches }: Typed): readonly string[] {
    const chosen = tokens.some((token) => token.type === 'flag' && /^(no-)?color$/.test(token.flag))
    const colour = !chosen && isColourful(this.argv, environment(), process.stdout.isTTY === true)
    return nodeCommandLine(command, tokens, switches, colour ? ['--color=always'] : [])
  }

  /** The plan of the node as data. */
  async #plan(
    { client, base, called }: Way,
    typed: Typed,
  ): Promise<{ readonly status: number; readonly plan?: Plan; readonly options: PlanOptions }> {
    const own = new Set([...Object.keys(planFlags), 'root-dir', 'runtime-endpoint', 'detailed-exitcode'])
    const tokens = typed.tokens.filter((token) => token.type === 'flag' && own.has(token.flag))
    const answer = new Gathered()
    const words = nodeCommandLine('plan', tokens, typed.switches, ['--output=json'])
    const args = ['__framed', `--called-as=${called}`, '--', ...words]
    const status = await runThroughPod(client, { ...base, args, out: (bytes) => answer.take(bytes) })
    const options = planOptions(typed.flags as Parameters<typeof planOptions>[0], this.config.version)
    const { bytes } = answer
    return { status, options, ...(bytes.length > 0 && { plan: planFromNode(bytes, base.node) }) }
  }

  /** `plan --out FILE`: the file is of this machine. */
  async #planTo(way: Way, typed: Typed, file: string): Promise<number> {
    const { status, plan, options } = await this.#plan(way, typed)
    if (plan === undefined) return status
    const format = String(typed.flags.output) as OutputFormat
    const draw = { unfolded: typed.flags.verbose === true }
    const names = format === 'name' ? namesOfPlan(plan) : []
    await this.answer(plan, format, (screen) => calledWhile(way.called, () => renderPlan(plan, screen, draw)), {
      names,
    })
    writePlanFile(plan, options, callerPath(file), file)
    this.say(`wrote ${file}: plan ${planId(plan)}, ${count(plan.operations.length, 'operation')}`)
    return status
  }

  /** Shows the plan as apply does, asks, and has exactly this plan carried out. */
  async #reviewAndApply(way: Way, typed: Typed, interrupts: Interrupts): Promise<number> {
    const { status, plan, options } = await this.#plan(way, typed)
    if (plan === undefined) return status
    const screen = await this.screenOf(process.stderr, String(typed.flags.output) as OutputFormat)
    const detail = { confirm: true, unfolded: typed.flags.verbose === true }
    messages.write(calledWhile(way.called, () => renderPlan(plan, screen, detail)))
    if (status === ExitStatus.Refused) return status
    const { ready = 0 } = plan.summary
    const { node } = way.base
    if (ready > 0) await confirm(`\nPerform ${readyText(ready)}, on ${node}? Type 'yes' to continue: `, interrupts.stop)
    const input = inputWords(planFileText(plan, options))
    return await this.#pass(way, ofPlanFile(typed), { abandon: interrupts.abandon, input })
  }

  async #applySaved(
    way: Way,
    typed: Typed,
    { saved, asks, interrupts }: { saved: SavedPlan; asks: boolean; interrupts: Interrupts },
  ): Promise<number> {
    const ready = saved.operations.filter(({ blocked }) => blocked === undefined).length
    const about = `plan ${planId(saved)} of ${saved.createdAt}`
    if (asks && ready > 0) {
      const question = `Perform ${readyText(ready)} in ${about}, on ${way.base.node}? Type 'yes' to continue: `
      await confirm(question, interrupts.stop)
    }
    const input = inputWords(savedPlanText(saved))
    return await this.#pass(way, ofPlanFile(typed), { abandon: interrupts.abandon, input })
  }

  /** `snapshot -o FILE`: the file is of this machine. */
  async #snapshotTo({ client, base, called }: Way, typed: Typed, name: string): Promise<number> {
    const destination = this.#destination(name)
    const answer = new Gathered(MAX_SNAPSHOT)
    const tokens = typed.tokens.filter((token) => token.type !== 'flag' || token.flag !== 'output')
    const args = ['__framed', `--called-as=${called}`, '--', ...nodeCommandLine('snapshot', tokens, typed.switches, [])]
    const status = await runThroughPod(client, { ...base, args, out: (bytes) => answer.take(bytes) })
    if (status !== ExitStatus.Ok) return status
    const { bytes } = answer
    if (destination.kind === 'file') {
      try {
        replaceFile(destination.path, name.endsWith('.gz') ? gzipSync(bytes) : bytes)
      } catch (error) {
        throw snapshotNotWritten(name, error)
      }
      this.say(`wrote ${name}: ${base.node}, ${count(bytes.length, 'byte')}`)
    }
    return status
  }

  #destination(name: string): Destination {
    try {
      const destination = destinationOf(name)
      if (destination.kind !== 'descriptor') return destination
      throw new Error('give a file, or - for standard output')
    } catch (error) {
      throw snapshotNotWritten(name, error)
    }
  }

  /** Monitors read standard output and the exit status of check: 1 would say that something is wrong with the node. */
  protected override async catch(thrown: unknown): Promise<void> {
    await super.catch(thrown)
    if (this.#command !== 'check') return
    const { code, message } = explainError(thrown, { command: this.id, commands: [] })
    this.output.write(`unknown: ${code}: ${message}\n`)
    await this.output.flush()
    process.exitCode = 2
  }
}

function valuedFlags(): ReadonlySet<string> {
  const all = Object.entries({ ...VolctlCommand.baseFlags, ...On.flags })
  return new Set(all.flatMap(([name, { type }]) => (type === 'option' ? `--${name}` : [])))
}

/** The same apply, of a plan file that comes on its standard input: the flags that made the plan are in the file. */
function ofPlanFile(typed: Typed): Typed {
  const tokens = typed.tokens.filter((token) => token.type === 'flag' && !Object.hasOwn(planFlags, token.flag))
  return { ...typed, tokens: [{ type: 'arg', arg: 'planfile', input: '-' }, ...tokens] }
}

function readyText(ready: number): string {
  return ready === 1 ? 'the operation that is ready' : `the ${ready} operations that are ready`
}

function usage(message: string, hint: string): VolctlError {
  return new VolctlError('Usage', message, { hint })
}
