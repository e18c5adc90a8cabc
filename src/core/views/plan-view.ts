/**
 * The plan on a screen: the answer. `confirm` adds what S31 asks for before anyone says yes; -v and `-o wide` the numbered table
 * of all operations, waits and problems.
 */

import type { Operation, Plan, VolumeRef } from '../plan/plan.ts'
import { podTextIn, shownVolume } from '../plan/plan-names.ts'
import { answerOf } from './answer/make-answer.ts'
import { few, withoutRoot } from './answer/names.ts'
import { renderAnswer } from './answer-view.ts'
import { type Cell, type Column, columnsTable } from './columns-table.ts'
import { operationsTable } from './operations-table.ts'
import { planHeader } from './plan-header.ts'
import type { Screen } from './screen.ts'
import { wrapped } from './wrap.ts'

export interface PlanDetail {
  /** Before apply asks: what a person must have seen (S31). */
  readonly confirm?: boolean
  /** -v: nothing is folded. */
  readonly unfolded?: boolean
  /** The plan is a snapshot's, maybe of another machine. */
  readonly elsewhere?: boolean
}

export function renderPlan(
  plan: Plan,
  screen: Screen,
  { confirm = false, unfolded = false, elsewhere = false }: PlanDetail = {},
): string {
  const { wide } = screen
  const full = unfolded || wide
  const podText = podTextIn(plan)
  const answer = answerOf(plan, podText)
  // Before a question the question is the next step.
  const asks = confirm && (plan.summary.ready ?? 0) > 0
  const more = [
    full ? operationsTable(plan, podText, screen) : '',
    full || confirm ? volumesText(plan.operations, screen) : '',
    confirm ? insteadText(plan, screen) : '',
  ].filter((part) => part !== '')
  const header = full || confirm ? planHeader(plan, screen) : undefined
  return renderAnswer(asks ? { ...answer, next: [] } : answer, screen, {
    ...{ unfolded: full, header, more },
    place: elsewhere ? plan.node : undefined,
  })
}

/** S31: what the kubelet would have done instead, where it differs. */
function insteadText({ operations, rootDir }: Plan, { width }: Screen): string {
  const byText = Map.groupBy(
    operations.filter(({ kubeletWould }) => kubeletWould !== undefined),
    ({ kubeletWould }) => kubeletWould,
  )
  const named = ({ pod, volume, paths }: Operation): string =>
    volume === undefined ? withoutRoot(paths[0] ?? '', rootDir) : shownVolume({ volume, pod })
  return [...byText]
    .map(([text, all]) => wrapped('', `The kubelet would ${text}: ${few(all.map(named))}`, width))
    .join('')
}

/** What is known of each volume that the plan acts on, once per volume (S31). */
function volumesText(operations: readonly Operation[], screen: Screen): string {
  const volumes = new Map<string, VolumeRef>()
  for (const { volume, pod } of operations) {
    if (volume === undefined || !isKnown(volume)) continue
    const key = volume.persistentVolume ?? volume.uniqueName ?? `${pod?.uid}/${volume.name}`
    volumes.set(key, { ...volume, ...volumes.get(key) })
  }
  return volumes.size === 0 ? '' : columnsTable({ columns: COLUMNS, inWords: true }, [...volumes.values()], screen)
}

/** What gives way first is the last. */
const COLUMNS: readonly Column<VolumeRef>[] = [
  { head: 'VOLUME', cell: (volume) => shownVolume({ volume }) },
  ...Object.entries<(volume: VolumeRef, screen: Screen) => Cell | undefined>({
    PLUGIN: ({ plugin }) => plugin,
    CLAIM: ({ claim }) => claim,
    PV: ({ persistentVolume }) => persistentVolume,
    DRIVER: ({ driver }) => driver,
    HANDLE: ({ handle }) => handle,
    'HANDLE FROM': ({ handleFrom }) => handleFrom,
    ACCESS: ({ accessModes }) => accessModes?.join(','),
    ATTACHED: ({ attached }) => yesNo(attached),
    'IN USE': ({ inUse }) => yesNo(inUse),
    'ALSO ATTACHED TO': ({ attachedElsewhere = [] }, { paint }) => ({
      text: attachedElsewhere.join(','),
      paint: paint.warn,
    }),
    DEVICE: ({ device }) => device,
  }).map(([head, cell], index) => ({
    ...{ head, stays: -index },
    cell: (volume: VolumeRef, screen: Screen) => cell(volume, screen) ?? '',
  })),
]

function isKnown({ claim, persistentVolume, driver, device }: VolumeRef): boolean {
  return [claim, persistentVolume, driver, device].some((value) => value !== undefined)
}

function yesNo(value: boolean | undefined): string {
  return value === undefined ? '' : value ? 'yes' : 'no'
}
