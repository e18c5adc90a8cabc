/** The ports of apply on a real node: the same sources that the plan was made from, asked again. */

import { isDone } from '../apply/find-again.ts'
import { openJournal } from '../apply/journal/write-journal.ts'
import type { ApplyContext } from '../apply/operation/step.ts'
import { memoize } from '../base/collections.ts'
import { parseMountinfo } from '../linux/parse-mountinfo.ts'
import { nodeCluster, nodeLease, podsByEach } from '../node/api/node-objects.ts'
import { withFreshVolumes } from '../node/api/read-volumes.ts'
import type { CollectedNode } from '../node/collect-node.ts'
import { renewedSince } from '../node/kubelet/signs-of-life.ts'
import { DEFAULT_JOURNAL_DIR } from '../node/read-lazily-detached.ts'
import type { PlanOptions } from '../plan/plan.ts'
import { planNode } from '../reconcile/plan-node.ts'
import { csiNodeClient } from '../rpc/csi-node-client.ts'
import { endpointPath } from '../rpc/endpoints.ts'
import type { Questions, Witness } from '../rules/machine-facts.ts'
import { judgeWitnesses, knownPods } from '../rules/pods/witnesses.ts'
import { containerNames } from '../users/find-holders.ts'
import { csiDriverIn } from '../volumes/api-lookup.ts'
import { ActualInputs } from '../volumes/on-disk/actual-inputs.ts'
import { namedUids } from '../volumes/pods.ts'
import { controllerWantedVolumes, desiredStateOfPods } from '../volumes/populate.ts'
import type { NodeSnapshot } from '../volumes/snapshot.ts'

type Given = 'freshPlan' | 'planFile' | 'parallel' | 'timeoutMs' | 'signal' | 'abandon' | 'kubeletStop'

interface ApplySettings extends Pick<ApplyContext, Given> {
  readonly options: PlanOptions
  /** A new whole look. */
  readonly lookAgain: () => Promise<CollectedNode>
  readonly journalDir?: string
}

export function applyContext(first: CollectedNode, settings: ApplySettings): ApplyContext {
  // Later plans look there for what was detached lazily.
  const { lockFile, journalDir: lazyDirectory = DEFAULT_JOURNAL_DIR } = first.node.places ?? {}
  const { options, lookAgain, journalDir = lazyDirectory, ...given } = settings
  let latest = first
  return {
    look: async () => {
      latest = await lookAgain()
      return planNode(latest, options, 'again')
    },
    openJournal: () => openJournal(journalDir, { lazyDirectory }),
    isDone: (operation) => isDone(operation, latest),
    ...questionsOf(() => latest),
    kubeletState: () => latest.node.kubeletState(),
    // By the credentials of the look: what neither could read then is not new now.
    renewedLease: async () => renewedSince(latest.snapshot.api?.lease, await nodeLease(askingOf(latest))),
    witness: () => askWitnesses(latest),
    csi: (driver) => {
      const { snapshot, node } = latest
      const socket = snapshot.csiSockets?.find((each) => each.driver === driver && each.registered)
      const path = socket && endpointPath(node.rootDir, socket)
      return path === undefined ? undefined : csiNodeClient(driver, path)
    },
    csiDriver: (name) => csiDriverIn(latest.snapshot.api, name),
    guards: guardsLifted(options),
    lockFile,
    detachWaitMs: given.kubeletStop && given.timeoutMs,
    ...given,
  }
}

/** What the rules ask, of the last look and of the API. */
export function questionsOf(latest: () => CollectedNode) {
  return {
    readMounts: () => latest().readMounts(),
    cluster: nodeCluster(askingOf(latest())),
    // What the pods want, by claims and volumes of this moment; undefined: the API was not read.
    wantedOf: async (pods) => {
      const { snapshot, node, client } = latest()
      if (snapshot.api === undefined) return undefined
      const api = await withFreshVolumes(client, snapshot.api, pods, node.nodeName)
      return controllerWantedVolumes(pods, api, node.nodeName)
    },
    // A pod's volumes never change, what they resolve to may: the pod is the fresh one, the rest as last looked at.
    wanted: (pod, uniqueName) => {
      const { api } = latest().snapshot
      return api && desiredStateOfPods([pod], api).volumes.find((volume) => volume.uniqueName === uniqueName)
    },
    nameOf: (of) => containerNames(latest().snapshot)(of),
  } satisfies Questions
}

/** What the person lifted, for the journal (S31). */
function guardsLifted(options: PlanOptions): unknown {
  const { orphans, driverGone, handles, devices, forceUnmount, lazy } = options
  const { acceptOutage, acceptIdentity, acceptInsecureApi } = options
  return {
    ...{ orphans, driverGone, handles, devices, forceUnmount, lazy },
    acceptOutage,
    acceptIdentity,
    acceptInsecureApi,
  }
}

/**
 * Who is listed and who lives, just now. Listed is whoever any of the two credentials is shown (S2); a pod of which no
 * witness proves that it does not run may run (S9).
 */
async function askWitnesses(latest: CollectedNode): Promise<Witness> {
  const { node, snapshot } = latest
  const [lists, runtime] = await Promise.all([podsByEach(askingOf(latest)), node.runtime()])
  const processes = node.processes()
  // S9: below a container, or a user's own service manager.
  const nested = processes?.nestedUids ?? []
  const listed = new Set([...lists.mine, ...lists.its].flatMap(namedUids))
  const isKnown = (uid: string): boolean => listed.has(uid) || knownPods(lastInputs(latest)).has(uid)
  const { apiVersion, kind, capturedAt, nodeName, rootDir, api, kubelet } = snapshot
  const now: NodeSnapshot = {
    ...{ apiVersion, kind, capturedAt, nodeName, rootDir, runtime },
    api,
    kubelet,
    processes: processes && [...processes.podUids, ...nested.filter(isKnown)],
  }
  const inputs = new ActualInputs({ snapshot: now, mounts: parseMountinfo('') })
  const witnesses = judgeWitnesses(inputs, () => lastInputs(latest))
  // What is undone is always of a pod that this node knows: none of its processes is another kubelet's (S9).
  const byRuntime = runtime.pods.map(({ uid }) => uid).filter((uid) => witnesses.isAlive(uid))
  return {
    listed,
    alive: new Set([...(processes?.podUids ?? []), ...nested, ...byRuntime]),
    blindFor: witnesses.blindFor,
    apiPods: lists.mine,
  }
}

function askingOf({ client, kubeletClient, node: { nodeName } }: CollectedNode) {
  return { client, kubeletClient, nodeName }
}

const lastInputs = memoize((look: CollectedNode) => new ActualInputs(look))
