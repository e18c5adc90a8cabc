/** What to type next, after the worst of what was found. */
import { isPlainWord } from '../lang/plain-word.ts'
import type { Problem } from '../plan/plan.ts'
import { podName } from '../plan/pod-name.ts'
import type { StatusRow } from './status.ts'

/**
 * @param rows worst first
 * @param problems about none of the rows
 * @returns arguments of volctl; undefined: nothing is left to do
 */
export function nextCommand(
  rows: readonly StatusRow[],
  problems: readonly Problem[],
  complete: boolean,
): readonly string[] | undefined {
  const [worst] = rows
  if (!complete || problems.some(({ severity }) => severity === 'error')) return ['plan']
  switch (worst?.verdict.state) {
    case 'error':
    case 'unknown':
    case 'waiting':
    case 'warning':
    case 'kept':
      return ['explain', nameOf(worst, rows)]
    case 'blocked':
    case 'operation':
      return ['plan']
    case 'notAsked':
      return ['plan', flagFor(worst)]
    case 'good':
    case undefined:
      return undefined
  }
}

function flagFor({ verdict: { code }, due }: StatusRow): string {
  if (code === 'DeletesData') return '--orphans'
  return due.includes('expand') ? '--expand' : '--remount'
}

/** A name that a shell takes as it is, and that means this thing and no other. */
function nameOf({ pod, volume }: StatusRow, rows: readonly StatusRow[]): string {
  if (pod !== undefined) {
    const name = podName(pod)
    const isOnes = rows.every((row) => row.pod === undefined || row.pod.uid === pod.uid || podName(row.pod) !== name)
    return isOnes && isPlainWord(name) ? name : pod.uid
  }
  const names = [
    volume.persistentVolume && `pv/${volume.persistentVolume}`,
    volume.uniqueName && `volume/${volume.uniqueName}`,
  ]
  return names.find((name) => name !== undefined && name !== '' && isPlainWord(name)) ?? volume.name
}
