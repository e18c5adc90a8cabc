import { gzipSync } from 'node:zlib'
import { Args, Flags } from '@oclif/core'
import { apiClient } from '../core/cli/api-client.ts'
import { isColourful } from '../core/cli/colour.ts'
import { type CommandThere, commandThere, givenPlan, ofPlanFile } from '../core/cli/command-there.ts'
import { confirm } from '../core/cli/confirm.ts'
import { hasAccount, planThere, snapshotThere, type WayThere } from '../core/cli/errand-there.ts'
import { FromNode } from '../core/cli/from-node.ts'
import { Interrupts } from '../core/cli/interrupts.ts'
import { messages } from '../core/cli/messages.ts'
import { apiFlags, nodeChoice } from '../core/cli/node-flags.ts'
import { StopSignal } from '../core/cli/stop-signal.ts'
import { explainError } from '../core/cli/usage-error.ts'
import { type OutputFormat, VolctlCommand } from '../core/cli/volctl-command.ts'
import { mustAsk, terminals } from '../core/cli/whom-to-ask.ts'
import { destinationOf } from '../core/cli/write-out.ts'
import { Interrupted, VolctlError } from '../core/errors/errors.ts'
import { ExitStatus } from '../core/errors/exit-status.ts'
import { ownDescriptor } from '../core/files/own-descriptor.ts'
import { replaceFile } from '../core/files/replace-file.ts'
import { count } from '../core/lang/count.ts'
import { defined } from '../core/lang/defined.ts'
import { parseDuration } from '../core/lang/duration.ts'
import { planId } from '../core/plan/plan-id.ts'
import type { SavedPlan } from '../core/plan/plan-shape.ts'
import { readyText } from '../core/plan/plan-summary.ts'
import { planFileText, savedPlanText, writePlanFile } from '../core/plan-file/write-plan-file.ts'
import { snapshotNotWritten } from '../core/snapshot/write-snapshot.ts'
import { lastStart } from '../core/through-pod/framed-command.ts'
import { inputWords } from '../core/through-pod/handed-input.ts'
import { calledOn, NODE_COMMANDS, nodeCommandLine, splitAtCommand } from '../core/through-pod/node-command.ts'
import { requireWay, runThroughPod } from '../core/through-pod/run-through-pod.ts'
import { calledWhile, programName } from '../core/trust/called-as.ts'
import { callerPath } from '../core/trust/caller.ts'
import { environment } from '../core/trust/environment.ts'
import { namesOfPlan } from '../core/views/names.ts'
import { renderPlan } from '../core/views/plan-view.ts'
import { isUtf8Locale } from '../core/views/symbols.ts'

