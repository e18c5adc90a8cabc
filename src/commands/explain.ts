import type { Interfaces } from '@oclif/core'
import { requireUnrefused } from '../core/cli/carry-out.ts'
import { givenBy } from '../core/cli/command-context.ts'
import { argument, explainFlags } from '../core/cli/flags.ts'
import type { Answered, LookedNode } from '../core/cli/line-answers.ts'
import { type LoadedNode, loadNode } from '../core/cli/live-node.ts'
import { planOptions } from '../core/cli/options.ts'
import { sayError } from '../core/cli/report-error.ts'
import { examples, VolctlCommand } from '../core/cli/volctl-command.ts'
import { type Explained, explainer, withHolders } from '../core/explain/explain.ts'
import { explainCode } from '../core/explain/explain-code.ts'
import type { Explanation } from '../core/explain/explanation.ts'
import { typedQuestion } from '../core/explain/kinds.ts'
import { ownCommand } from '../core/linux/own-child.ts'
import { SCAN_MS } from '../core/linux/scan-limits.ts'
import { isInInitialPidNamespace } from '../core/linux/standing.ts'
import { usageError } from '../core/messages/findings.ts'
import { typedPath } from '../core/trust/run.ts'
import { containerNames } from '../core/users/find-holders.ts'
import { liveHolders } from '../core/users/live-holders.ts'
import { hostPathsOf } from '../core/users/mount-uses.ts'
import { renderCode, renderExplanation } from '../core/views/explain-view.ts'
import { subjectName } from '../core/views/screen.ts'
import { isTerminalPhase } from '../core/volumes/pods.ts'

const WHAT_THERE_IS =
  'Give a pod (NAMESPACE/NAME), a UID, a claim, PersistentVolume, VolumeAttachment, volume, driver, path, device or code: see volctl explain --help'

