import { statSync, writeFileSync } from 'node:fs'
import { Flags } from '@oclif/core'
import { leaveNode, lookAtNode } from '../core/cli/live-node.ts'
import { apiFlags, nodeChoice, nodeFlags } from '../core/cli/node-flags.ts'
import { snapshotText, writeSnapshot } from '../core/snapshot/write-snapshot.ts'
import { callerPath } from '../core/trust/caller.ts'
import { terminalSafeJson } from '../core/views/terminal-safe.ts'
import { VolctlCommand } from '../core/volctl-command.ts'

export default class Snapshot extends VolctlCommand {
  static override summary = 'Write everything that a plan is computed from to one file. Changes nothing.'
  static override description =
    'Reads the API and the node as plan does, and writes it down as one JSON document with mode 0600, to be planned ' +
    'from on any machine with plan --snapshot. No secret leaves the node: of secrets, and of what was made from them, ' +
    'only digests under a key that is thrown away are kept.'
  static override usage = 'snapshot [-o FILE] [FLAGS]'
  static override examples = [
    { description: 'For a colleague, or for later:', command: '<%= config.bin %> snapshot -o node.json.gz' },
    { description: 'One section of it:', command: '<%= config.bin %> snapshot | jq .kubelet' },
  ]
  static override flags = {
    output: Flags.string({
      char: 'o',
      helpValue: 'FILE',
      summary: 'Write to FILE, compressed where its name ends in .gz; else to standard output.',
    }),
    ...apiFlags,
    ...nodeFlags,
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Snapshot)
    const node = await lookAtNode(nodeChoice(flags), { attributes: 'all', log: (line) => this.detail(line) })
    leaveNode(node)
    const { output } = flags
    if (output === undefined || output === '-') {
      const text = snapshotText(node.snapshot)
      this.output.write(process.stdout.isTTY === true ? terminalSafeJson(text) : text)
      await this.output.flush()
    } else if (isSpecial(callerPath(output))) {
      // A device or a pipe (/dev/null, /dev/stdout) is written to, never replaced.
      writeFileSync(callerPath(output), snapshotText(node.snapshot))
    } else {
      writeSnapshot(node.snapshot, callerPath(output))
      this.say(
        `wrote ${output}: ${node.snapshot.nodeName}, ${node.snapshot.api?.pods.length ?? 0} pods, ${node.mounts.size} mounts`,
      )
    }
  }
}

function isSpecial(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats !== undefined && !stats.isFile() && !stats.isDirectory()
}
