/**
 * Command lines inside prose, as a reader finds them: a command begins with a program that volctl advises people to use, and ends before
 * the sentence goes on.
 */

/** Each program with what may follow: behind other words it is a noun ("volctl leaves", "mount points"). */
const BEGINS = [
  'volctl (?:apply|check|completion|doctor|explain|journal|plan|snapshot|status|wait)\\b',
  'kubectl (?:annotate|auth|config|cordon|delete|describe|drain|edit|get|label|logs|patch|taint|uncordon|volctl)(?: |$)',
  'systemctl (?:cat|list-\\S+|mask|restart|start|status|stop)(?: |$)',
  '(?:crictl|dmsetup) [a-z]+(?: |$)',
  "(?:blockdev|exportfs|findmnt|fsck|lsblk|mkfs\\S*|nsenter|pgrep|swapoff|umount) [-/$']",
  '(?:iscsiadm|journalctl|losetup|ls|mount|multipath|ps) -',
  'kill \\d',
].join('|')

/** Words of the sentence around it. */
const PROSE =
  'a again all and are as before by carries detaches does first for has here if in instead is lists may needs of on once or plans prints reads says shows tells that the then there to until what when which with works'

/** One in quotes may have blanks (messages/command.ts). */
const WORD = String.raw`(?:\$'[^']*'|'[^']*'(?:\\''[^']*')*)?\S*`

/** A word; a command to a mark of the sentence, a word of it, or a parenthesis. */
const CHUNK = new RegExp(
  String.raw`(?<=^| )(?:(?<command>(?=\(?(?:${BEGINS}))\S+(?:(?<![).,;:]) (?!\(|(?:${PROSE.replaceAll(' ', '|')})(?: |$))${WORD})+)|[^ ]*)`,
  'g',
)

/** The words of a text; a command is one. Joined by blanks they are the text again. */
export function chunksOf(text: string) {
  return Array.from(text.matchAll(CHUNK), ({ 0: words, groups }) => {
    return { text: words, isCommand: groups?.command !== undefined }
  })
}
