/** Kept examples of what a parser meets, and their mutations: seeded, so that a failure can be shown again and shrunk. */
import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'

const CORPUS = new URL('./corpus/', import.meta.url)

/** Files of one parser, by name; what a run has found is kept by putting it beside them. */
export function corpus(parser: string): { readonly name: string; readonly bytes: Buffer }[] {
  const directory = new URL(`${parser}/`, CORPUS)
  return readdirSync(directory)
    .toSorted()
    .map((name) => ({ name, bytes: readFileSync(new URL(name, directory)) }))
}

/** Pieces that mean something to one parser or another. */
const TOKENS = [
  ...[
    '\0',
    '\n',
    ' ',
    '\t',
    '\\',
    '\\040',
    '\\012',
    '\\134',
    '\\777',
    '/',
    '//deleted',
    ' (deleted)',
    '..',
    '-',
    ' - ',
    ':',
  ],
  ...[
    '"',
    "'",
    '{',
    '}',
    '[',
    ']',
    ',',
    '=',
    '$',
    '$A',
    '\u0024{A}',
    '#',
    '\\\n',
    '&a',
    '*a',
    '<<: *a',
    '!!js/function',
    '---\n',
  ],
  ...[
    '0',
    '-1',
    '9'.repeat(40),
    '1e999',
    '0x7f',
    'Ki',
    'null',
    'true',
    '[]',
    '{}',
    '__proto__',
    'constructor',
    '\u{1f600}',
    '\u202e',
  ],
  ...['kubepods', 'pod', '.slice', '-lun-', '--', 'kind', 'x'.repeat(5000), '['.repeat(2000)],
]

const mutation = fc.record({
  /** Where, as a part of the whole. */
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.nat(40),
  how: fc.constantFrom('insert', 'replace', 'delete', 'flip', 'repeat', 'cut'),
  token: fc.oneof(
    fc.constantFrom(...TOKENS).map((token) => Buffer.from(token)),
    fc.uint8Array({ minLength: 1, maxLength: 4 }).map((bytes) => Buffer.from(bytes)),
  ),
})

type Mutation = typeof mutation extends fc.Arbitrary<infer T> ? T : never

function mutate(bytes: Buffer, { at, length, how, token }: Mutation): Buffer {
  const from = Math.floor(at * bytes.length)
  const [head, piece, tail] = [
    bytes.subarray(0, from),
    bytes.subarray(from, from + length),
    bytes.subarray(from + length),
  ]
  switch (how) {
    case 'insert':
      return Buffer.concat([head, token, piece, tail])
    case 'replace':
      return Buffer.concat([head, token, tail])
    case 'delete':
      return Buffer.concat([head, tail])
    case 'repeat':
      return Buffer.concat([head, piece, piece, piece, tail])
    case 'cut':
      return head
    default:
      return Buffer.concat([head, piece.map((byte) => byte ^ (1 << (length % 8))), tail])
  }
}

/** Examples of one parser, mutated a few times; some as they are. */
export function mutated(parser: string): fc.Arbitrary<Buffer> {
  const examples = corpus(parser).map(({ bytes }) => bytes)
  return fc
    .tuple(fc.constantFrom(...examples), fc.array(mutation, { maxLength: 6 }))
    .map(([bytes, mutations]) => mutations.reduce(mutate, bytes))
}
