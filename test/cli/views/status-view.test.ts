/** `volctl status` on a screen: of every recorded node, a few as they were, and how columns give way. */

import { expect, it } from 'vitest'
import { type StatusAndPlan, statusAndPlan, wholeOf } from '../../../src/core/explain/status/node-status.ts'
import type { PlanOptions } from '../../../src/core/plan/plan.ts'
import { decideNode } from '../../../src/core/reconcile/plan-node.ts'
import { PLAIN_SCREEN, type Screen, screenLines } from '../../../src/core/views/screen.ts'
import { renderStatus, shownRows } from '../../../src/core/views/status-view.ts'
import type { NodeState } from '../../../src/core/volumes/snapshot.ts'
import { csiUniqueName } from '../../../src/core/volumes/volume-names.ts'
import { captureFiles, recorded } from '../../helpers/captures.ts'
import { DRIVER, node, uid } from '../../helpers/node-builder.ts'
import { planOptions } from '../../helpers/plan-options.ts'
import { SCREENS, saidTwice, tooWide } from '../../helpers/screens.ts'

/** Of these the screens are compared with what they were. */
const KEPT: ReadonlySet<string> = new Set(['healthy/node.json', 'recreate/before.json', 'stuck/before.json'])

function toldOf(state: NodeState, options: Partial<PlanOptions> = {}): StatusAndPlan {
  const given = { applyFlags: [], settleMs: 120_000 }
  return statusAndPlan(decideNode(state, wholeOf(planOptions(options))), planOptions(options), {}, given)
}

function drawnOf(state: NodeState, screen: Screen, options: Partial<PlanOptions> = {}, all = false): string {
  return renderStatus(toldOf(state, options), screen, { all })
}

it.each(captureFiles())('%s: the last lines count, and say what to type', async (path) => {
  const state = await recorded(path)
  const { plan } = toldOf(state)
  const drawn = Object.entries(SCREENS).map(([name, screen]) => {
    const text = drawnOf(state, screen)
    expect(tooWide(text, screen.width)).toEqual([])
    expect(saidTwice(text)).toEqual([])
    const last = text.trimEnd().split('\n').slice(-12).join(' ')
    expect(last).toMatch(/\d+ volumes:/)
    for (const { command } of (plan.summary.next ?? []).slice(0, 1)) expect(last).toContain(`Next: ${command}`)
    return `=== ${name}\n${text}`
  })
  if (KEPT.has(path))
    await expect(drawn.join('\n')).toMatchFileSnapshot(`../../status/screens/${path.replace('/', '-')}.txt`)
})

it.each([undefined, 100, 160])(
  '-o wide on %s columns has each row with its pod, what else is wrong, and why',
  async (width) => {
    const state = await recorded('recreate/before.json')
    const { rows } = toldOf(state).status
    const text = drawnOf(state, { ...PLAIN_SCREEN, wide: true, width, rows: 40 })
    expect(tooWide(text, width)).toEqual([])
    if (width === undefined) {
      expect(text.match(/^(?:pg\/|on the node)/gm)).toHaveLength(rows.length)
      expect(text).toMatch(
        /^POD +VOLUME +SPEC NAME +PLUGIN +WANTED +ATTACHED +IN USE +STAGED +MOUNTED +VERDICT +CODE +WHY$/m,
      )
    }
    const words = text.replaceAll(/\s+/g, ' ')
    for (const { volume, verdict } of rows) {
      expect(words).toContain(verdict.message)
      expect(words).toContain(volume.driver ?? volume.plugin.replace('kubernetes.io/', ''))
      for (const code of verdict.also) expect(words).toContain(code)
    }
  },
)

it('in a pipe a page of 40 lines, and with -v every row', async () => {
  const state = await recorded('reboot/before.json')
  const folded = drawnOf(state, SCREENS['a pipe'])
  expect(screenLines(folded, undefined)).toBeLessThanOrEqual(40)
  expect(folded).toMatch(/^and \d+ more \(-v shows them\)$/m)
  const { status } = toldOf(state)
  const rows = drawnOf(state, SCREENS['a pipe'], {}, true)
    .split('\n')
    .filter((line) => /^(?:pg\/|on the node)/.test(line))
  expect(rows).toHaveLength(status.rows.length)
})

