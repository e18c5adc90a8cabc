import { expect, it } from 'vitest'
import { advice, commandLine, type Hint, kubectl, PIPE, volctl } from '../../../src/core/messages/command.ts'
import { screenLines, wrapped } from '../../../src/core/views/screen.ts'

const STOP = commandLine('systemctl', 'stop', 'k3s.service')
const SANDBOX = commandLine('crictl', 'pods', '--label', 'uid=1234', '-q', PIPE, 'xargs', '-r', 'crictl', 'stopp')

it.each<{ of: string; text: Hint; lines: readonly string[] }>([
  {
    of: 'a command that is longer than a line has one of its own, whole',
    text: advice`Stop the pod first: ${SANDBOX}; then plan again.`,
    lines: ['Stop the pod first:', 'crictl pods --label uid=1234 -q | xargs -r crictl stopp;', 'then plan again.'],
  },
  {
    of: 'a short one is not broken, with what stands at it',
    text: advice`Wait until the kubelet is stopped (${STOP}), then plan.`,
    lines: ['Wait until the kubelet is stopped', '(systemctl stop k3s.service), then plan.'],
  },
  {
    of: 'without the mark behind it, which would be copied too',
    text: advice`See why: ${kubectl('describe', 'pvc', '-n', 'shop', 'data-database-0')}. Wait.`,
    lines: ['See why:', 'kubectl describe pvc -n shop data-database-0', 'Wait.'],
  },
  {
    of: 'with blanks in its names',
    text: advice`Then: ${volctl('plan', '--lazy', "/a. b/it's")}${advice` or ${volctl('plan', 'a\nb, c')}`}`,
    lines: ["Then: volctl plan --lazy '/a. b/it'\\''s'", "or volctl plan $'a\\x0ab, c'"],
  },
])('on a terminal: $of', ({ text, lines }) => {
  expect(wrapped('', text, 41)).toBe(lines.map((line) => `${line}\n`).join(''))
  expect(wrapped('', text, undefined)).toBe(`${text}\n`)
  expect(wrapped('  -> ', text, 46)).toBe(
    lines.map((line, index) => `${index === 0 ? '  -> ' : '     '}${line}\n`).join(''),
  )
})

it.each([
  { text: `crictl pods ${'--label uid=1234 '.repeat(20)}-q.`, width: undefined },
  { text: 'word '.repeat(6).trim(), width: 22, want: '- word word word word\n  word word\n' },
  { text: `see ${'/long'.repeat(10)} there`, width: 22, want: `- see\n  ${'/long'.repeat(10)}\n  there\n` },
  { text: 'a\nb\u001b[31m', width: 40, want: '- a\\nb\\x1b[31m\n' },
])(
  'on a terminal: hangs under its beginning, paths whole, and in a pipe all of it: $want',
  ({ text, width, want = `- ${text}\n` }) => expect(wrapped('- ', text, width)).toBe(want),
)

it.each([
  { text: 'a\nb\n', width: 80, want: 2 },
  { text: `${'x'.repeat(161)}\n`, width: 80, want: 3 },
  { text: `${'x'.repeat(161)}\n`, width: undefined, want: 1 },
  { text: `\u001b[31m${'x'.repeat(80)}\u001b[39m\n`, width: 80, want: 1 },
  { text: '\n', width: 80, want: 1 },
  { text: '', width: 80, want: 0 },
])('lines on a terminal of $width: $want', ({ text, width, want }) => expect(screenLines(text, width)).toBe(want))
