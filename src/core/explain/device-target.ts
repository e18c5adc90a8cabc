/** What a block device is to this node: what is mounted from it, what it backs, whose it is. */

import { undeletedRoot } from '../linux/deleted.ts'
import type { MountInfo } from '../linux/mount-table.ts'
import { isWithin } from '../linux/paths.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import type { Fact } from './explanation.ts'
import { type PlaceTarget, placeAt } from './places.ts'

const NUMBER = /^\d+:\d+$/

/** By its shape: "/dev/…", "major:minor". */
export function isDevice(given: string): boolean {
  return NUMBER.test(given) || given.startsWith('/dev/')
}

/** Undefined: nothing here is of this device. */
export function deviceTarget(context: PlanContext, given: string): PlaceTarget | undefined {
  const { inputs } = context
  const all = inputs.mounts.under('/')
  // A mount in /dev is no device.
  if (inputs.mounts.at(given).length > 0 && !isDeviceFile(inputs.mounts.top(given))) return undefined
  const names = new Set(NUMBER.test(given) ? inputs.mounts.ofDevice(given).map(({ source }) => source) : [given])
  names.delete('')
  const fromIt = all.filter((mount) => (NUMBER.test(given) ? mount.dev === given : names.has(mount.source)))
  const binds = all.filter((mount) => isDeviceFile(mount) && names.has(`/dev${undeletedRoot(mount.root)}`))
  const loops = (inputs.snapshot.blockDevices ?? []).filter(({ name }) => names.has(name) || names.has(`/dev/${name}`))
  const mine = context.ledger.onDevice({
    mounts: [...fromIt, ...binds],
    names,
    files: loops.flatMap(({ backingFile }) => backingFile ?? []),
  })
  if (fromIt.length + binds.length + loops.length + mine.length === 0) return undefined
  const numbers = [...new Set(fromIt.map(({ dev }) => dev))]
  const facts: Fact[] = [
    ...[...names]
      .filter((name) => name.startsWith('/'))
      .map((value) => ({ label: 'Device', value, from: 'mount table' })),
    ...numbers.map((value) => ({ label: 'Number', value, from: 'mount table' })),
    ...loops.map(({ name, backingFile }) => ({
      label: 'Loop device',
      value: `${name}, backed by ${backingFile ?? 'nothing'}`,
      from: 'sysfs',
    })),
  ]
  const paths = [...new Set([...fromIt, ...binds].map(({ mountPoint }) => inputs.plain(mountPoint)))]
  return {
    subject: { kind: 'Device', name: given },
    facts: facts.length > 0 ? facts : [{ label: 'Device', value: given, from: "a pod's device link" }],
    places: paths.map((path) => placeAt(inputs, path, { role: 'path' })),
    volumes: mine,
    pods: [],
    paths: paths.filter((path) => isWithin(path, inputs.rootDir)),
    devices: [...names].flatMap((name) => (name.startsWith('/dev/') ? [name.slice('/dev/'.length)] : [])),
    because: 'no volume of this node is on this device',
  }
}

export function isDeviceFile(mount: MountInfo | undefined): boolean {
  return mount?.fsType === 'devtmpfs' && mount.root !== '/'
}
