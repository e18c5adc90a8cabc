import { join } from 'node:path'
import { Args } from '@oclif/core'
import { type LoadedNode, loadNode } from '../core/cli/load-node.ts'
import { apiFlags, nodeChoice, nodeFlags, snapshotFlag } from '../core/cli/node-flags.ts'
import { refusalOf } from '../core/cli/plan-exit-status.ts'
import { planFlags, planOptions } from '../core/cli/plan-flags.ts'
import { type OutputFormat, outputFlag, VolctlCommand, verboseFlag } from '../core/cli/volctl-command.ts'
import { VolctlError } from '../core/errors/errors.ts'
import { type Explained, explain } from '../core/explain/explain.ts'
import { explainRule } from '../core/explain/explain-rule.ts'
import type { Explanation } from '../core/explain/explanation.ts'
import { NOTHING_TO_HOLD } from '../core/explain/not-asked.ts'
import { looksLikeRule } from '../core/explain/rule-book.ts'
import { withHolders } from '../core/explain/with-holders.ts'
import { containerNames } from '../core/holders/container-names.ts'
import { liveHolders } from '../core/holders/live-holders.ts'
import { ownCommand } from '../core/processes/own-child.ts'
import { isInInitialPidNamespace } from '../core/processes/standing.ts'
import { typedPath } from '../core/trust/caller.ts'
import { readPlain } from '../core/trust/plain-files.ts'
import { renderExplanation } from '../core/views/explain-view.ts'
import { renderRule } from '../core/views/rule-view.ts'

const MAPS_DEADLINE_MS = 5000
const MOST_OF_RULES = 1 << 20

/** Where /proc is another one than the node's; the obstacle may also say that it could not be told. */
function elsewhere(standing: LoadedNode['standing']): string[] {
  if (isInInitialPidNamespace()) return []
  return standing.filter(({ code }) => code === 'PidNamespace').map(({ message, hint }) => `${message}. ${hint}`)
}

const WHAT_THERE_IS =
  'Give a pod (NAMESPACE/NAME), a UID, a claim, PersistentVolume, VolumeAttachment, volume, path or device: see volctl explain --help.'

/** Those of plan that change what it would do; what narrows a plan would only hide a part of the answer. */
const {
  only: _only,
  skip: _skip,
  pod: _pod,
  volume: _volume,
  'ignore-not-found': _ignoreNotFound,
  max: _max,
  ...whatIf
} = planFlags

export default class Explain extends VolctlCommand {
  static override summary =
    'Say all that is known about one pod, claim, volume, attachment, mount, path or device, or what a rule says.'
  static override description =
    'Reads the node and the API as plan does, and answers for one thing: what it is and where that was learned, who ' +
    'wants it, what there is of it, why it is in its state, what volctl would do and by which rule, who holds it, and ' +
    'what to do. Nothing is changed, on the node or in the cluster. Without root the answer is the same, but for what ' +
    'only root may read; from a snapshot it is the same but for who holds it.'
  static override usage = 'explain WHAT [FLAGS]'
  static override args = {
    what: Args.string({
      name: 'WHAT',
      // Else oclif would take a line of standard input for it.
      ignoreStdin: true,
      description:
        'NAMESPACE/POD or a UID; the name of a claim, PersistentVolume, VolumeAttachment or volume; an absolute path; ' +
        '/dev/NAME or MAJOR:MINOR. Before a name that several things have: pod/, pvc/, pv/, va/, volume/, device/, path/. Or the number of a rule, ' +
        'such as S11, which is looked up offline.',
    }),
  }
  static override examples = [
    { description: 'Why does this pod hang in Terminating:', command: '<%= config.bin %> explain shop/web-0' },
    {
      description: 'What is this orphaned directory, and who holds it:',
      command: '<%= config.bin %> explain /var/lib/kubelet/pods/c2d7ef9e-7d5c-4d0e-9c1f-2f6f3c0e5f0d',
    },
    { description: 'A claim, or the volume behind it:', command: '<%= config.bin %> explain pvc/shop/data' },
    {
      description: 'Why is it still attached, by a snapshot of the node:',
      command: '<%= config.bin %> explain pv/pvc-123 --snapshot node.json',
    },
    { description: 'What a rule says, offline:', command: '<%= config.bin %> explain S11' },
    {
      description: 'What would be done if its data may go:',
      command: '<%= config.bin %> explain shop/web-0 --orphans',
    },
  ]
  static override flags = {
    output: outputFlag(),
    snapshot: snapshotFlag('Explain'),
    verbose: verboseFlag('Say on standard error what was read, how long it took, and each decision with its rule.'),
    ...apiFlags,
    ...nodeFlags,
    ...whatIf,
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Explain)
    if (args.what === undefined || args.what.trim() === '')
      throw new VolctlError('Usage', 'WHAT is missing', { hint: WHAT_THERE_IS })
    const { isTTY, columns } = process.stdout
    const width = isTTY === true ? columns : undefined
    if (await this.#rule(args.what, flags.output as OutputFormat, width)) return
    const options = planOptions(flags, this.config.version)
    const state = await loadNode(nodeChoice(flags), flags.snapshot, (line) => this.detail(line), 'all')
    const explained = explain(state, options, typedPath(args.what))
    const answer = flags.snapshot === undefined ? await this.#live(state, explained) : explained.explanation
    for (const { path, rule, why } of explained.explanation.decisions) this.detail(`${rule}: ${path}: ${why}`)
    await this.answer(answer, flags.output as OutputFormat, (wide, paint) =>
      renderExplanation(answer, paint, wide, width),
    )
    const refusal = refusalOf(answer)
    if (refusal !== undefined) throw refusal
  }

  /** The number of a rule needs neither node nor API; where there is no such rule, it may be the name of something. */
  async #rule(what: string, format: OutputFormat, width: number | undefined): Promise<boolean> {
    if (!looksLikeRule(what)) return false
    const books = readPlain(join(this.config.root, 'dist', 'rules.md'), MOST_OF_RULES)
    const rule = explainRule(what, books.toString('utf8'))
    if (rule === undefined) return false
    await this.answer(rule, format, (_wide, paint) => renderRule(rule, paint, width))
    return true
  }

  /** Holders are no part of a snapshot: who they are is asked now. */
  async #live({ mounts, snapshot, standing }: LoadedNode, explained: Explained): Promise<Explanation> {
    const { explanation, ...held } = explained
    if (held.heldAt.length + held.devices.length + held.content.length === 0)
      return { ...explanation, holders: NOTHING_TO_HOLD }
    const loops = (snapshot.blockDevices ?? []).flatMap(({ name, backingFile }) =>
      backingFile === undefined ? [] : [{ device: name, backingFile }],
    )
    const maps = { command: ownCommand('map-reader'), deadlineMs: MAPS_DEADLINE_MS }
    const found = await liveHolders(held, { table: mounts, loops, maps })
    this.detail(`holders: ${found.processes.length} of processes, ${found.namespaces.length} mount namespaces`)
    const unseen = [...elsewhere(standing), ...found.unseen]
    return withHolders(explanation, { ...found, unseen }, containerNames(snapshot))
  }
}
