/** Which values may stand in a place, by what a node has. */
import { CODES, type Code } from '../codes/codes.ts'
import { isTerminating } from '../desired/pods.ts'
import { parseRules } from '../explain/rule-book.ts'
import type { PersistentVolume, Pod } from '../model/objects.ts'
import { keyText } from '../model/resources.ts'
import { namespacedName } from '../plan/pod-name.ts'
import type { LiveKind } from './live-kinds.ts'
import { claimsOf, type NodeNames } from './node-names.ts'

export interface Value {
  readonly value: string
  readonly about?: string
}

/** Everything but contexts and codes, which need no node. @param current as far as it is typed */
export async function nodeValues(kind: LiveKind, current: string, names: NodeNames): Promise<Value[]> {
  switch (kind) {
    case 'pod':
      return podValues(names)
    case 'namespace':
      return (await names.pods()).map(({ metadata }) => ({ value: metadata.namespace ?? 'default' }))
    case 'volume':
      return [...podVolumes(await names.pods()), ...(await names.persistentVolumes()).map(named)]
    case 'driver':
      return driverValues(names)
    case 'node':
      return [{ value: await names.nodeName() }]
    case 'thing':
      return thingValues(current, names)
    default:
      return []
  }
}

async function podValues(names: NodeNames): Promise<Value[]> {
  const listed = (await names.pods()).map((pod) => ({ value: namespacedName(pod.metadata), about: stateOf(pod) }))
  const orphans = (await names.orphans()).map((value) => ({
    value,
    about: 'directory of a pod that the API does not list',
  }))
  return [...listed, ...orphans]
}

function stateOf(pod: Pod): string {
  return isTerminating(pod) ? 'Terminating' : (pod.status?.phase ?? 'Unknown')
}

function podVolumes(pods: readonly Pod[]): Value[] {
  return pods.flatMap(({ metadata, spec }) =>
    (spec.volumes ?? []).map(({ name }) => ({ value: name, about: `of pod ${namespacedName(metadata)}` })),
  )
}

function named({ metadata, spec }: PersistentVolume): Value {
  const { namespace, name } = spec.claimRef ?? {}
  return { value: metadata.name, ...(name !== undefined && { about: `claim ${namespace ?? 'default'}/${name}` }) }
}

/** A driver that is gone is in no CSINode, but its volumes still have its name. */
async function driverValues(names: NodeNames): Promise<Value[]> {
  const [registered, volumes, pods] = await Promise.all([names.drivers(), names.persistentVolumes(), names.pods()])
  const ofVolumes = volumes.map(({ spec }) => spec.csi?.driver ?? spec.flexVolume?.driver)
  const ofPods = pods.flatMap(({ spec }) =>
    (spec.volumes ?? []).map(({ csi, flexVolume }) => (csi ?? flexVolume)?.driver),
  )
  return [
    ...registered.map((value) => ({ value, about: 'registered' })),
    ...[...ofVolumes, ...ofPods].flatMap((value) => (value === undefined ? [] : { value, about: 'of a volume' })),
  ]
}

/** What stands before the slash, and what of that kind there is. */
const KINDS: Readonly<Record<string, (names: NodeNames) => Promise<readonly Value[]>>> = {
  pod: podValues,
  pvc: async (names) => claimsOf(await names.pods()).map((key) => ({ value: keyText(key) })),
  pv: async (names) => (await names.persistentVolumes()).map(named),
  va: async (names) =>
    (await names.attachments()).map(({ metadata, spec }) => ({ value: metadata.name, about: `by ${spec.attacher}` })),
  driver: driverValues,
}

async function thingValues(current: string, names: NodeNames): Promise<Value[]> {
  const [, kind = ''] = /^([a-z]+)\//.exec(current) ?? []
  if (Object.hasOwn(KINDS, kind)) {
    const found = (await KINDS[kind]?.(names)) ?? []
    return found.map(({ value, ...about }) => ({ value: `${kind}/${value}`, ...about }))
  }
  const prefixes = Object.keys(KINDS).map((value) => ({ value: `${value}/` }))
  return [...(await podValues(names)), ...prefixes]
}

/** Codes and rules, which begin with a capital letter as no name in Kubernetes does. @param rules the text of the rule books */
export function wordValues(rules: string): Value[] {
  const codes = (Object.keys(CODES) as Code[]).map((value) => ({ value, about: CODES[value].in.join(', ') }))
  return [...codes, ...parseRules(rules).map(({ id, text }) => ({ value: id, about: text }))]
}
