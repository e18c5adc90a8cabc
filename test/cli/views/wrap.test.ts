import { describe, expect, it } from 'vitest'
import { chunksOf, screenLines, wrapped } from '../../../src/core/views/screen.ts'

const commandsIn = (text: string): string[] => chunksOf(text).flatMap((each) => (each.isCommand ? each.text : []))

describe('command lines in prose', () => {
  it.each<[string, readonly string[]]>([
    [
      'Stop the pod: crictl pods --label a=b -q | xargs -r crictl stopp',
      ['crictl pods --label a=b -q | xargs -r crictl stopp'],
    ],
    [
      'or volctl apply --volume pv-y3 once the kubelet is stopped (systemctl stop k3s.service).',
      ['volctl apply --volume pv-y3', '(systemctl stop k3s.service).'],
    ],
    [
      'volctl plan --orphans shows it, volctl apply --orphans carries it out.',
      ['volctl plan --orphans', 'volctl apply --orphans'],
    ],
    ['See kubectl describe pvc data -n shop. Only this pod waits.', ['kubectl describe pvc data -n shop.']],
    ['Of volctl plan --pod a: names follow', ['volctl plan --pod a:']],
    [
      '(kubectl get pods -A --field-selector spec.nodeName=a), or wait',
      ['(kubectl get pods -A --field-selector spec.nodeName=a),'],
    ],
    ['volctl leaves the volume alone; findmnt shows mount points; kubectl and volctl know it', []],
    ["Then: volctl plan --lazy '/a. b/it'\\''s' --orphans", ["volctl plan --lazy '/a. b/it'\\''s' --orphans"]],
    ["Look (findmnt $'/a b\\x0a, c'), and wait", ["(findmnt $'/a b\\x0a, c'),"]],
    ['staged mount /var/lib/kubelet/a of the pod', []],
    ['the constructor toString of it', []],
    ['', []],
  ])('%s', (text, commands) => {
    expect(commandsIn(text)).toEqual(commands)
    expect(
      chunksOf(text)
        .map((each) => each.text)
        .join(' '),
    ).toBe(text)
  })
})

describe('on a terminal', () => {
  it('a command that is longer than a line has one of its own, whole', () =>
    expect(
      wrapped(
        '  -> ',
        'Stop the pod first: crictl pods --label uid=1234 -q | xargs -r crictl stopp; then plan again.',
        40,
      ),
    ).toBe(`  -> Stop the pod first:
     crictl pods --label uid=1234 -q | xargs -r crictl stopp;
     then plan again.
`))

  it('a short one is not broken', () =>
    expect(wrapped('', 'Wait until the kubelet is stopped (systemctl stop k3s.service).', 40)).toBe(
      'Wait until the kubelet is stopped\n(systemctl stop k3s.service).\n',
    ))

  it('without the mark behind it, which would be copied too', () =>
    expect(wrapped('', 'See why: kubectl describe pvc data-database-0 -n shop. Wait.', 30)).toBe(
      'See why:\nkubectl describe pvc data-database-0 -n shop\nWait.\n',
    ))

  it.each([
    { text: `crictl pods ${'--label uid=1234 '.repeat(20)}-q.`, width: undefined },
    { text: 'word '.repeat(6).trim(), width: 22, want: '- word word word word\n  word word\n' },
    { text: `see ${'/long'.repeat(10)} there`, width: 22, want: `- see\n  ${'/long'.repeat(10)}\n  there\n` },
    { text: 'a\nb\u001b[31m', width: 40, want: '- a\\nb\\x1b[31m\n' },
  ])(
    'hangs under its beginning, paths whole, and in a pipe all of it: $want',
    ({ text, width, want = `- ${text}\n` }) => expect(wrapped('- ', text, width)).toBe(want),
  )
})

it.each([
  { text: 'a\nb\n', width: 80, want: 2 },
  { text: `${'x'.repeat(161)}\n`, width: 80, want: 3 },
  { text: `${'x'.repeat(161)}\n`, width: undefined, want: 1 },
  { text: `\u001b[31m${'x'.repeat(80)}\u001b[39m\n`, width: 80, want: 1 },
  { text: '\n', width: 80, want: 1 },
  { text: '', width: 80, want: 0 },
])('lines on a terminal of $width: $want', ({ text, width, want }) => expect(screenLines(text, width)).toBe(want))
