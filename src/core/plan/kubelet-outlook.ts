/**
 * A kubelet that runs, or may come back, owns the volumes that it knows (S11): the work that it does by itself, and
 * until when; and the work that it never does, so that nobody waits for it.
 */
import { append } from '../lang/append.ts'
import type { KubeletOutlook, KubeletShare, Operation, OperationKind, Plan, Waiting } from './plan.ts'
import { shownVolume } from './plan-names.ts'
import { podName } from './pod-name.ts'

/** Undefined: the kubelet is stopped, or has nothing to do with this plan. */
export function kubeletOutlook(plan: Plan): KubeletOutlook | undefined {
  const { state } = plan.inputs.kubelet
  if (state === 'stopped') return undefined
  const waits = plan.waiting.filter(({ code }) => code === 'KubeletRunning')
  const [forgotten, remembered] = partition(waits, isForgotten)
  const does = [...sharesOf(remembered, DOES), ...settling(plan)]
  const never = [...sharesOf(forgotten, NEVER), ...leftovers(plan.operations)]
  return does.length === 0 && never.length === 0 ? undefined : { does, never }
}

/**
 * A running kubelet lists the volumes that it knows in node.status.volumesInUse. It unstages these within seconds, or
 * tries again at least every 2 min 2 s; a volume that is not listed is forgotten, and the kubelet never looks for it
 * again.
 */
export function isForgotten({ code, kind, volume }: Waiting): boolean {
  return code === 'KubeletRunning' && (kind === 'UnmountDevice' || kind === 'UnmapDevice') && volume?.inUse === false
}

interface Saying {
  readonly what: string
  readonly until?: string
}

const AGAIN = 'after a failure it tries again, at least every 2 min 2 s'

const DOES: Readonly<Partial<Record<OperationKind, Saying>>> = {
  MountVolume: { what: 'mount what pods want', until: AGAIN },
  MapVolume: { what: 'map what pods want', until: AGAIN },
  RemountVolume: { what: 'write changed content', until: 'within 2 minutes of the change' },
  ExpandVolume: { what: 'grow volumes', until: AGAIN },
  UnmountDevice: { what: 'unstage volumes that no pod here uses', until: AGAIN },
  UnmapDevice: { what: 'unmap volumes that no pod here uses', until: AGAIN },
  DetachVolume: {
    what: 'let the attach/detach controller detach volumes',
    until: 'once the kubelet no longer reports them in use',
  },
}

const NEVER: Readonly<Partial<Record<OperationKind, Saying>>> = {
  UnmountDevice: { what: 'unstage volumes that it has forgotten: node.status.volumesInUse does not list them' },
  UnmapDevice: { what: 'unmap volumes that it has forgotten: node.status.volumesInUse does not list them' },
}

function sharesOf(waits: readonly Waiting[], sayings: typeof DOES): KubeletShare[] {
  const byKind = Map.groupBy(waits, ({ kind }) => kind)
  return [...byKind].map(([kind, mine]) => {
    const { what, until } = sayings[kind] ?? { what: kind }
    return { message: what, about: mine.map(nameOf), ...(until !== undefined && { until }) }
  })
}

/** One pod at a time: a change of a moment ago may be the kubelet's work. */
function settling({ waiting }: Plan): KubeletShare[] {
  const pods = Map.groupBy(
    waiting.filter(({ code }) => code === 'Settling'),
    ({ pod }) => pod?.uid,
  )
  const shares = [...pods.values()].flatMap(([first]) => {
    if (first?.pod === undefined) return []
    const { pod, until } = first
    return { about: [podName(pod)], ...(until !== undefined && { until }) }
  })
  const byTime = Map.groupBy(shares, ({ until }) => until)
  return [...byTime.values()].map((alike) => ({
    ...alike[0],
    message: 'tear down the volumes of pods that ended a moment ago',
    about: alike.flatMap(({ about }) => about),
  }))
}

/**
 * An operation planned while a kubelet runs concerns something unchanged for the settle time: the kubelet would have
 * done it long ago.
 */
function leftovers(operations: readonly Operation[]): KubeletShare[] {
  const byText = new Map<string, string[]>()
  for (const { id, kubeletWould } of operations) append(byText, kubeletWould ?? '', id)
  return [...byText].map(([text, ids]) => ({
    message:
      text === '' ? 'it has not touched them for longer than it needs: it has forgotten them' : `it would ${text}`,
    operations: ids,
  }))
}

function nameOf(wait: Waiting): string {
  return wait.pod === undefined ? shownVolume(wait) : `${podName(wait.pod)}: ${shownVolume(wait)}`
}

function partition<T>(all: readonly T[], isIn: (each: T) => boolean): [T[], T[]] {
  return [all.filter(isIn), all.filter((each) => !isIn(each))]
}
