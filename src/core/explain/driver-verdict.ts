/** What is wrong with a CSI driver, in one line, and what to do about it on this node. */

import type { ProblemCode } from '../codes/codes.ts'
import { isPlainWord } from '../lang/plain-word.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import { whyNoDriver } from '../reconcile/drivers/why-no-driver.ts'
import type { Concern } from './concern.ts'
import { answering, isExpected } from './driver-chain.ts'
import type { Advice, DriverView, Link, Verdict } from './explanation.ts'
import { verdictOf } from './verdict.ts'

/** A driver that cannot be called is the cause of all that waits for it or is blocked by it. */
export function driverVerdict(
  context: PlanContext,
  view: DriverView,
  chain: readonly Link[],
  concern: Concern,
): Verdict {
  const isError = concern.problems.some(({ severity }) => severity === 'error')
  const broken = isError ? undefined : brokenVerdict(context, view, chain)
  if (broken !== undefined) return broken
  const verdict = verdictOf(concern, { nothing: { why: whyFine(view) }, places: [] })
  const isOfVolumes = ['operation', 'blocked', 'waiting'].includes(verdict.state)
  return isOfVolumes ? { ...verdict, message: `${ANSWERS}; of its volumes: ${verdict.message}` } : verdict
}

const ANSWERS = 'the driver answers and is registered'

function whyFine(view: DriverView): string {
  const { published, staged } = view.dependents
  if (!isExpected(view)) return 'the driver is not on this node, and nothing here depends on it'
  return `${ANSWERS}; ${staged.length} of its volumes are staged, ${published.length} published`
}

function brokenVerdict(context: PlanContext, view: DriverView, chain: readonly Link[]): Verdict | undefined {
  if (!isExpected(view)) return undefined
  const found = faultOf(view, chain)
  if (found === undefined) return undefined
  const { message, code } = found
  const text = message ?? whyNoDriver(context, view.name)
  return { state: 'problem', message: `${text}${dependingText(view)}`, code }
}

interface Fault {
  readonly code: ProblemCode
  /** Absent: why the driver cannot be called. */
  readonly message?: string
}

function faultOf({ name, sockets, csiNode }: DriverView, chain: readonly Link[]): Fault | undefined {
  const called = sockets.find(({ answers }) => answers)
  const badLink = (kind: Link['kind']): Link | undefined =>
    chain.find((link) => link.kind === kind && link.state === 'bad')
  if (called === undefined) {
    // Whether a driver is there is not known where nobody looked for sockets.
    return sockets.length > 0 || badLink('Socket') !== undefined ? { code: 'DriverUnavailable' } : undefined
  }
  if (called.error !== undefined)
    return {
      code: 'DriverRegistration',
      message: `CSI driver ${name} answers, but is not registered with the kubelet: ${called.error}`,
    }
  if (csiNode?.listed === false && badLink('CSINode') !== undefined)
    return {
      code: 'DriverRegistration',
      message: `CSI driver ${name} answers, and the CSINode object of this node does not list it`,
    }
  const twice = badLink('Registration')
  return (
    twice && {
      code: 'DriverRegistration',
      message: `CSI driver ${name} has two sockets, and ${twice.name} is not the one in use: ${twice.says}`,
    }
  )
}

function dependingText({ dependents }: DriverView): string {
  const { staged, published, attachments, waiting } = dependents
  const parts = [
    ...(staged.length === 0 ? [] : [`${staged.length} staged`]),
    ...(published.length === 0 ? [] : [`${published.length} published`]),
    ...(attachments.length === 0 ? [] : [`${attachments.length} attached`]),
    ...(waiting.length === 0 ? [] : [`${waiting.length} waited for`]),
  ]
  return parts.length === 0 ? '' : `; volumes that depend on the driver: ${parts.join(', ')}`
}

/** Where to look next: at the driver's own pod, by name. */
export function driverAdvice(view: DriverView, { state }: Verdict): Advice[] {
  if (state !== 'problem' || !isExpected(view)) return []
  const pods = view.pods.filter(({ pod }) =>
    [pod.namespace, pod.name].every((each) => each !== undefined && isPlainWord(each)),
  )
  const commands = pods.map(({ pod }) => {
    const which = `-n ${pod.namespace} ${pod.name}`
    return `Look at the driver's pod: kubectl describe pod ${which}; kubectl logs ${which} --all-containers`
  })
  if (commands.length > 0) return commands.map((text) => ({ text }))
  return answering(view) === undefined
    ? [
        {
          text: `No pod of this node has ${view.name}'s directory: see whether its DaemonSet is to run here (kubectl get daemonset -A).`,
        },
      ]
    : []
}