it.each([1, 3])('%i volumes that only the status of the Node still lists: what has to change first', (count) => {
  const built = node()
  for (let n = 0; n < count; n++) built.inUse.push(csiUniqueName(DRIVER, `vol-${n}`))
  const text = drawnOf(built.build(), SCREENS['a pipe'], {}, true).replaceAll(/\s+/g, ' ')
  expect(text).toContain("! still in the Node's status")
  expect(text).not.toContain('the controller is next')
  expect(text).toContain('then releases for other nodes what the list no longer names')
  if (count > 1) expect(text).toContain("3 volumes are still listed in the Node's status")
})

it('what was asked for by name has the answer of that alone', async () => {
  const state = await recorded('recreate/before.json')
  const { status, plan } = toldOf(state, { pods: ['pg/sc-n4'] })
  expect(plan.operations.map(({ id }) => id).toSorted()).toEqual(
    status.rows.flatMap(({ operations }) => operations).toSorted(),
  )
  expect(status.causes?.map(({ code }) => code)).toEqual(['ClaimMissing'])
  const text = drawnOf(state, SCREENS['80x24'], { pods: ['pg/sc-n4'] }, true)
  expect(text).toContain('PersistentVolumeClaim pg/pvc-n4 does not exist')
  expect(text).not.toContain('sc-n1')
})

it('a good volume that is in use and not reported is shown, and why', () => {
  const rows = (reported: boolean) =>
    toldOf(node().served(uid(7), 'web-0').build()).status.rows.map((row): typeof row => ({
      ...row,
      verdict: { state: 'good', message: 'as it should be', also: [] },
      inUse: { computed: true, reported },
    }))
  expect(shownRows(rows(false), false)).toEqual(rows(false))
  expect(shownRows(rows(true), false)).toEqual([])
})

it.each([
  [{ attached: true }, 'yes'],
  [{ attachment: { deleting: true, attached: true } }, 'detaching'],
  [{ attachment: { attached: true } }, 'not reported'],
  [{ needed: 'unknown', elsewhere: ['node-2'] }, 'unknown, on node-2'],
])('attached, as %j: %s', async (attach, cell) => {
  const { status, plan } = toldOf(await recorded('recreate/before.json'))
  const row = {
    ...status.rows[0],
    attach: {
      attached: false,
      nodeStatus: 'attachment' in attach && 'deleting' in attach.attachment,
      elsewhere: [],
      ...attach,
    },
  }
  const text = renderStatus({ plan, status: { ...status, rows: [row as never] } }, PLAIN_SCREEN, { all: true })
  expect(text).toMatch(new RegExp(` ${cell}  `))
})

it.each([
  [1, 'and 1 volume that is good (-v shows it)'],
  [2, 'and 2 volumes that are good (-v shows them)'],
])('%i good beside one that is not are counted', async (good, line) => {
  const { status, plan } = toldOf(await recorded('recreate/after.json'))
  const [fine = [], bad = []] = [true, false].map((is) =>
    status.rows.filter(({ verdict }) => (verdict.state === 'good') === is),
  )
  const rows = [...bad.slice(0, 1), ...fine.slice(0, good)]
  const text = renderStatus({ plan, status: { ...status, rows } }, SCREENS['80x24'], { all: false })
  expect(text).toContain(`\n${line}\n`)
})

it('columns give way in the order that the manual states', async () => {
  const state = await recorded('recreate/before.json')
  const heads = (width: number): string[] => {
    const text = drawnOf(state, { ...PLAIN_SCREEN, width })
    const line = text.split('\n').find((each) => /^(?:POD)? +VOLUME/.test(each)) ?? ''
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

it('a node without volumes', () =>
  expect(drawnOf(node().build(), PLAIN_SCREEN)).toBe('node-1: kubelet stopped; 1 pod\n\nNo volumes.\n'))
