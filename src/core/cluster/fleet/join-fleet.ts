/** One ledger of volumes and nodes: what pods want, what the API has attached and reported, and what is really on the nodes. */

import { append } from '../../lang/append.ts'
import { defined } from '../../lang/defined.ts'
import { onceFor } from '../../lang/once-for.ts'
import { attachmentName, CSI_PLUGIN } from '../../names/volume-names.ts'
import type { ClusterVolumeRef, FleetRow } from '../../plan/cluster-plan.ts'
import { attachedRef } from '../context/attached-ref.ts'
import type { ClusterContext } from '../context/cluster-context.ts'
import { podRef } from '../context/findings.ts'
import { volumeRef } from '../model/known-volume.ts'
import { timeOf } from '../model/times.ts'
import type { LedgerVolume, NodeLedger } from './node-ledger.ts'
import type { FleetDefect, FleetLedger } from './read-fleet.ts'
import { type Witness, witnessOf } from './witness.ts'

/** What a node's snapshot says of one volume. */
export interface Testimony {
  readonly says: FleetRow['says']
  /** Of the volume, or of one that may be it. */
  readonly volumes: readonly LedgerVolume[]
  readonly witness: Witness | undefined
}

const UNKNOWN: Testimony = { says: 'unknown', volumes: [], witness: undefined }

export class JoinedFleet {
  /** Snapshots of no node of this cluster. */
  readonly refused: readonly (FleetDefect & { readonly node: string })[]
  readonly #context: ClusterContext
  readonly #witnesses = new Map<string, Witness>()
  readonly #byVolume = new Map<string, string[]>()

