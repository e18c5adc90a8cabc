/** What volctl would do, in words: by pod, or by what is done where that is much. */
import { alike, byteText, count, present } from '../../base/text.ts'
import { OPERATIONS } from '../../plan/kinds.ts'
import { type PodText, shownVolume } from '../../plan/names.ts'
import type { Operation, Plan } from '../../plan/plan.ts'
import { isApiContent, readyAmong } from '../../plan/plan-summary.ts'
import { few, type Part, type Row } from './answer.ts'

/** In the order in which it is said. */
const WORKS = ['down', 'up', 'refresh', 'grow', 'directories'] as const

export function readyPart({ operations, inputs }: Plan, podText: PodText): Part {
  const ids = readyAmong(operations)
  const ready = operations.filter(({ id }) => ids.has(id))
  const byWork = Map.groupBy(ready, ({ kind }) => OPERATIONS[kind].work)
  const total = count(ready.length, 'operation')
  const isStopped = inputs.kubelet.state === 'stopped'
  const rows =
    byWork.size === 1
      ? rowsOf(ready, podText)
      : WORKS.flatMap((work) => shortRow(byWork.get(work) ?? [], work === 'up' && isStopped))
  const title = byWork.size === 1 ? `${titleOf(ready, podText)} (${total})` : total
  return { name: 'Ready', title, rows: [...rows, ...deadRows(ready), ...lossRows(ready)] }
}

/** `unmount, unstage and detach for 3 deleted pods`. */
function titleOf(operations: readonly Operation[], podText: PodText): string {
  const [first] = operations
  const pods = whose(operations)
  const noun = nounOf(operations)
  const of = pods.length > 1 || first?.pod === undefined ? count(pods.length, noun) : `${noun} ${podText(first.pod)}`
  return `${verbsOf(operations)} ${pods.length === 0 ? few(volumesOf(operations), 3) : `for ${of}`}`
}

/** UIDs of the pods that something is done for. */
function whose(operations: readonly Operation[]): readonly string[] {
  return [...new Set(operations.flatMap(({ pod }) => pod?.uid ?? []))]
}

function nounOf(operations: readonly Operation[]): string {
  const reasons = new Set(operations.flatMap(({ pod, reason }) => (pod === undefined ? [] : reason)))
  if (OPERATIONS[operations[0]?.kind ?? 'MountVolume'].work === 'up') return 'pod'
  if (!reasons.has('PodFinished')) return 'deleted pod'
  return reasons.size === 1 || whose(operations).length === 1 ? 'ended pod' : 'deleted or ended pod'
}

/** `unmount, unstage and detach`. */
export function verbsOf(operations: readonly Pick<Operation, 'kind'>[]): string {
  const verbs = [...new Set(operations.map(({ kind }) => OPERATIONS[kind].verb))]
  return verbs.length < 2 ? verbs.join('') : `${verbs.slice(0, -1).join(', ')} and ${verbs.at(-1)}`
}

/** A row a pod with what it has; what is of no pod by volume. */
function rowsOf(operations: readonly Operation[], podText: PodText): Row[] {
  const ofPods = operations.filter(({ pod }) => pod !== undefined)
  const said = new Set(ofPods.map(keyOfVolume))
  const alone = operations.filter((each) => each.pod === undefined && !said.has(keyOfVolume(each)))
  return [
    ...alike(ofPods, ({ pod }) => pod?.uid).map((mine) => {
      return { label: mine[0].pod && podText(mine[0].pod), text: few(volumesOf(mine), 6) }
    }),
    ...alike(alone, shownVolume).map((mine) => ({ label: shownVolume(mine[0]), text: verbsOf(mine) })),
  ]
}

function keyOfVolume({ volume }: Operation): string {
  return volume?.uniqueName ?? volume?.persistentVolume ?? volume?.name ?? ''
}

/** Names, and config maps and their like as a number. */
function volumesOf(operations: readonly Operation[]): string[] {
  const named = operations.filter(({ volume }) => volume !== undefined && !isApiContent(volume))
  const config = operations.filter(({ volume }) => isApiContent(volume)).length
  const names = named.map((each) => `${nameOf(each)}${each.volume?.mode === 'Block' ? ' (block)' : ''}`)
  return present(...new Set(names), config > 0 && count(config, 'config volume'))
}

function nameOf({ volume }: Operation): string {
  return volume?.persistentVolume ?? shownVolume({ volume })
}

/** One line for all that is of one kind of work. @param isKubelets a kubelet that starts does it, too */
function shortRow(operations: readonly Operation[], isKubelets: boolean): Row[] {
  const [first] = operations
  if (first === undefined) return []
  const pods = whose(operations).length
  const volumes = new Set(operations.map((each) => `${each.pod?.uid ?? ''} ${keyOfVolume(each)}`)).size
  const what =
    OPERATIONS[first.kind].work === 'directories'
      ? count(operations.length, 'directory', 'directories')
      : count(volumes, 'volume')
  const too = isKubelets ? ' (the kubelet does this too when it starts)' : ''
  const label = pods === 0 ? few(volumesOf(operations), 2) : count(pods, nounOf(operations))
  return [{ label, text: `${verbsOf(operations)} ${what}${too}` }]
}

/** In the words that people search for. */
function deadRows(operations: readonly Operation[]): Row[] {
  const errorOf = ({ dead }: Operation): string | undefined => dead?.[0]?.error
  return alike(operations.filter(errorOf), errorOf).map((mine) => {
    return { label: 'dead mount', text: `${few(mine.map(nameOf))}: ${errorOf(mine[0])}` }
  })
}

/** Data that is lost for good is named. */
function lossRows(operations: readonly Operation[]): Row[] {
  const lost = operations.filter(({ deletes, volume }) => deletes !== undefined && !isApiContent(volume))
  const texts = lost.map((each) => present(each.pod?.name, lossText(each)).join(' '))
  return texts.length === 0 ? [] : [{ label: 'deletes data', loss: true, text: few(texts, 6, '; ') }]
}

/** `e: 1 file, 5 B`. */
export function lossText(operation: Operation): string {
  return `${shownVolume(operation)}: ${dataText(operation.deletes)}`
}

/** `1 file, 5 B`; content that cannot be counted without entering a mount is called by where it lies. */
export function dataText(deletes: Operation['deletes']): string {
  if (deletes === undefined || deletes.counted === false) return 'tmpfs'
  return `${count(deletes.files, 'file')}, ${byteText(deletes.bytes)}`
}
