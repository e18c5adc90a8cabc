/** Zones and regions of an in-tree PersistentVolume, renamed to the CSI driver's topology keys (R154). */
import type { NodeSelectorTerm, PersistentVolume } from '../kube/api/objects.ts'
import type { SpecFailure } from './desired-state.ts'

/** The driver's keys: of a zone, as for EBS, GCE PD and Cinder, or of zone and region, as for vSphere. */
export interface TopologyKeys {
  readonly zone: string
  readonly region?: string
}

export const GA_LABELS: Required<TopologyKeys> = {
  zone: 'topology.kubernetes.io/zone',
  region: 'topology.kubernetes.io/region',
}
export const BETA_LABELS: Required<TopologyKeys> = {
  zone: 'failure-domain.beta.kubernetes.io/zone',
  region: 'failure-domain.beta.kubernetes.io/region',
}

type Terms = readonly NodeSelectorTerm[]

/** Zone and region get the driver's keys. Without one for regions, a zone's label is split, and a beta region gets its GA key. */
export function translateTopology(pv: PersistentVolume, keys: TopologyKeys): Terms | SpecFailure {
  const { labels = {} } = pv.metadata
  const given = pv.spec.nodeAffinity?.required?.nodeSelectorTerms ?? []
  const inAffinity = [GA_LABELS, BETA_LABELS].find(({ zone }) => valuesOf(given, zone) !== undefined)
  const isBeta = labels[GA_LABELS.zone] === undefined && labels[BETA_LABELS.zone] !== undefined
  const names = inAffinity ?? (isBeta ? BETA_LABELS : GA_LABELS)
  let terms = given
  for (const part of ['zone', 'region'] as const) {
    const [from, to] = [names[part], keys[part]]
    // Node affinity takes precedence over the label. Without both nothing changes.
    if (to === undefined || valuesOf(terms, from)?.length) {
      terms = renameKey(terms, from, to ?? GA_LABELS[part])
      continue
    }
    const label = labels[from]
    if (label === undefined) continue
    const all = keys.region === undefined ? splitZones(label) : [label]
    const values = [...new Set(all.map((value) => value.trim()))].filter((value) => value !== '').sort()
    if (values.length === 0) return { error: `its label ${from} names no ${part}` }
    const requirement = { key: to, operator: 'In', values }
    terms = (terms.length === 0 ? [{}] : terms).map((term) => ({
      ...term,
      matchExpressions: [...(term.matchExpressions ?? []), requirement],
    }))
  }
  return terms
}

/** A zone label may list several zones: `a__b`. */
export function splitZones(label: string): string[] {
  return label.split('__')
}

function renameKey(terms: Terms, from: string, to: string): Terms {
  return terms.map((term) =>
    term.matchExpressions === undefined
      ? term
      : { ...term, matchExpressions: term.matchExpressions.map((e) => (e.key === from ? { ...e, key: to } : e)) },
  )
}

/** Undefined: no requirement is about the key. */
function valuesOf(terms: Terms, key: string): readonly string[] | undefined {
  const own = terms.flatMap((term) => term.matchExpressions ?? []).filter((each) => each.key === key)
  return own.length === 0 ? undefined : own.flatMap(({ values }) => values ?? [])
}
