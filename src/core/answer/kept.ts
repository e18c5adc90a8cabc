/** What stays unless it is asked for. */
import type { CODES } from '../codes/codes.ts'
import { count } from '../lang/count.ts'
import type { Operation, Plan } from '../plan/plan.ts'
import { type PlanNames, shownVolume } from '../plan/plan-names.ts'
import type { Part, Row } from './answer.ts'
import { few } from './names.ts'
import { lossText } from './ready.ts'

export function keptPart(plan: Plan, names: PlanNames): Part | undefined {
  const data = plan.operations.filter(({ blocked }) => blocked?.code === 'DeletesData')
  const directories = plan.problems.filter(({ code }) => code === 'OrphanPodDir')
  const asked = plan.operations.filter(({ blocked }) => blocked?.code === 'NotAsked')
  if (data.length + directories.length + asked.length === 0) return undefined
  return {
    title: titleOf(data.length > 0, directories.length > 0),
    rows: [
      ...[...Map.groupBy(data, ({ pod }) => pod?.uid)].map(([, mine]): Row => dataRow(mine, names)),
      ...(data.length === 0 ? directories.map(({ message }) => ({ text: message })) : []),
      ...[...Map.groupBy(asked, ({ kind }) => kind)].map(([kind, mine]): Row => askedRow(kind, mine)),
    ],
  }
}

function titleOf(hasData: boolean, hasDirectories: boolean): string {
  if (hasData) return `emptyDir data (--orphans deletes it${hasDirectories ? ", and the pods' directories" : ''})`
  return hasDirectories ? 'directories of deleted pods (--orphans removes them)' : 'what the kubelet would change'
}

function dataRow(mine: readonly Operation[], names: PlanNames): Row {
  const pod = mine[0]?.pod
  return { label: pod === undefined ? '-' : names.podText(pod), text: mine.map((each) => lossText(each)).join('; ') }
}

/** S23: a kubelet may be held down just to keep these. */
function askedRow(kind: Operation['kind'], mine: readonly Operation[]): Row {
  const what = few(mine.map((each) => `${each.pod?.name ?? ''} ${shownVolume(each)}`.trim()))
  return kind === 'ExpandVolume'
    ? { label: count(mine.length, 'volume'), text: `may grow: ${what} (--expand grows them)` }
    : { label: count(mine.length, 'volume'), text: `with old content: ${what} (--remount writes it again)` }
}

/** Whether a screen tells it by what stays, and not by what needs a person. */
export function isKept(code: keyof typeof CODES): boolean {
  return code === 'DeletesData' || code === 'OrphanPodDir' || code === 'NotAsked'
}
