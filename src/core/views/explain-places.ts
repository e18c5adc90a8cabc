/** What there is, path by path, as `volctl explain` shows it. */

import type { MountView, Place } from '../explain/explanation.ts'
import { fileSystemText } from '../linux/file-systems.ts'
import { podText } from './format.ts'
import type { Screen } from './screen.ts'
import { wrapped } from './wrap.ts'

const ROLES: Readonly<Record<Place['role'], string>> = {
  target: 'volume',
  stateFile: 'state file',
  marker: 'marker',
  subPath: 'sub-path',
  link: 'device link',
  staged: 'staged',
  global: 'global mount',
  map: 'block map',
  published: 'published',
  foreign: 'foreign',
  path: 'path',
}

const ROLE_WIDTH = Math.max(...Object.values(ROLES).map((text) => text.length)) + 1

export function placesText(places: readonly Place[], screen: Screen): string {
  const severalPods = new Set(places.flatMap(({ pod }) => pod?.uid ?? [])).size > 1
  return places.map((place) => placeText(place, severalPods, screen)).join('')
}

function placeText(place: Place, namesPod: boolean, { paint, width }: Screen): string {
  const { role, path, state, pod, mounts, loops, dead } = place
  const indent = ' '.repeat(ROLE_WIDTH + 2)
  const whose = pod === undefined || !namesPod ? '' : `; pod ${podText(pod)}`
  const [only] = mounts
  const about = mounts.length === 1 && only !== undefined ? `${state}: ${mountText(only)}` : state
  const layers = mounts.length > 1 ? mounts : []
  return [
    wrapped(`  ${ROLES[role].padEnd(ROLE_WIDTH)}`, path, undefined),
    wrapped(indent, `${about}${whose}`, width, paint.dim),
    ...layers.map((mount, index) => wrapped(`${indent}${index + 1}. `, mountText(mount), width, paint.dim)),
    ...(loops === undefined ? [] : [wrapped(indent, `held by ${loops.join(', ')}`, width, paint.warn)]),
    ...(dead === undefined ? [] : [wrapped(indent, `DEAD: ${dead}`, width, paint.bad)]),
  ].join('')
}

function mountText(mount: MountView): string {
  const { id, dev, root, readOnly } = mount
  const part = root === '/' ? '' : `, directory ${root}`
  return `${fileSystemText(mount)} (${dev})${part}, mount ID ${id}, ${readOnly ? 'read-only' : 'read-write'}`
}
