/** `volctl explain 'LINE'`: the node is looked at first, since a look may begin volctl again (S6), then standard input is read. */

import type { Explained } from '../explain/explain.ts'
import type { Explanation } from '../explain/explanation.ts'
import { splitPrefix } from '../explain/kinds.ts'
import { type AskedNode, explainLine } from '../explain/log-lines/explain-line.ts'
import { MAX_LINE_CHARS, parseLine } from '../explain/log-lines/log-line.ts'
import { saidBy } from '../explain/log-lines/sentences.ts'
import { unreadText } from '../messages/disk-trouble.ts'
import { marked, said, usageError, VolctlError } from '../messages/findings.ts'
import { readSource } from '../plan/documents/document-frame.ts'
import { renderLine } from '../views/line-view.ts'
import { namesOfLine, type Screen } from '../views/screen.ts'
import type { Refusable } from './carry-out.ts'

/** A node that was looked at, and what is said of its things. */
export interface LookedNode extends AskedNode {
  /** With those that hold the thing open, where the node is the live one. */
  readonly whole: (explained: Explained) => Promise<Explanation>
}

export interface Answered extends Refusable {
  readonly value: object
  readonly draw: (screen: Screen) => string
  /** For `-o name`. */
  readonly names: readonly string[]
  /** Why what a line names was looked for nowhere: the command's end only where a flag said where to look. */
  readonly unseen?: VolctlError
}

/** "/a/b: recovering …" is what fsck(8) and others say of it. */
const NAME_OF_SPACES = /^(?:\/(?!\S+: )|kubernetes\.io\/[a-z-]+\/)/

/** Is it a line of a log, and no name of something: names have no blanks, but for paths and a few plugins' volumes. */
export function isLine(text: string): boolean {
  const trimmed = text.trim()
  if (!/\s/.test(trimmed)) return trimmed.startsWith('{') && trimmed.endsWith('}')
  if (!NAME_OF_SPACES.test(trimmed) && splitPrefix(trimmed).kind === undefined) return true
  return saidBy(parseLine(trimmed)) !== undefined
}

/**
 * @param typed the line, or "-" for one on standard input
 * @param look throws VolctlError where the node cannot be looked at: what a sentence means is worth knowing also then
 * @throws VolctlError NotFound for a line that says and names nothing; Usage for several lines; what the look throws, where nobody
 *   knows the line
 */
export async function lineAnswer(typed: string, look: () => Promise<LookedNode>): Promise<Answered> {
  const looked = await look().catch((error: unknown) => {
    // What is thrown to begin volctl again in another namespace is no failure.
    if (error instanceof VolctlError) return error
    throw error
  })
  const [node, unseen] = looked instanceof VolctlError ? [undefined, looked] : [looked, undefined]
  const { answer, explained } = explainLine(parseLine(oneLine(typed === '-' ? await readInput() : typed)), node)
  if (answer.sentence === undefined && unseen !== undefined) throw unseen
  if (answer.sentence === undefined && answer.otherNode === undefined && answer.names.length === 0)
    throw new VolctlError(said('NotFound.line'), {
      hint: marked(
        'Paste the whole line, with quotes around it; or give a pod, volume, path or device: see `volctl explain --help`',
      ),
    })
  const explanation = node && explained && (await node.whole(explained))
  const value = { ...answer, explanation }
  return {
    value,
    draw: (screen) => renderLine(value, screen),
    names: namesOfLine(value),
    unseen,
    refused: explanation?.refused,
  }
}

/** klog writes a value of several rows with a tab before each; mount-utils the command and its output below what failed. */
const GOES_ON = /^(?:\s| >|(?:Unm|M)ounting (?:command|arguments): |Output: )/

/** @throws VolctlError Usage for several lines: what one says is no cause of another */
function oneLine(text: string): string {
  const [first = '', ...rows] = text.trim().split('\n')
  const others = rows.filter((row) => row.trim() !== '' && !GOES_ON.test(row))
  if (others.length === 0) return [first, ...rows].join('\n')
  throw usageError('Usage.lines', 'Give the one that you ask about.', { count: others.length + 1 })
}

const INPUT_LIMITS = { maxBytes: 4 * MAX_LINE_CHARS, pipeMs: 50_000 }

/** @throws VolctlError FileUnreadable */
async function readInput(): Promise<string> {
  try {
    return (await readSource('-', INPUT_LIMITS)).bytes.toString()
  } catch (error) {
    throw new VolctlError(said('FileUnreadable.input', { why: unreadText(error) }), {
      cause: error,
      hint: marked('Give one line: `journalctl -u kubelet | grep orphaned | tail -n 1 | volctl explain -`'),
    })
  }
}
