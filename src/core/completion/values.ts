/** Which values may stand in a place, by what a node or a cluster has. */
import { CODES, type Code } from '../codes/codes.ts'
import type { SubjectKind } from '../explain/explanation.ts'
import { splitPrefix } from '../explain/kinds.ts'
import { parseRules } from '../explain/rule-book.ts'
import { defined } from '../lang/defined.ts'
import type { LiveKind } from './spec.ts'

export interface Value {
  readonly value: string
  /** A few words on it. */
  readonly about?: string | undefined
}

/** What there is of each kind; nothing is asked before it is wanted. @param namespace the only one that is wanted, if one has been typed */
export interface Names {
  pods(namespace?: string): Promise<readonly Value[]>
  claims(namespace?: string): Promise<readonly Value[]>
  /** Whatever --volume takes beside PersistentVolumes. */
  podVolumes(): Promise<readonly Value[]>
  persistentVolumes(): Promise<readonly Value[]>
  attachments(): Promise<readonly Value[]>
  nodes(): Promise<readonly Value[]>
  drivers(): Promise<readonly Value[]>
}

/** In a namespace or without. */
export function objectValue(
  { namespace, name }: { readonly namespace?: string | undefined; readonly name: string },
  about?: string,
): Value {
  return { value: namespace === undefined ? name : `${namespace}/${name}`, ...defined({ about }) }
}

/** Of a PersistentVolume. */
export function claimText(claim: { readonly namespace?: string | undefined; readonly name?: string | undefined } = {}) {
  return claim.name === undefined ? undefined : `claim ${claim.namespace ?? 'default'}/${claim.name}`
}

/** Everything but contexts and codes, which need no node and no cluster. @param current as far as it is typed */
export async function valuesOf(kind: LiveKind, current: string, names: Names): Promise<readonly Value[]> {
  switch (kind) {
    case 'pod':
      return names.pods(namespaceIn(current))
    case 'namespace':
      return (await names.pods()).flatMap(({ value }) =>
        value.includes('/') ? { value: value.split('/')[0] ?? '' } : [],
      )
    case 'volume':
      return [...(await names.podVolumes()), ...(await names.persistentVolumes())]
    case 'driver':
      return names.drivers()
    case 'node':
      return names.nodes()
    case 'thing':
      return thingValues(current, names)
    default:
      return []
  }
}

/** `shop/we`: no other namespace is wanted. */
function namespaceIn(current: string): string | undefined {
  const [namespace = '', ...rest] = current.split('/')
  return rest.length > 0 && namespace !== '' ? namespace : undefined
}

const LISTS: Readonly<Partial<Record<SubjectKind, Exclude<keyof Names, 'podVolumes'>>>> = {
  Pod: 'pods',
  PersistentVolumeClaim: 'claims',
  PersistentVolume: 'persistentVolumes',
  VolumeAttachment: 'attachments',
  Node: 'nodes',
  Driver: 'drivers',
}
const PREFIXES = ['pod/', 'pvc/', 'pv/', 'va/', 'node/', 'driver/']

async function thingValues(current: string, names: Names): Promise<readonly Value[]> {
  const { kind, name } = splitPrefix(current)
  const list = kind && LISTS[kind]
  if (list === undefined) return [...(await names.pods(namespaceIn(current))), ...PREFIXES.map((value) => ({ value }))]
  const prefix = current.slice(0, current.length - name.length)
  return (await names[list](namespaceIn(name))).map(({ value, about }) => ({ value: `${prefix}${value}`, about }))
}

/** Codes and rules, which begin with a capital letter as no name in Kubernetes does. @param rules the text of the rule books */
export function wordValues(rules: string): Value[] {
  const codes = (Object.keys(CODES) as Code[]).map((value) => ({ value, about: CODES[value].in.join(', ') }))
  return [...codes, ...parseRules(rules).map(({ id, text }) => ({ value: id, about: text }))]
}
