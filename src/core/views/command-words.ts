/**
 * Command lines inside prose, which are not to be broken on a screen: what stands on two lines cannot be copied. A command
 * begins with a program that volctl advises people to use, and ends before the sentence goes on.
 */

/** A program, and the words after it with which it is a command and no noun ("volctl leaves", "mount points"). */
const PROGRAMS: Readonly<Record<string, RegExp>> = {
  volctl: /^(?:apply|check|completion|doctor|explain|journal|plan|snapshot|status|version|wait)\b/,
  systemctl: /^(?:cat|restart|start|status|stop)$/,
  kubectl: /^(?:annotate|auth|config|cordon|delete|describe|drain|edit|get|label|logs|patch|taint|uncordon|volctl)$/,
  crictl: /^[a-z]+$/,
  journalctl: /^-/,
  findmnt: /^[-/]/,
  fsck: /^[-/]/,
  iscsiadm: /^-/,
  losetup: /^-/,
  lsblk: /^-/,
  ls: /^-/,
  mount: /^-/,
  multipath: /^-/,
  nsenter: /^-/,
  umount: /^[-/]/,
  dmsetup: /^[a-z]+$/,
  kill: /^\d/,
}

/** Words of the sentence around it. */
const PROSE =
  /^(?:a|again|all|and|are|as|before|by|carries|detaches|does|first|for|has|here|if|in|instead|is|lists|may|needs|of|on|once|or|plans|prints|reads|says|shows|tells|that|the|then|there|to|until|what|when|which|with|works)$/

export interface Chunk {
  readonly text: string
  readonly isCommand: boolean
}

/** The words of a text; a command is one. Joined by blanks they are the text again. */
export function chunksOf(text: string): readonly Chunk[] {
  const words = text.split(' ')
  const chunks: Chunk[] = []
  for (let from = 0; from < words.length; ) {
    const to = endOfCommand(words, from)
    chunks.push({ text: words.slice(from, to).join(' '), isCommand: to > from + 1 })
    from = to
  }
  return chunks
}

/** @returns where the command ends that begins here; one further than `from`: none does */
function endOfCommand(words: readonly string[], from: number): number {
  const program = words[from]?.replace(/^\(/, '') ?? ''
  const begins = Object.hasOwn(PROGRAMS, program) ? PROGRAMS[program] : undefined
  if (begins?.test(words[from + 1] ?? '') !== true) return from + 1
  let to = from + 1
  while (
    to < words.length &&
    !endsPart(words[to - 1]) &&
    !PROSE.test(words[to] ?? '') &&
    !(words[to] ?? '').startsWith('(')
  )
    to += 1
  return to
}

/** Behind a word with a mark the sentence goes on. */
function endsPart(word = ''): boolean {
  return /[).,;:]$/.test(word)
}
