/** What a question is about: the thing itself, and the pods, volumes and paths to which an answer looks. */

import { lazy } from '../base/collections.ts'
import { type PlanContext, podNameOf } from '../rules/context.ts'
import { objectLinks } from './chain-objects.ts'
import type { Asked } from './concern.ts'
import { driverSockets } from './driver.ts'
import type { Fact } from './explanation.ts'
import { splitPrefix } from './kinds.ts'
import { placeTarget } from './place-target.ts'
import { allThings, type Thing, thingsCalled } from './things.ts'

/**
 * Finds what is meant by a name, kind/name, a UID, an absolute path, or a device. What it returns throws VolctlError
 * NotFound and AmbiguousName.
 */
export function asker(context: PlanContext): (what: string) => Asked {
  // A path is found without them.
  const things = lazy(() => allThings(context))
  return (what) => {
    const place = placeIn(what)
    if (place !== undefined) return placeTarget(context, place)
    const found = thingsCalled(context, things(), what)
    const [first] = found
    const { kind, name, volume } = first
    const pods = kind === 'Pod' ? found.map((each) => each.name) : []
    const volumes = volume === undefined ? pods.flatMap((uid) => context.ledger.ofPod(uid)) : [volume]
    const driver = kind === 'Driver' ? { name, sockets: driverSockets(context, name) } : undefined
    return {
      subject: { kind, name: kind === 'Pod' ? podNameOf(context, name) : name },
      identity: identityOf(context, found),
      chain: objectLinks(context, first),
      places: [],
      scope: { pods, volumes: [...new Set(volumes)], driver },
    }
  }
}

/** What is asked of a path or a device; undefined: of something else. `mount//a` is `mount/a`, `device/loop3` is one in /dev. */
function placeIn(what: string): string | undefined {
  const { kind, name } = splitPrefix(what)
  const isNumber = /^\d+:\d+$/.test(name)
  if (what.startsWith('/') || (kind === undefined && isNumber)) return what
  if (kind === 'Device') return isNumber || name.startsWith('/') ? name : `/dev/${name}`
  if (kind !== 'Path' && kind !== 'Mount') return undefined
  return name.startsWith('/') ? name : `/${name}`
}

/** What a pod and a volume are, where neither chain nor plan says it, and where that was learned. */
function identityOf({ inputs }: PlanContext, things: readonly Thing[]): Fact[] {
  return things.flatMap(({ kind, name, volume }) => {
    const directory = inputs.absolute(`pods/${name}`)
    const isThere = inputs.tree.has(`pods/${name}`)
    if (kind === 'Pod')
      return [{ label: 'Directory', value: isThere ? directory : `${directory}: not there`, from: 'disk' }]
    if (kind !== 'Volume') return []
    const names = [...(volume?.names ?? [])].filter((each) => each !== volume?.uniqueName)
    return [
      { label: 'Not identified', value: volume?.unidentified, from: 'disk' },
      { label: 'Also called', value: names.join(', '), from: 'API and disk' },
    ].flatMap(({ label, value, from }) => (value ? [{ label, value, from }] : []))
  })
}
