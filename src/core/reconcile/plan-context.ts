/** From a node's state to the context that the phases of a pass read: classes, desired state, staged volumes, their users. */

import { memoize } from '../base/collections.ts'
import { compareText } from '../base/text.ts'
import { blockVolumes } from '../facts/block-volumes.ts'
import { ledgerOf } from '../facts/ledger.ts'
import { type DiskRecord, identityOnRecord, type LedgerSources, type OnDisk, uniqueNameOf } from '../facts/row.ts'
import { Findings } from '../plan/draft.ts'
import type { PlanInputs, PlanOptions } from '../plan/plan.ts'
import type { PlanContext } from '../rules/context.ts'
import { classifyPods, isLiving } from '../rules/pods/pod-classes.ts'
import { judgeStaticSources } from '../rules/pods/static-sources.ts'
import { volumeUses } from '../rules/pods/volume-uses.ts'
import { judgeWitnesses } from '../rules/pods/witnesses.ts'
import { apiObjects } from '../volumes/api-objects.ts'
import type { DesiredState } from '../volumes/desired-state.ts'
import { ActualInputs } from '../volumes/on-disk/actual-inputs.ts'
import { stagedVolumes } from '../volumes/on-disk/staged-volumes.ts'
import { nameOf, parentOf } from '../volumes/on-disk/tree.ts'
import { desiredStateOfPods } from '../volumes/populate.ts'
import type { NodeState } from '../volumes/snapshot.ts'
import { namedPods, namedVolumes } from './filter-operations.ts'
import { identifyAttachment, identifyBlock, identifyPodVolume, identifyStaged } from './identity/csi-identity.ts'

/** Derives everything that a pass decides on from a node's state. */
export function makeContext(state: NodeState, options: PlanOptions): PlanContext {
  const inputs = new ActualInputs(state)
  const { snapshot } = inputs
  const witnesses = judgeWitnesses(inputs)
  const statics = judgeStaticSources(inputs)
  const blocks = blockVolumes(inputs)
  const classes = classifyPods(
    inputs,
    witnesses,
    statics,
    blocks.flatMap((block) => block.mappings.map((mapping) => mapping.podUid)),
  )
  const wanting = classes.all.flatMap((pod) => (pod.pod !== undefined && isLiving(pod) ? [pod.pod] : []))
  const now = Date.parse(snapshot.capturedAt)
  const boot = Date.parse(snapshot.bootTime ?? '')
  const sources: Omit<LedgerSources, 'podUids' | 'endedPods'> = {
    inputs,
    // Asked once a thing is to be identified: by then the context is whole.
    identify: {
      podVolume: memoize((volume) => identifyPodVolume(context, volume)),
      staged: (each) => identifyStaged(context, each),
      block: (block) => identifyBlock(context, block),
      attachment: memoize((attachment) => identifyAttachment(context, attachment)),
    },
    objects: apiObjects(snapshot),
    desired: snapshot.api === undefined ? NOTHING : desiredStateOfPods(wanting, snapshot.api),
    staged: stagedVolumes(inputs),
    blocks,
    onDisk: stateFilesOnDisk(inputs),
  }
  const ledger = ledgerOf({
    ...sources,
    podUids: classes.all.map(({ uid }) => uid),
    endedPods: classes.all.flatMap((pod) => (pod.class === 'Finished' ? (pod.pod ?? []) : [])),
  })
  const { pods, volumes } = options
  const context: PlanContext = {
    ...sources,
    options: { ...options, pods: pods && namedPods(options, classes).pods },
    classes,
    witnesses,
    statics,
    ledger,
    uses: volumeUses(ledger, classes),
    findings: new Findings(),
    kubelet: kubeletState(snapshot.kubelet),
    now,
    cautiousNow: now + Math.min(0, snapshot.api?.clockSkewMs ?? 0),
    bootTime: Number.isNaN(boot) ? undefined : boot,
  }
  if (volumes === undefined) return context
  return { ...context, options: { ...context.options, volumes: namedVolumes(inputs, ledger, volumes) } }
}

const NOTHING: DesiredState = { volumes: [], unresolved: [] }

function stateFilesOnDisk({ tree, snapshot }: ActualInputs): OnDisk {
  const all = (snapshot.tree ?? []).flatMap((entry): DiskRecord[] => {
    if (nameOf(entry) !== 'vol_data.json' || !entry.path.includes('/')) return []
    const volume = identityOnRecord(tree.stateFile(entry.path))
    return volume === undefined ? [] : [{ path: parentOf(entry.path), volume: { ...volume, from: entry.path } }]
  })
  all.sort((a, b) => compareText(a.path, b.path))
  const byName = Map.groupBy(all, ({ volume }) => uniqueNameOf(volume))
  return { all, of: (uniqueName) => byName.get(uniqueName) ?? [] }
}

function kubeletState(kubelet: NodeState['snapshot']['kubelet']): PlanInputs['kubelet'] {
  if (kubelet === undefined) return { state: 'unknown' }
  const { running, mayReturn, note, unit, unstoppable } = kubelet
  const state = running ? 'running' : mayReturn ? 'mayReturn' : 'stopped'
  return { state, note, unit, unstoppable: running ? unstoppable : undefined }
}
