/** Zones and regions of an in-tree PersistentVolume, renamed to the CSI driver's topology keys (R154). */
import type { NodeSelectorTerm, PersistentVolume } from '../kube/api/objects.ts'

/** A volume that the kubelet cannot translate, and so cannot mount. The message completes "cannot be translated to CSI: …". */
export interface Untranslatable {
  readonly error: string
}

interface LabelPair {
  readonly zone: string
  readonly region: string
}

export const GA_LABELS: LabelPair = { zone: 'topology.kubernetes.io/zone', region: 'topology.kubernetes.io/region' }
export const BETA_LABELS: LabelPair = {
  zone: 'failure-domain.beta.kubernetes.io/zone',
  region: 'failure-domain.beta.kubernetes.io/region',
}

type Terms = readonly NodeSelectorTerm[]
type Translated = { readonly nodeSelectorTerms: Terms } | Untranslatable

/** The driver's keys: of a zone, as for EBS, GCE PD and Cinder, or of zone and region, as for vSphere. */
export interface TopologyKeys {
  readonly zone: string
  readonly region?: string
}

/** Zone and region get the driver's keys. Without one for regions, a zone's label is split, and a beta region gets its GA key. */
export function translateTopology(pv: PersistentVolume, keys: TopologyKeys): Translated {
  const labels = labelsInUse(pv)
  const values = keys.region === undefined ? splitZones : (label: string) => [label]
  let terms: Terms | undefined = termsOf(pv)
  for (const part of ['zone', 'region'] as const) {
    const [from, to] = [labels[part], keys[part]]
    terms = to === undefined ? renameKey(terms, from, GA_LABELS[part]) : moveTopology(pv, terms, from, to, values)
    if (terms === undefined) return { error: `its label ${from} names no ${part}` }
  }
  return { nodeSelectorTerms: terms }
}

/** A zone label may list several zones: `a__b`. */
export function splitZones(label: string): string[] {
  return label.split('__')
}

function labelsInUse(pv: PersistentVolume): LabelPair {
  const terms = termsOf(pv)
  const inAffinity = [GA_LABELS, BETA_LABELS].find(({ zone }) => hasKey(terms, zone))
  if (inAffinity !== undefined) return inAffinity
  const isLabelled = (labels: LabelPair) => pv.metadata.labels?.[labels.zone] !== undefined
  return !isLabelled(GA_LABELS) && isLabelled(BETA_LABELS) ? BETA_LABELS : GA_LABELS
}

/** Node affinity takes precedence over the label. Without both nothing changes. Undefined if the label is empty. */
function moveTopology(
  pv: PersistentVolume,
  terms: Terms,
  from: string,
  to: string,
  values: (label: string) => string[],
): Terms | undefined {
  if (hasValues(terms, from)) return renameKey(terms, from, to)
  const label = pv.metadata.labels?.[from]
  if (label === undefined) return terms
  const wanted = [...new Set(values(label).map((value) => value.trim()))].filter((value) => value !== '').sort()
  if (wanted.length === 0) return undefined
  const requirement = { key: to, operator: 'In', values: wanted }
  return (terms.length === 0 ? [{}] : terms).map((term) => ({
    ...term,
    matchExpressions: [...(term.matchExpressions ?? []), requirement],
  }))
}

function renameKey(terms: Terms, from: string, to: string): Terms {
  return terms.map((term) =>
    term.matchExpressions === undefined
      ? term
      : { ...term, matchExpressions: term.matchExpressions.map((e) => (e.key === from ? { ...e, key: to } : e)) },
  )
}

function hasKey(terms: Terms, key: string): boolean {
  return terms.some((term) => term.matchExpressions?.some((expression) => expression.key === key))
}

function hasValues(terms: Terms, key: string): boolean {
  return terms.some((term) =>
    term.matchExpressions?.some((expression) => expression.key === key && (expression.values?.length ?? 0) > 0),
  )
}

function termsOf(pv: PersistentVolume): Terms {
  return pv.spec.nodeAffinity?.required?.nodeSelectorTerms ?? []
}