/** A sentence has blanks, or is JSON; - is one on standard input: for names the tables of sentences are not loaded. */
const MAY_BE_LINE = /\s|^\{|^-$/

/** Where to look: a person who gives one wants it looked at. */
const PLACES = ['snapshot', 'kubeconfig', 'context', 'node', 'root-dir'] as const

type ExplainFlags = Interfaces.InferredFlags<typeof Explain.flags>

export default class Explain extends VolctlCommand {
  static override summary =
    'Explain one pod, claim, volume, attachment, driver, mount, path or device: its state, and why; or a code.'
  static override description =
    'Reads the node and the API server as plan does and explains one thing: what is worst about it, the chain from claim ' +
    'to mount with each link marked good, bad or unknown, what volctl would do, what holds it open, and what to do next; ' +
    '-o wide also what it is and where that is recorded, and the path of each link. Changes nothing, on the node or in the cluster. Without root, the answer lacks what only root ' +
    'can read; from a snapshot, it lacks what holds the thing open. For a code it ' +
    'says what the code means, where it appears and what to do next, offline.'
  static override usage = 'explain WHAT [NAME] [FLAGS]'
  static override args = {
    what: argument(
      'WHAT',
      'NAMESPACE/POD or a UID; the name of a claim, PersistentVolume, VolumeAttachment or volume; an absolute path; ' +
        '/dev/NAME or MAJOR:MINOR; a CSI driver. If several things have the name, prefix it: pod/, pvc/, pv/, va/, driver/, volume/, device/, path/. ' +
        'Or a line of a log or an event, in quotes, or - for one on standard input; a code, such as DriverUnavailable.',
    ),
    name: argument(
      'NAME',
      'The name of the thing, if WHAT is a kind (pod, pvc, pv, va, driver, volume, device, mount, path).',
    ),
  }
  static override examples = examples({
    'Why a pod hangs in Terminating:': '$ explain shop/web-0',
    'What an orphaned directory belongs to, and what holds it open:':
      '$ explain /var/lib/kubelet/pods/c2d7ef9e-7d5c-4d0e-9c1f-2f6f3c0e5f0d',
    'The same as kubectl has it:': '$ explain pod web-0 -n shop',
    'Why a CSI driver cannot be called, and what depends on it:': '$ explain driver/disk.example.com',
    'A claim, or the volume behind it:': '$ explain pvc/shop/data',
    'Why a volume is still attached, from a snapshot of the node:': '$ explain pv/pvc-123 --snapshot node.json',
    "What a line of the kubelet's log means, and what it is about on this node:": `$ explain 'orphaned pod "c2d7ef9e-…" found, but volume paths are still present on disk'`,
    'What a code means, and what to do:': '$ explain DriverUnavailable',
    'What apply --orphans would do about a pod:': '$ explain shop/web-0 --orphans',
  })
  static override flags = explainFlags

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Explain)
    if (args.what === undefined || args.what.trim() === '')
      throw usageError('Usage.missing', WHAT_THERE_IS, { name: 'WHAT' })
    if (args.what === '-' && flags.snapshot === '-') throw usageError('Usage.input', 'Save the snapshot to a file.')
    const words = [args.what, args.name].filter((word) => word !== undefined)
    const { value, draw, names, refused, unseen } = await this.#answerTo(words, flags)
    await this.answer(value, flags.output, draw, names)
    if (unseen !== undefined && PLACES.some((flag) => flags[flag])) throw unseen
    // A sentence that is understood is an answer, on a machine without a kubelet, too.
    if (unseen !== undefined) await sayError(unseen, this.argv)
    requireUnrefused({ refused })
  }

  /** A line of a log, a code, a thing of this node. */
  async #answerTo(words: readonly string[], flags: ExplainFlags): Promise<Answered> {
    const [what = '', ...more] = words
    if (MAY_BE_LINE.test(what.trim())) {
      const { isLine, lineAnswer } = await import('../core/cli/line-answers.ts')
      if (what === '-' || isLine(what)) return await lineAnswer(what, this.#node(flags))
    }
    const code = more.length === 0 ? explainCode(what) : undefined
    if (code !== undefined) return { value: code, draw: (screen) => renderCode(code, screen), names: [what] }
    return await this.#onNode(typedQuestion(words, flags.namespace), flags)
  }

  async #onNode(what: string, flags: ExplainFlags): Promise<Answered> {
    const { explain, whole } = await this.#node(flags)()
    const explained = explain(typedPath(what))
    const value = await whole(explained)
    for (const { path, rule, why } of explained.decisions) this.detail(`${rule}: ${path}: ${why}`)
    const place = flags.snapshot === undefined ? undefined : value.node
    return {
      value,
      draw: (screen) => renderExplanation(value, screen, place),
      names: [subjectName(value.subject)],
      refused: value.refused,
    }
  }

  /** @throws VolctlError Usage at once, of flags: what looks throws what a look does */
  #node(flags: ExplainFlags): () => Promise<LookedNode> {
    // What narrows a plan would only hide a part of the answer.
    const all = { ...flags, namespace: undefined }
    const options = planOptions(all, this.config.version)
    const given = givenBy(all, options.settleMs)
    return async () => {
      const state = await loadNode(flags, this.detail, options, 'all')
      return {
        state,
        explain: explainer(state.decided, given),
        whole: (explained) => this.#whole(state, explained, flags),
      }
    }
  }

  /** Holders are no part of a snapshot: who they are is asked now. */
  async #whole(
    { mounts, snapshot, standing }: LoadedNode,
    { explanation, ...held }: Explained,
    flags: ExplainFlags,
  ): Promise<Explanation> {
    if (flags.snapshot !== undefined) return explanation
    if (held.heldAt.length + held.devices.length + held.content.length === 0) return explanation
    const reader = { command: ownCommand('process-reader'), deadlineMs: SCAN_MS.toTell }
    const { pods = [], persistentVolumes } = snapshot.api ?? {}
    const going = pods.filter((pod) => !isTerminalPhase(pod))
    const named = hostPathsOf(going, persistentVolumes)
    const found = await liveHolders(held, { table: mounts, named, reader })
    this.detail(`holders: ${found.processes.length} of processes, ${found.namespaces.length} mount namespaces`)
    // Where /proc is not the node's; the obstacle may also say that this is unknown.
    const hiding = isInInitialPidNamespace() ? [] : standing.filter(({ hidesProcesses }) => hidesProcesses)
    const unseen = [...hiding.map(({ message, hint }) => ({ text: `${message}. ${hint}`, hint })), ...found.unseen]
    return withHolders(explanation, { ...found, unseen }, containerNames(snapshot))
  }
}