  constructor(context: ClusterContext, { ledgers }: Pick<FleetLedger, 'ledgers'>) {
    this.#context = context
    const refused: (FleetDefect & { node: string })[] = []
    for (const ledger of ledgers) {
      const witness = witnessOf(context, ledger)
      if ('refused' in witness) refused.push({ source: ledger.source, node: ledger.node, why: witness.refused })
      else this.#add(witness)
    }
    this.refused = refused
    for (const { ledger } of this.#witnesses.values())
      for (const { uniqueName, found } of ledger.volumes)
        if (uniqueName !== undefined && found.length > 0) append(this.#byVolume, uniqueName, ledger.node)
  }

  /** Of two that may both be of the node the newest counts. */
  #add(witness: Witness): void {
    const before = this.#witnesses.get(witness.ledger.node)
    const isNewer = (timeOf(witness.ledger.capturedAt) ?? 0) > (timeOf(before?.ledger.capturedAt) ?? -1)
    if (before === undefined || isNewer) this.#witnesses.set(witness.ledger.node, witness)
  }

  get witnesses(): readonly Witness[] {
    return [...this.#witnesses.values()]
  }

  witness(node: string): Witness | undefined {
    return this.#witnesses.get(node)
  }

  /** Nodes whose snapshot shows something of the volume. */
  nodesShowing(uniqueName: string): readonly string[] {
    return [...new Set(this.#byVolume.get(uniqueName))]
  }

  /**
   * @param attachment identifies the volume where its own name is not known
   * @param since the volume was attached then: an older snapshot does not show it to be free
   */
  ask(
    node: string,
    volume: ClusterVolumeRef,
    attachment?: { readonly name?: string; readonly since?: string },
  ): Testimony {
    const witness = this.witness(node)
    if (witness === undefined) return UNKNOWN
    const { volumes } = witness.ledger
    const named = volumes.filter((each) =>
      isOf(each, volume, attachmentsOf(witness.ledger).get(each), attachment?.name),
    )
    const found = named.filter((each) => each.found.length > 0)
    if (found.length > 0 && !witness.isOutlived) {
      const isCertain = found.some((each) => each.found.some(({ certain }) => certain))
      return { says: isCertain ? 'there' : 'mayBeThere', volumes: found, witness }
    }
    const maybe = volumes.filter(
      (each) => each.uniqueName === undefined && each.found.length > 0 && mayBe(each, volume),
    )
    if (maybe.length > 0 && !witness.isOutlived) return { says: 'mayBeThere', volumes: maybe, witness }
    const isKnown = volume.uniqueName !== undefined
    const isYounger = attachment !== undefined && !isBefore(attachment.since, witness.ledger.capturedAt)
    const isFree = witness.provesNothing === undefined && isKnown && !isYounger && named.length === 0
    return { says: isFree ? 'free' : 'unknown', volumes: [], witness }
  }

  /** Everything that anybody says of a volume on a node. */
  row(node: string, uniqueName: string): FleetRow {
    const { actual, desired, known } = this.#context
    const [attached] = actual.on(node, uniqueName)
    const volume =
      attached === undefined ? refOf(this.#context, this.witness(node), uniqueName) : attachedRef(attached, actual)
    const object = attached?.object
    const asked = this.ask(node, volume, object && { name: object.name, ...defined({ since: object.createdAt }) })
    const want = desired.on(node, uniqueName)
    return {
      ...{ node, volume: known.has(uniqueName) || attached !== undefined ? volume : { ...volume, uniqueName } },
      wanted: (want?.pods ?? []).map(podRef),
      ...defined({ attachment: object?.name }),
      attached: object?.attached === true,
      confirmed: actual.isConfirmed(node, uniqueName),
      inUse: actual.isInUse(node, uniqueName),
      ...(asked.witness !== undefined && { found: asked.volumes.flatMap(({ found }) => found) }),
      says: asked.says,
    }
  }

  /** Names of all volumes that anybody knows on a node. */
  namesOn(node: string): ReadonlySet<string> {
    const { actual, desired } = this.#context
    const shown = this.witness(node)?.ledger.volumes ?? []
    return new Set([
      ...actual.onNode(node).flatMap(({ uniqueName }) => uniqueName ?? []),
      ...actual.inUseOn(node),
      ...actual.confirmedOn(node),
      ...desired.onNode(node).flatMap(({ pods, volume }) => (pods.length > 0 ? volume.uniqueName : [])),
      ...shown.flatMap(({ uniqueName, found }) => (found.length > 0 ? (uniqueName ?? []) : [])),
    ])
  }
}

function isBefore(since: string | undefined, captured: string): boolean {
  const [from, to] = [timeOf(since), timeOf(captured)]
  return from !== undefined && to !== undefined && from < to
}

/** R007: how the attachment of each volume would be called. A node has hundreds, and each is compared with each. */
const attachmentsOf = onceFor(({ node, volumes }: NodeLedger): ReadonlyMap<LedgerVolume, string> => {
  const named = volumes.flatMap((each) => {
    const { driver, handle } = each
    return driver === undefined || handle === undefined ? [] : [[each, attachmentName(handle, driver, node)] as const]
  })
  return new Map(named)
})

/** @param own the name of its attachment */
function isOf(
  { uniqueName }: LedgerVolume,
  volume: ClusterVolumeRef,
  own: string | undefined,
  attachment: string | undefined,
): boolean {
  if (uniqueName !== undefined && uniqueName === volume.uniqueName) return true
  return own !== undefined && own === attachment
}

/** Of the same driver, or of one that nothing names. */
function mayBe({ driver }: LedgerVolume, volume: ClusterVolumeRef): boolean {
  return driver === undefined || volume.driver === undefined || driver === volume.driver
}

function refOf({ known }: ClusterContext, witness: Witness | undefined, uniqueName: string): ClusterVolumeRef {
  const volume = known.get(uniqueName)
  if (volume !== undefined) return volumeRef(volume)
  const shown = witness?.ledger.volumes.find((each) => each.uniqueName === uniqueName)
  const { driver, handle } = { ...shown }
  return { name: handle ?? uniqueName, uniqueName, plugin: CSI_PLUGIN, ...defined({ driver, handle }) }
}
