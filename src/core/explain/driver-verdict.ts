/** What is wrong with a CSI driver, in one line, and where to look. */

import type { ProblemCode } from '../codes/codes.ts'
import { isPlainWord } from '../lang/plain-word.ts'
import type { NextStep } from '../plan/plan.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import { whyNoDriver } from '../reconcile/drivers/why-no-driver.ts'
import { answering, isExpected } from './driver-chain.ts'
import type { DriverView, Link, Verdict } from './explanation.ts'

/** @returns undefined: it works, as far as is known, or is not meant to be here */
export function brokenDriver(context: PlanContext, view: DriverView, chain: readonly Link[]): Verdict | undefined {
  const found = isExpected(view) ? faultOf(view, chain) : undefined
  if (found === undefined) return undefined
  const { code, message = whyNoDriver(context, view.name) } = found
  return { state: 'problem', message, code }
}

export function whyFine(view: DriverView): string {
  const { published, staged } = view.dependents
  if (!isExpected(view)) return 'the driver is not on this node, and nothing here depends on it'
  return `the driver answers and is registered; ${staged.length} of its volumes are staged, ${published.length} published`
}

interface Fault {
  readonly code: ProblemCode
  /** Absent: why the driver cannot be called. */
  readonly message?: string
}

function faultOf({ name, sockets, csiNode }: DriverView, chain: readonly Link[]): Fault | undefined {
  const badLink = (kind: Link['kind']): Link | undefined =>
    chain.find((link) => link.kind === kind && link.state === 'bad')
  const called = sockets.find(({ answers }) => answers)
  // Whether a driver is there is not known where nobody looked for sockets.
  if (called === undefined)
    return sockets.length > 0 || badLink('Socket') !== undefined ? { code: 'DriverUnavailable' } : undefined
  const twice = badLink('Registration')
  const says =
    called.error !== undefined
      ? `is not registered with the kubelet: ${called.error}`
      : csiNode?.listed === false && badLink('CSINode') !== undefined
        ? 'the CSINode object of this node does not list it'
        : twice && `${twice.name} is not the socket in use: ${twice.says}`
  return says === undefined
    ? undefined
    : { code: 'DriverRegistration', message: `CSI driver ${name} answers, but ${says}` }
}

/** The driver's own pod, by name. */
export function driverNotes(view: DriverView): string[] {
  const names = podsOf(view).map(({ namespace, name }) => `-n ${namespace} ${name}`)
  if (names.length > 0)
    return names.map((name) => `the driver's pod: kubectl describe pod ${name}; kubectl logs ${name} --all-containers`)
  return answering(view) === undefined ? [`${noPodOf(view)} (kubectl get daemonset -A)`] : []
}

/** What the notes say, as what to type next: with a kubelet that runs nothing else brings the pod back. */
export function driverSteps(view: DriverView): NextStep[] {
  const [own] = podsOf(view)
  if (own !== undefined) {
    const { namespace, name } = own
    return [
      {
        command: `kubectl -n ${namespace} describe pod ${name}`,
        why: "why the driver's pod does not run as it should",
      },
      { command: `kubectl -n ${namespace} logs ${name} --all-containers`, why: 'what the driver says' },
    ]
  }
  return answering(view) === undefined ? [{ command: 'kubectl get daemonset -A', why: noPodOf(view) }] : []
}

function podsOf({ pods }: DriverView): { readonly namespace: string; readonly name: string }[] {
  return pods.flatMap(({ pod: { namespace = '', name = '' } }) =>
    isPlainWord(namespace) && isPlainWord(name) ? [{ namespace, name }] : [],
  )
}

function noPodOf({ name }: DriverView): string {
  return `no pod of this node has ${name}'s directory: see whether its DaemonSet is to run here`
}
