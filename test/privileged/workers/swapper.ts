/**
 * The other side of the swapping scenarios: changes the volume under the feet of whoever deletes it, until it has done
 * so ROUNDS times and ATTIC/met says that a deletion met it; at most twenty times as often. It has root's rights, so
 * far more than a container: it mounts, and it renames across the volume's edge. Links and mounts are swapped in for an
 * instant and out again; what was deleted meanwhile is planted anew.
 *
 * Arguments: kind, volume, attic (a directory beside the volume), outside (same device), other (another device), rounds.
 */
import { existsSync, lstatSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { errnoOf } from '../../../src/core/messages/findings.ts'
import { bindMount, detachMount, exchange } from '../system-calls.ts'

const [kind = '', volume = '', attic = '', outside = '', other = '', rounds = '0'] = process.argv.slice(2)
const SLOTS = 8
const FILES = 30
/** As long as the directory is there, it is swapped: whoever deletes it must meet a swap, not an empty place. */
const IN_A_ROW = 50

const nowhere = new Set(['ENOENT', 'ENOTEMPTY', 'EEXIST', 'EBUSY', 'ENOTDIR', 'EINVAL'])

/** @returns whether it could be done; what was deleted a moment ago cannot be moved */
function tried(work: () => void): boolean {
  try {
    work()
    return true
  } catch (error) {
    if (nowhere.has(errnoOf(error) ?? '')) return false
    throw error
  }
}

/** A directory with files that are called like those outside; made where nobody deletes, then moved into its place. */
function plant(slot: number): void {
  const fresh = `${attic}/fresh`
  tried(() => rmSync(fresh, { recursive: true, force: true }))
  mkdirSync(`${fresh}/inner`, { recursive: true })
  for (let i = 0; i < FILES; i++) writeFileSync(`${fresh}/inner/f${i}`, 'x')
  tried(() => renameSync(fresh, `${volume}/d${slot}`))
}

const isLink = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true

/** A directory changes places with a link to the outside. */
function swapLink(slot: number): boolean {
  const [name, link] = [`${volume}/d${slot}`, `${attic}/link${slot}`]
  if (!isLink(link)) tried(() => symlinkSync(outside, link))
  if (!exchange(name, link)) return false
  // The link was deleted meanwhile: the directory returns to an empty place.
  if (!exchange(name, link)) tried(() => renameSync(link, name))
  return true
}

/** A directory changes places with one of the same form in which the outside, or another device, is mounted. */
function swapTrap(slot: number): boolean {
  const [name, trap] = [`${volume}/d${slot}`, `${attic}/trap${slot % 2}`]
  if (!exchange(name, trap)) return false
  if (!exchange(name, trap)) throw new Error(`${name} was removed although something is mounted in it`)
  return true
}

/** The outside, or another device, is mounted over a directory and goes again. */
function coverByMount(slot: number): boolean {
  const point = `${volume}/d${slot}/inner`
  return bindMount(slot % 2 === 0 ? outside : other, point) && detachMount(point)
}

/** A directory goes up, out of the volume, and back again or into another one; a file gets another name. */
function move(slot: number): boolean {
  const [inner, up, out] = [`${volume}/d${slot}/inner`, `${volume}/up${slot}`, `${attic}/out`]
  tried(() => renameSync(`${inner}/f1`, `${inner}/renamed`))
  if (!tried(() => renameSync(inner, up)) || !tried(() => renameSync(up, out))) return false
  const homes = [inner, `${volume}/d${(slot + 1) % SLOTS}/moved`, `${volume}/back${slot}`]
  return homes.some((home) => tried(() => renameSync(out, home))) || tried(() => rmSync(out, { recursive: true }))
}

/** The volume itself, by its parent, changes places with a link to the outside. */
function swapParent(): boolean {
  const parent = volume.slice(0, volume.lastIndexOf('/'))
  return exchange(parent, `${attic}/parent`) && exchange(parent, `${attic}/parent`)
}

const SWAPS: Readonly<Record<string, (slot: number) => boolean>> = {
  links: swapLink,
  traps: swapTrap,
  mounts: coverByMount,
  moves: move,
  parents: swapParent,
}

const swap = SWAPS[kind]
if (swap === undefined) throw new Error(`no kind ${kind}`)
symlinkSync(outside, `${attic}/parent`)
for (const [trap, source] of [outside, other].entries()) {
  mkdirSync(`${attic}/trap${trap}/inner`, { recursive: true })
  if (!bindMount(source, `${attic}/trap${trap}/inner`)) throw new Error('no mount can be made')
}
let swaps = 0
const enough = (): boolean => swaps >= (existsSync(`${attic}/met`) ? 1 : 20) * Number(rounds)
for (let round = 0; !enough(); round++) {
  const slot = round % SLOTS
  plant(slot)
  for (let i = 0; i < IN_A_ROW && swap(slot); i++) swaps += 1
}
