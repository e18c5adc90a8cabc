/** Commands that a person is advised to type, as data; the flags in force are added here and nowhere else (S37). */
import { Advice, type Hint, PIPE, shellLine, type Word } from '../messages/command.ts'
import type { Cause } from './cause.ts'
import type { NextStep, PlanInputs, PlanSummary } from './plan.ts'

/** What the command lines of this run have to be typed with. */
export interface CommandContext {
  /** How volctl is called here: `kubectl volctl`. */
  readonly program?: string
  /** Words of the command line that `apply` needs as well: `--orphans`, `--pod`, `shop/web-0`. */
  readonly applyFlags: readonly string[]
  /** The same for a command that is typed on the node itself; given where volctl runs in a container. */
  readonly nodeFlags?: readonly string[]
  /** Words that a command which only looks needs as well: --kubeconfig, --root-dir. */
  readonly readFlags?: readonly string[]
  /** The file that all was read from, maybe on another machine. */
  readonly snapshot?: string
}

/** A step by the words of its command, without the flags in force. */
export interface Step extends Pick<NextStep, 'first' | 'why'> {
  readonly argv: readonly Word[]
  /** The kubelet is down meanwhile, and no Pod starts. */
  readonly onNode?: boolean
  /** `read`: the command is about all that there is, whatever was named. `none`: about nothing that would have to be read. */
  readonly flags?: 'read' | 'none'
}

/**
 * Where volctl runs in a container, what stops or starts the kubelet, and volctl meanwhile, is typed on the node. Of a snapshot, what
 * reads, reads the snapshot; what acts, acts on the node.
 *
 * @param node undefined: it is typed here
 */
export function typed({ argv, onNode, flags, ...step }: Step, context: CommandContext, node?: string): NextStep {
  const { words, isHere } = inForce({ argv, onNode, flags }, context, node)
  return { ...step, command: shellLine(words), ...(!isHere && { node }) }
}

/** The same of what lifts the causes; what is typed elsewhere stays as it is. */
export function withFlags<T extends Pick<PlanSummary, 'causes'>>(summary: T, context: CommandContext): T {
  const typedCause = (cause: Cause): Cause => ({ ...cause, remedy: cause.remedy.map((hint) => typedIn(hint, context)) })
  return { ...summary, causes: summary.causes?.map(typedCause) }
}

function typedIn(hint: Hint, context: CommandContext): Hint {
  if (typeof hint === 'string') return hint
  const parts = hint.parts.map((part) =>
    typeof part === 'string' || part.elsewhere
      ? part
      : { argv: inForce({ argv: part.argv, flags: 'read' }, context).words },
  )
  return new Advice(parts)
}

function inForce({ argv, onNode, flags }: Omit<Step, 'why'>, context: CommandContext, node?: string) {
  const { program = 'volctl', applyFlags, nodeFlags, readFlags = [], snapshot } = context
  const [first = '', verb = '', ...args] = argv
  const isOwn = first === 'volctl'
  const looks = isOwn && verb !== 'apply'
  const isHere = node === undefined || (snapshot === undefined ? nodeFlags === undefined || (isOwn && !onNode) : looks)
  const asked = onNode ? (nodeFlags ?? applyFlags) : applyFlags
  const given = flags === 'none' ? [] : flags === 'read' || verb === 'explain' ? readFlags : asked
  const from = looks && snapshot !== undefined && flags !== 'none' ? ['--snapshot', snapshot] : []
  const words: readonly Word[] = isOwn
    ? [...(isHere ? program.split(' ') : [first]), verb, ...given, ...args, ...from]
    : argv
  return { words, isHere }
}

/** What the kubelet is doing, and why it is said to. @param isWhole the same of one that is stopped */
export function kubeletText({ state, note, unit }: PlanInputs['kubelet'], isWhole: boolean): string {
  const more = state === 'stopped' && !isWhole ? undefined : (note ?? unit)
  return `${state === 'mayReturn' ? 'down, but may come back' : state}${more === undefined ? '' : ` (${more})`}`
}

/** The command that stops a pod's sandbox and with it the containers, without a kubelet. */
export function stopPod(uid: string): readonly Word[] {
  return ['crictl', 'pods', '--label', `io.kubernetes.pod.uid=${uid}`, '-q', PIPE, 'xargs', '-r', 'crictl', 'stopp']
}
