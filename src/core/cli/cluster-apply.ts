/** `volctl apply --cluster`: look, show, ask, carry out, by the API alone. Loaded only for that. */
import { posix } from 'node:path'
import { count } from '../base/count.ts'
import { VolctlError } from '../base/errors.ts'
import { omitUndefined } from '../base/omit-undefined.ts'
import { applyCluster } from '../cluster/apply/apply-cluster.ts'
import { type Looked, lookedAt } from '../cluster/model/controller-state.ts'
import { planCluster } from '../cluster/pass/plan-cluster.ts'
import { readCluster } from '../cluster/read/read-cluster.ts'
import type { KubeClient } from '../kube/kube-client.ts'
import type { ClusterOptions, ClusterPlan, SavedClusterPlan } from '../plan/cluster-plan.ts'
import { type CommandContext, typed } from '../plan/commands.ts'
import { type Journal, openJournal, spokenJournal } from '../plan/documents/write-journal.ts'
import { type Naming, requireNamed } from '../plan/name-faults.ts'
import { withDigest } from '../plan/plan-id.ts'
import { readyText } from '../plan/plan-summary.ts'
import { type Environment, environment } from '../trust/environment.ts'
import { clusterClosing, numberedInCluster } from '../views/apply-lines.ts'
import { renderClusterPlan } from '../views/plan-view.ts'
import { carryOut, isDrawn, refusalOf } from './carry-out.ts'
import { confirm } from './confirm.ts'
import type { OutputFormat } from './flags.ts'
import { Interrupts } from './interrupts.ts'
import { apiClient } from './load-cluster.ts'
import type { NodeChoice } from './options.ts'
import { messages } from './output.ts'
import type { VolctlCommand } from './volctl-command.ts'

export interface ClusterApplyChoice {
  /** Those of the plan that was saved, if there is one. */
  readonly options: ClusterOptions
  readonly api: Pick<NodeChoice, 'kubeconfig' | 'context'>
  readonly timeoutMs: number
  readonly journalDir?: string | undefined
  readonly noJournal: boolean
  readonly naming: Naming
  /** --confirm */
  readonly digest?: string | undefined
  /** A plan that was reviewed and saved, and its file. */
  readonly saved?: { readonly plan: SavedClusterPlan; readonly file: string } | undefined
  /** Of the same apply. */
  readonly context: CommandContext
  readonly asks: boolean
  readonly format: OutputFormat
}

/** @throws VolctlError, also for what refused the apply after everything was printed */
export async function applyToCluster(choice: ClusterApplyChoice, command: VolctlCommand): Promise<void> {
  const { saved, api } = choice
  using interrupts = new Interrupts((line) => command.say(line))
  const client = apiClient(api, command.detail)
  try {
    const { fresh, looked } = await planned(client, choice, command, interrupts)
    if (saved === undefined) requireNamed(fresh.problems, choice.naming)
    // Exactly what was reviewed; what no longer holds is refused, operation by operation (S26).
    const plan = withDigest(saved === undefined ? fresh : { ...fresh, ...saved.plan })
    const digest = await reviewed(plan, choice, command, interrupts.stop)
    await carryOutPlan(client, plan, { ...choice, digest, looked }, command, interrupts.stop)
  } finally {
    client.close()
  }
}

/** Without the cluster that was read, which the apply reads again: there is no room for both. */
async function planned(
  client: KubeClient,
  { options }: ClusterApplyChoice,
  command: VolctlCommand,
  interrupts: Interrupts,
): Promise<{ readonly fresh: ClusterPlan; readonly looked: Looked }> {
  const state = await interrupts.orInterrupted(readCluster({ client, signal: interrupts.stop }))
  command.detail(
    `read ${count(state.nodes.length, 'node')}, ${count(state.podCount, 'pod')}, ${count(state.attachments.length, 'VolumeAttachment')}`,
  )
  return { fresh: planCluster(state, options), looked: lookedAt(state) }
}

/**
 * Shows the plan where a person is to read it, and asks.
 *
 * @returns the digest that allows finalizers to be taken off, as the person gave it
 */
async function reviewed(
  plan: ClusterPlan,
  { asks, format, digest, context }: ClusterApplyChoice,
  command: VolctlCommand,
  signal: AbortSignal,
): Promise<string | undefined> {
  const ready = plan.operations.filter(({ blocked }) => blocked === undefined)
  const asking = asks && ready.length > 0
  if (asking || isDrawn(format)) {
    // All that a person must have seen before saying yes (S31).
    const look = { unfolded: true, context, asks: true } as const
    messages.write(renderClusterPlan(plan, await command.screenOf(command.io.stderr, format), look))
    if (!asking) messages.write('\n')
  }
  const refusal = refusalOf(plan)
  if (refusal !== undefined) throw refusal
  if (!asking) return digest
  if (plan.digest !== undefined && digest === undefined) {
    await confirm(
      `\nFinalizers are taken off: nobody detaches these volumes then. Type the digest of the plan, ${plan.digest}, to continue: `,
      signal,
      {
        text: plan.digest,
        hint: `Type ${plan.digest}. Where apply cannot ask: ${again(context, '--confirm', plan.digest)}`,
      },
    )
    return plan.digest
  }
  await confirm(`\nPerform ${readyText(ready.length)}? Type 'yes' to continue: `, signal)
  return digest
}

async function carryOutPlan(
  client: KubeClient,
  plan: ClusterPlan,
  choice: ClusterApplyChoice & { readonly looked: Looked },
  command: VolctlCommand,
  signal: AbortSignal,
): Promise<void> {
  const { options, looked, timeoutMs, digest, format, context } = choice
  const settings = {
    ...{ options, looked, timeoutMs, signal },
    openJournal: () => journalOf(choice),
    command: again(context),
    ...omitUndefined({ confirmed: digest, planFile: choice.saved?.file }),
  }
  const nameOf = numberedInCluster(plan)
  await carryOut(command, format, plan, {
    nameOf,
    stepOf: (event) => `${nameOf(event)}: ${event.message}`,
    apply: (onEvent) => applyCluster(client, plan, settings, onEvent),
    draw: (result, screen) => clusterClosing(result, plan, screen, context),
  })
}

/** What carries the same plan out again. */
function again(context: CommandContext, ...more: readonly string[]): string {
  return typed({ argv: ['volctl', 'apply', ...more], why: '' }, context).command
}

function journalOf({ journalDir, noJournal }: ClusterApplyChoice): Journal {
  // Nothing is detached lazily, and no state file is removed: there is nothing to be said instead.
  if (noJournal) return spokenJournal('', () => undefined)
  return openJournal(journalDir ?? stateDirectory())
}

// Where the journal of an apply is that changes no node: with the person who runs it, as the XDG base directories have it.

/** @throws VolctlError JournalFailed without a home directory */
export function stateDirectory({ XDG_STATE_HOME: state, HOME: home }: Environment = environment()): string {
  // A relative path there is to be ignored.
  if (state?.startsWith('/')) return posix.join(state, 'volctl')
  if (home?.startsWith('/')) return posix.join(home, '.local/state/volctl')
  throw new VolctlError('JournalFailed', 'there is no place for the journal: neither XDG_STATE_HOME nor HOME is set')
}