const DEFAULT_NAMESPACE = 'kube-system'
const DEFAULT_START = '2m'
const DEFAULT_LIMIT = '30m'
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
      summary:
        "Service account of the Pod's namespace, whose token volctl uses in place of the node's own credential. Default: the node's own.",
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
    if (node === undefined) {
      const hint = `As in: ${programName()} on node7 plan. The nodes: kubectl get nodes`
      throw new VolctlError('Usage', 'NODE is missing', { hint })
    }
    const there = await commandThere(this.config, command, words)
    const saved = await givenPlan(there, node, this.config.version)
    const isApply = there.command === 'apply'
    const asks = isApply && mustAsk({ yes: there.flags.yes === true, reviewed: saved !== undefined }, terminals())
    const startMs = parseDuration(flags['start-timeout'] ?? DEFAULT_START, '--start-timeout')
    const limitMs = parseDuration(flags['time-limit'] ?? DEFAULT_LIMIT, '--time-limit')
    const client = apiClient(nodeChoice(flags), this.detail)
    using interrupts = isApply ? new Interrupts((line) => this.say(line)) : undefined
    using signals = new StopSignal(isApply ? [] : ['SIGINT', 'SIGTERM', 'SIGHUP'])
    const stop = interrupts?.stop ?? signals.signal
    const errors = new FromNode((text) => void messages.write(text), process.stderr.isTTY === true)
    const base: WayThere['base'] = {
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
      log: this.detail,
      stop,
    }
    const way: WayThere = { client, base, called: calledOn(programName(), split.own, node) }
    try {
      await requireWay(client, { ...base, args: [], out: () => undefined })
      const status = await this.#carryOut(way, there, { asks, saved, interrupts })
      errors.end()
      process.exitCode = status
    } catch (error) {
      errors.end()
      if (stop.aborted && !(error instanceof VolctlError)) throw new Interrupted('interrupted')
      throw error
    } finally {
      client.close()
    }
  }

  async #carryOut(
    way: WayThere,
    there: CommandThere,
    { asks, saved, interrupts }: { asks: boolean; saved: SavedPlan | undefined; interrupts: Interrupts | undefined },
  ): Promise<number> {
    const { command, flags } = there
    if (command === 'apply' && interrupts !== undefined) {
      if (saved !== undefined) return await this.#applySaved(way, there, { saved, asks, interrupts })
      if (asks) return await this.#reviewAndApply(way, there, interrupts)
      // No terminal, or --yes: nobody is asked there either.
      return await this.#pass(way, there, { abandon: interrupts.abandon })
    }
    if (command === 'plan' && typeof flags.out === 'string') return await this.#planTo(way, there, flags.out)
    if (command === 'snapshot' && typeof flags.output === 'string' && ownDescriptor(flags.output, 1) !== 1)
      return await this.#snapshotTo(way, there, flags.output)
    return await this.#pass(way, there, {})
  }

  /** The answer of the node as it is. */
  async #pass(
    way: WayThere,
    there: CommandThere,
    { abandon, input = [] }: { abandon?: AbortSignal; input?: readonly string[] },
  ): Promise<number> {
    const { client, base, called } = way
    const terminal = process.stdout.isTTY === true
    const answer = new FromNode((text) => this.output.write(text), terminal)
    const width = terminal && process.stdout.columns > 0 ? [`--width=${process.stdout.columns}`] : []
    const until = there.command === 'apply' ? [`--until=${lastStart(base.startMs)}`] : []
    const words = [`--called-as=${called}`, ...width, ...until, ...input]
    const status = await runThroughPod(client, {
      ...base,
      args: ['__framed', ...words, '--', ...this.#commandLine(there, hasAccount(way))],
      out: (bytes) => answer.take(bytes),
      ...defined({ abandon }),
    })
    answer.end()
    await this.output.flush()
    return status
  }

  #commandLine({ command, tokens, switches }: CommandThere, ownAccount: boolean): readonly string[] {
    const chosen = tokens.some((token) => token.type === 'flag' && /^(no-)?color$/.test(token.flag))
    const colour = !chosen && isColourful(this.argv, environment(), process.stdout.isTTY === true)
    return nodeCommandLine(command, tokens, switches, colour ? ['--color=always'] : [], ownAccount)
  }

  /** `plan --out FILE`: the file is of this machine. */
  async #planTo(way: WayThere, there: CommandThere, file: string): Promise<number> {
    const { status, plan, options } = await planThere(way, there, this.config.version)
    if (plan === undefined) return status
    const format = String(there.flags.output) as OutputFormat
    const draw = { unfolded: there.flags.verbose === true }
    const names = format === 'name' ? namesOfPlan(plan) : []
    await this.answer(plan, format, (screen) => calledWhile(way.called, () => renderPlan(plan, screen, draw)), names)
    writePlanFile(plan, options, callerPath(file), file)
    this.say(`wrote ${file}: plan ${planId(plan)}, ${count(plan.operations.length, 'operation')}`)
    return status
  }

  /** Shows the plan as apply does, asks, and has exactly this plan carried out. */
  async #reviewAndApply(way: WayThere, there: CommandThere, interrupts: Interrupts): Promise<number> {
    const { status, plan, options } = await planThere(way, there, this.config.version)
    if (plan === undefined) return status
    const screen = await this.screenOf(process.stderr, String(there.flags.output) as OutputFormat)
    const detail = { confirm: true, unfolded: there.flags.verbose === true }
    messages.write(calledWhile(way.called, () => renderPlan(plan, screen, detail)))
    if (status === ExitStatus.Refused) return status
    const { ready = 0 } = plan.summary
    const { node } = way.base
    if (ready > 0) await confirm(`\nPerform ${readyText(ready)}, on ${node}? Type 'yes' to continue: `, interrupts.stop)
    const input = inputWords(planFileText(plan, options))
    return await this.#pass(way, ofPlanFile(there), { abandon: interrupts.abandon, input })
  }

  async #applySaved(
    way: WayThere,
    there: CommandThere,
    { saved, asks, interrupts }: { saved: SavedPlan; asks: boolean; interrupts: Interrupts },
  ): Promise<number> {
    const ready = saved.operations.filter(({ blocked }) => blocked === undefined).length
    const about = `plan ${planId(saved)} of ${saved.createdAt}`
    if (asks && ready > 0) {
      const question = `Perform ${readyText(ready)} in ${about}, on ${way.base.node}? Type 'yes' to continue: `
      await confirm(question, interrupts.stop)
    }
    const input = inputWords(savedPlanText(saved))
    return await this.#pass(way, ofPlanFile(there), { abandon: interrupts.abandon, input })
  }

  /** `snapshot -o FILE`: the file is of this machine. */
  async #snapshotTo(way: WayThere, there: CommandThere, name: string): Promise<number> {
    const destination = destinationOf(name)
    if (destination.kind === 'descriptor')
      throw snapshotNotWritten(name, new Error('give a file, or - for standard output'))
    const { status, bytes } = await snapshotThere(way, there)
    if (bytes === undefined) return status
    if (destination.kind === 'file') {
      try {
        replaceFile(destination.path, name.endsWith('.gz') ? gzipSync(bytes) : bytes)
      } catch (error) {
        throw snapshotNotWritten(name, error)
      }
      this.say(`wrote ${name}: ${way.base.node}, ${count(bytes.length, 'byte')}`)
    }
    return status
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
