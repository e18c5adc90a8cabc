/** What volctl would do, in words: by pod, or by what is done where that is much. */
import { byteText } from '../../base/byte-text.ts'
import { count } from '../../base/count.ts'
import { OPERATIONS } from '../../plan/kinds.ts'
import type { Operation, Plan } from '../../plan/plan.ts'
import { type PodText, shownVolume } from '../../plan/plan-names.ts'
import { isApiContent, readyAmong } from '../../plan/plan-summary.ts'
import { few, type Part, type Row } from './answer.ts'

/** In the order in which it is said. */
const WORKS = ['down', 'up', 'refresh', 'grow', 'directories'] as const

export function readyPart(plan: Plan, podText: PodText): Part | undefined {
  const ids = readyAmong(plan.operations)
  const ready = plan.operations.filter(({ id }) => ids.has(id))
  if (ready.length === 0) return undefined
  const byWork = WORKS.map((work) => ready.filter(({ kind }) => OPERATIONS[kind].work === work)).filter(
    ({ length }) => length > 0,
  )
  const [first = []] = byWork
  const total = count(ready.length, 'operation')
  if (byWork.length === 1)
    return {
      title: `${titleOf(first, podText)} (${total})`,
      rows: [...rowsOf(first, podText), ...deadRows(ready), ...lossRows(ready)],
    }
  return {
    title: total,
    rows: [...byWork.flatMap((all) => shortRow(all, plan)), ...deadRows(ready), ...lossRows(ready)],
  }
}

/** `unmount, unstage and detach for 3 deleted pods`. */
function titleOf(operations: readonly Operation[], podText: PodText): string {
  const verbs = verbsOf(operations)
  const pods = whose(operations)
  return pods === undefined
    ? `${verbs} ${few(volumesOf(operations), 3)}`
    : `${verbs} for ${podsOf(pods, operations, podText)}`
}

function podsOf(pods: readonly string[], operations: readonly Operation[], podText: PodText): string {
  const [first] = operations
  if (pods.length > 1 || first?.pod === undefined) return count(pods.length, nounOf(operations))
  return `${nounOf(operations)} ${podText(first.pod)}`
}

/** UIDs of the pods that something is done for; undefined: for none. */
function whose(operations: readonly Operation[]): readonly string[] | undefined {
  const pods = [...new Set(operations.flatMap(({ pod }) => pod?.uid ?? []))]
  return pods.length === 0 ? undefined : pods
}

function nounOf(operations: readonly Operation[]): string {
  const reasons = new Set(operations.filter(({ pod }) => pod !== undefined).map(({ reason }) => reason))
  if (OPERATIONS[operations[0]?.kind ?? 'MountVolume'].work === 'up') return 'pod'
  if (!reasons.has('PodFinished')) return 'deleted pod'
  return reasons.size === 1 || whose(operations)?.length === 1 ? 'ended pod' : 'deleted or ended pod'
}

/** `unmount, unstage and detach`. */
export function verbsOf(operations: readonly Pick<Operation, 'kind'>[]): string {
  const verbs = [...new Set(operations.map(({ kind }) => OPERATIONS[kind].verb))]
  return verbs.length < 2 ? verbs.join('') : `${verbs.slice(0, -1).join(', ')} and ${verbs.at(-1)}`
}

/** A row a pod with what it has; what is of no pod by volume. */
function rowsOf(operations: readonly Operation[], podText: PodText): Row[] {
  const ofPods = Map.groupBy(
    operations.filter(({ pod }) => pod !== undefined),
    ({ pod }) => pod?.uid,
  )
  const said = new Set(operations.filter(({ pod }) => pod !== undefined).map(keyOfVolume))
  const alone = Map.groupBy(
    operations.filter((each) => each.pod === undefined && !said.has(keyOfVolume(each))),
    (each) => shownVolume(each),
  )
  return [
    ...[...ofPods.values()].map(
      (mine): Row => ({ label: podText(mine[0]?.pod ?? { uid: '' }), text: few(volumesOf(mine), 6) }),
    ),
    ...[...alone].map(([label, mine]): Row => ({ label, text: verbsOf(mine) })),
  ]
}

function keyOfVolume({ volume }: Operation): string {
  return volume?.uniqueName ?? volume?.persistentVolume ?? volume?.name ?? ''
}

/** Names, and config maps and their like as a number. */
function volumesOf(operations: readonly Operation[]): string[] {
  const named = operations.filter(({ volume }) => volume !== undefined && !isApiContent(volume))
  const config = operations.filter(({ volume }) => isApiContent(volume)).length
  const names = named.map((each) => `${nameOf(each)}${isBlock(each) ? ' (block)' : ''}`)
  return [...new Set(names), ...(config === 0 ? [] : [count(config, 'config volume')])]
}

function nameOf({ volume }: Operation): string {
  return volume?.persistentVolume ?? shownVolume({ volume })
}

function isBlock({ volume }: Operation): boolean {
  return volume?.mode === 'Block'
}

/** One line for all that is of one kind of work. */
function shortRow(operations: readonly Operation[], plan: Plan): Row {
  const pods = whose(operations)
  const work = OPERATIONS[operations[0]?.kind ?? 'MountVolume'].work
  const volumes = new Set(operations.map((each) => `${each.pod?.uid ?? ''} ${keyOfVolume(each)}`)).size
  const what = work === 'directories' ? count(operations.length, 'directory', 'directories') : count(volumes, 'volume')
  const label = pods === undefined ? few(volumesOf(operations), 2) : count(pods.length, nounOf(operations))
  const too =
    work === 'up' && plan.inputs.kubelet.state === 'stopped' ? ' (the kubelet does this too when it starts)' : ''
  return { label, text: `${verbsOf(operations)} ${what}${too}` }
}

/** In the words that people search for. */
function deadRows(operations: readonly Operation[]): Row[] {
  const dead = operations.filter((each) => (each.dead?.length ?? 0) > 0)
  const byError = Map.groupBy(dead, (each) => each.dead?.[0]?.error ?? '')
  return [...byError].map(([error, mine]): Row => ({ label: 'dead mount', text: `${few(mine.map(nameOf))}: ${error}` }))
}

/** Data that is lost for good is named. */
function lossRows(operations: readonly Operation[]): Row[] {
  const lost = operations.filter(({ deletes, volume }) => deletes !== undefined && !isApiContent(volume))
  if (lost.length === 0) return []
  return [
    {
      label: 'deletes data',
      loss: true,
      text: few(
        lost.map((each) => `${podOf(each)}${lossText(each)}`),
        6,
        '; ',
      ),
    },
  ]
}

function podOf({ pod }: Operation): string {
  return pod?.name === undefined ? '' : `${pod.name} `
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
