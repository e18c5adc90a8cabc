/** `volctl apply --cluster`: look, show, ask, carry out, by the API alone. Loaded only for that. */

import { posix } from 'node:path'
import { applyCluster } from '../apply/cluster/apply-cluster.ts'
import { openJournal } from '../apply/journal/write-journal.ts'
import { count, present } from '../base/text.ts'
import { lookedAt } from '../cluster/model/controller-state.ts'
import { planCluster } from '../cluster/pass/plan-cluster.ts'
import { readCluster } from '../cluster/read/read-cluster.ts'
import type { KubeClient } from '../kube/kube-client.ts'
import { said, VolctlError } from '../messages/findings.ts'
import type { ClusterOptions } from '../plan/cluster-plan.ts'
import { readTypedPlan } from '../plan/documents/plan-file.ts'
import { requireNamed } from '../plan/names.ts'
import { DEFAULT_SETTLE_MS } from '../plan/plan.ts'
import { readyText } from '../plan/plan-summary.ts'
import { type Environment, environment } from '../trust/run.ts'
import { numberedInCluster } from '../views/apply-lines.ts'
import { renderPlan } from '../views/plan-view.ts'
import { type ApplyAsked, carryOut, review } from './carry-out.ts'
import { givenBy } from './command-context.ts'
import { Interrupts } from './interrupts.ts'
import { apiClient } from './load-cluster.ts'
import { clusterOptions } from './options.ts'
import type { VolctlCommand } from './volctl-command.ts'

/** @throws VolctlError, also for what refused the apply after everything was printed */
export async function applyToCluster(command: VolctlCommand, asked: ApplyAsked): Promise<void> {
  const { flags, planfile, timeoutMs } = asked
  const saved = planfile === undefined ? undefined : await readTypedPlan('cluster', planfile, command.config.version)
  const options = saved?.options ?? clusterOptions(flags, asked.options)
  const given = givenBy(flags, DEFAULT_SETTLE_MS, present(planfile))
  using interrupts = new Interrupts()
  const signal = interrupts.stop
  const client = apiClient(flags, command.detail)
  try {
    const { fresh, looked } = await planned(client, options, command, interrupts)
    if (saved === undefined) requireNamed(fresh.problems, flags)
    // Exactly what was reviewed; what no longer holds is refused, operation by operation (S26).
    const plan = { ...fresh, ...saved }
    const ready = plan.operations.filter(({ blocked }) => blocked === undefined)
    await review(command, asked, {
      plan,
      draw: (screen, asking) =>
        // All that a person must have seen before saying yes (S31).
        renderPlan(plan, screen, { unfolded: true, context: given, confirm: true }) + (asking ? '' : '\n'),
      question: `Perform ${readyText(ready.length)}? Type 'yes' to continue: `,
      signal,
    })
    const settings = {
      ...{ options, looked, timeoutMs, signal },
      openJournal: () => openJournal(asked.journalDir ?? stateDirectory()),
      planFile: planfile,
    }
    const nameOf = numberedInCluster(plan)
    await carryOut(command, flags.output, plan, {
      nameOf,
      stepOf: (event) => `${nameOf(event)}: ${event.message}`,
      apply: (onEvent) => applyCluster(client, plan, settings, onEvent),
      given,
    })
  } finally {
    client.close()
  }
}

/** Without the cluster that was read, which the apply reads again: there is no room for both. */
async function planned(client: KubeClient, options: ClusterOptions, command: VolctlCommand, interrupts: Interrupts) {
  const state = await interrupts.orInterrupted(readCluster({ client, signal: interrupts.stop }))
  command.detail(
    `read ${count(state.nodes.length, 'node')}, ${count(state.podCount, 'pod')}, ${count(state.attachments.length, 'VolumeAttachment')}`,
  )
  return { fresh: planCluster(state, options), looked: lookedAt(state) }
}

// Where the journal of an apply is that changes no node: with the person who runs it, as the XDG base directories have it.

/** @throws VolctlError JournalFailed without a home directory */
export function stateDirectory({ XDG_STATE_HOME: state, HOME: home }: Environment = environment()): string {
  // A relative path there is to be ignored.
  if (state?.startsWith('/')) return posix.join(state, 'volctl')
  if (home?.startsWith('/')) return posix.join(home, '.local/state/volctl')
  throw new VolctlError(said('JournalFailed.noPlace'))
}
