/** `volctl status` on a screen: golden ones of every capture, and how columns give way. */
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { answerOf } from '../../../src/core/answer/make-answer.ts'
import { withAdvice } from '../../../src/core/plan/next-steps.ts'
import type { PlanOptions } from '../../../src/core/plan/plan.ts'
import { podTexts } from '../../../src/core/plan/pod-texts.ts'
import { readSnapshot } from '../../../src/core/snapshot/read-snapshot.ts'
import { nodeStatus, statusAndPlan } from '../../../src/core/status/node-status.ts'
import type { Status } from '../../../src/core/status/status.ts'
import { palette } from '../../../src/core/views/palette.ts'
import { PLAIN_SCREEN } from '../../../src/core/views/screen.ts'
import { renderStatus, shownRows } from '../../../src/core/views/status-view.ts'
import { textWidth } from '../../../src/core/views/text-width.ts'
import { captureFiles } from '../../helpers/captures.ts'
import { node, uid } from '../../helpers/node-builder.ts'
import { planOptions } from '../../helpers/plan-options.ts'
import { SCREENS } from '../../helpers/screens.ts'
import { CAPTURES } from '../run-volctl.ts'

const files = captureFiles()

const FEW = { all: false, suffix: '' }

const statusOf = async (path: string, options: Partial<PlanOptions> = {}): Promise<Status> =>
  nodeStatus(await readSnapshot(join(CAPTURES, path)), planOptions(options))

/** Paths and names that a shell has to take whole are never broken: a line that consists of one is as long as it is. */
function tooWide(text: string, width = Number.POSITIVE_INFINITY): string[] {
  return text
    .split('\n')
    .filter((line) => textWidth(line) > width && line.trim().includes(' ') && !/crictl|volctl/.test(line))
}

describe.each(files)('%s', (path) => {
  it('is drawn as it was; no line is wider than the terminal; the last lines count, and say what to type', async () => {
    const { status, plan } = statusAndPlan(await readSnapshot(join(CAPTURES, path)), planOptions(), false)
    const answer = answerOf(withAdvice(plan, { words: [], settleMs: 120_000 }))
    const drawn = Object.entries(SCREENS).map(([name, screen]) => {
      const text = renderStatus(status, screen, { ...FEW, answer })
      expect(tooWide(text, screen.width)).toEqual([])
      const last = text.trimEnd().split('\n').slice(-12).join(' ')
      expect(last).toMatch(/\d+ volumes:/)
      for (const { command } of answer.next.slice(0, 1)) expect(last).toContain(`Next: ${command}`)
      return `=== ${name}\n${text}`
    })
    await expect(drawn.join('\n')).toMatchFileSnapshot(`../../status/screens/${path.replace('/', '-')}.txt`)
  })
})

it('colour paints, and says nothing that is not written', async () => {
  const status = await statusOf('recreate/before.json')
  const screen = SCREENS['120x40']
  const painted = renderStatus(status, { ...screen, paint: await palette(true) }, FEW)
  expect(painted).not.toBe(stripVTControlCharacters(painted))
  expect(stripVTControlCharacters(painted)).toBe(renderStatus(status, screen, FEW))
})

it('-o wide shows everything: each row with its pod, what else is wrong, and why', async () => {
  const status = await statusOf('recreate/before.json')
  const text = renderStatus(status, { ...PLAIN_SCREEN, wide: true }, FEW)
  expect(text.split('\n').filter((line) => line.startsWith('pg/') || line.startsWith('on the node'))).toHaveLength(
    status.rows.length,
  )
  expect(text).toMatch(
    /^POD +VOLUME +SPEC NAME +PLUGIN +WANTED +ATTACHED +IN USE +STAGED +MOUNTED +VERDICT +ALSO +WHY$/m,
  )
  expect(text).toContain('UnresolvedVolume')
})

it.each([100, 160])('-o wide on a terminal of %i columns loses nothing', async (width) => {
  const status = await statusOf('recreate/before.json')
  const text = renderStatus(status, { ...PLAIN_SCREEN, wide: true, width, rows: 40 }, FEW)
  expect(tooWide(text, width)).toEqual([])
  const words = text.replaceAll(/\s+/g, ' ')
  for (const { volume, verdict } of status.rows) {
    expect(words).toContain(verdict.message)
    expect(words).toContain(volume.driver ?? volume.plugin.replace('kubernetes.io/', ''))
    for (const code of verdict.also) expect(words).toContain(code)
  }
})

it('a good volume that is in use and not reported is shown, and why', () => {
  const rows = (reported: boolean) =>
    nodeStatus(
      node()
        .livingPod(uid(7), 'web-0', [{ name: 'data', persistentVolumeClaim: { claimName: 'claim-pv-a' } }])
        .persistentVolume('pv-a')
        .build(),
      planOptions(),
    ).rows.map((row): typeof row => ({
      ...row,
      verdict: { state: 'good', message: 'as it should be', also: [] },
      inUse: { computed: true, reported },
    }))
  expect(shownRows(rows(false), false)).toEqual(rows(false))
  expect(shownRows(rows(true), false)).toEqual([])
})

it('columns give way in the order that the manual states', async () => {
  const status = await statusOf('recreate/before.json')
  const heads = (width: number): string[] => {
    const text = renderStatus(status, { ...PLAIN_SCREEN, width }, FEW)
    const line = text.split('\n').find((each) => each.trim().startsWith('VOLUME')) ?? ''
    return line.trim().split(/ {2,}/)
  }
  // In this node's table a volume is in use and not reported.
  const order = ['SPEC NAME', 'PLUGIN', 'WANTED', 'ATTACHED', 'STAGED', 'MOUNTED', 'IN USE']
  const gone: string[] = []
  for (let width = 120; width > 30; width -= 3) {
    const shown = heads(width)
    for (const head of order) if (!shown.includes(head) && !gone.includes(head)) gone.push(head)
  }
  expect(gone).toEqual(order)
  expect(heads(30)).toEqual(['VOLUME', 'VERDICT'])
})

it('two pods of one name are told apart by their UIDs', () => {
  const name = podTexts([
    { uid: '11111111-aaaa', namespace: 'shop', name: 'web-0' },
    { uid: '11111111-aabb', namespace: 'shop', name: 'web-0' },
    { uid: '22222222-aaaa' },
  ])
  expect(name({ uid: '11111111-aaaa', namespace: 'shop', name: 'web-0' })).toBe('shop/web-0 (11111111-aaa)')
  expect(name({ uid: '22222222-aaaa' })).toBe('22222222')
})

it('names from the cluster do not reach the terminal as they are', () => {
  const built = node().livingPod(uid(7), 'a\u001b[31mb', [{ name: 'x\u202ey', emptyDir: {} }])
  const text = renderStatus(nodeStatus(built.build(), planOptions()), SCREENS['80x24'], {
    all: true,
    suffix: '',
  })
  expect(text).toContain('a\\x1b[31mb')
  expect(text).not.toMatch(/\p{Cf}/u)
})

it('a node without volumes', () => {
  const status = nodeStatus(node().build(), planOptions())
  expect(renderStatus(status, PLAIN_SCREEN, FEW)).toBe(
    'Node node-1, kubelet stopped, as of 2026-11-21T12:00:00Z\n\nNo volumes.\n',
  )
})
