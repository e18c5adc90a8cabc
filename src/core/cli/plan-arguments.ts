/** What stands behind `plan` and `apply`: names, which narrow as --pod and --volume do; behind `apply` also a plan file. */

import { statSync } from 'node:fs'
import { splitPrefix } from '../explain/kinds.ts'
import { isMissing, marked, usageError } from '../messages/findings.ts'
import type { Naming } from '../plan/names.ts'
import { callerPath } from '../trust/run.ts'
import { manyArguments } from './flags.ts'

/** Of the flags of both. */
interface Narrowed {
  readonly pod?: string[]
  readonly volume?: string[]
  readonly namespace?: readonly string[]
}

type Narrowing = Pick<Narrowed, 'pod' | 'volume'> & Pick<Naming, 'ways'>

const VOLUME_WAYS = 'pv/NAME, pvc/NAMESPACE/NAME, volume/NAME, va/NAME or path/PATH'

export const PLAN_NAMES = `Only these pods or volumes: NAMESPACE/NAME, pod/NAME or a UID; or ${VOLUME_WAYS}. Separated by spaces or commas.`

/** Of the commands that answer for all of the node, or for what is named. */
export const namesArgument = {
  names: manyArguments('NAME', PLAN_NAMES),
}

/**
 * The flags --pod and --volume with what was named besides: one word at least for each that was given, so that what was
 * narrowed never becomes a plan of everything.
 *
 * @throws VolctlError Usage for what can be neither a pod nor a volume, and for both at once
 */
export function narrowing(words: readonly string[], flags: Narrowed): Narrowing {
  if (words.length === 0) return {}
  const things = words.flatMap(partsOf).map((part) => {
    const found = thing(part, flags.namespace ?? [])
    if (found !== undefined) return found
    const hint = `Pods are NAMESPACE/NAME, pod/NAME or a UID; volumes are ${VOLUME_WAYS}.`
    throw usageError('Usage.unnamed', hint, { word: part })
  })
  const [flag = 'pod', ...others] = new Set(things.map(([each]) => each))
  if (others.length > 0) {
    throw usageError('Usage.both', 'One volume of one pod: NAMESPACE/NAME --volume NAME')
  }
  const { pod, volume } = flags
  const named = [...(flags[flag] ?? []), ...things.map(([, name]) => name)]
  return { ways: `A volume is ${VOLUME_WAYS}.`, pod, volume, [flag]: named }
}

/**
 * The same of `apply`, or the plan file: a word that is `-`, has the look of a path or the ending of a plan file, or is the name of a
 * file here.
 *
 * @throws VolctlError Usage as above, and for a plan file that does not stand alone
 */
export function applyArguments(words: readonly string[], flags: Narrowed): Narrowing & { readonly planfile?: string } {
  const planfile = words.find(isPlanFile)
  if (planfile === undefined) return narrowing(words, flags)
  if (words.length === 1) return { planfile }
  throw usageError(
    'Usage.besidePlanFile',
    marked(
      'A plan file is carried out as a whole, and alone; one for a few pods is made with: `volctl plan NAMESPACE/NAME --out FILE`',
    ),
    { planfile },
  )
}

function isPlanFile(word: string): boolean {
  if (word === '-' || /^\.{0,2}\/|\.(?:json|plan)$/.test(word)) return true
  try {
    return word !== '' && !statSync(callerPath(word)).isDirectory()
  } catch (error) {
    // What cannot be looked at is one: reading it says why.
    return !isMissing(error)
  }
}

/** A list with commas, but for a volume or a path: a driver's name for it may have them. */
function partsOf(word: string): string[] {
  const { kind } = splitPrefix(word)
  return kind === 'Volume' || kind === 'Path' ? [word] : word.split(',')
}

const VOLUMES: readonly string[] = ['PersistentVolume', 'Volume', 'VolumeAttachment']

/** As kubectl names a node. A pod of a namespace that is called so is pod/node/NAME. */
const NODE = /^(?:no|nodes?)\//i

/** NAME or NAMESPACE/NAME */
const OF_NAMESPACE = /^[^/\s]+(?:\/[^/\s]+)?$/

/** @returns the flag that names it, and how; undefined: neither a pod nor a volume has such a name */
function thing(
  word: string,
  [namespace, ...others]: readonly string[],
): readonly [flag: 'pod' | 'volume', name: string] | undefined {
  if (NODE.test(word)) return undefined
  const { kind = word.startsWith('/') ? 'Path' : 'Pod', name } = splitPrefix(word)
  if (kind === 'Path' ? name.startsWith('/') : VOLUMES.includes(kind) && name !== '') return ['volume', name]
  if (!OF_NAMESPACE.test(name)) return undefined
  if (kind === 'Pod') return ['pod', name]
  if (kind !== 'PersistentVolumeClaim') return undefined
  if (name.includes('/')) return ['volume', name]
  return namespace !== undefined && others.length === 0 ? ['volume', `${namespace}/${name}`] : undefined
}
