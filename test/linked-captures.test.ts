/**
 * The captures of a real node as they would be if directories of its kubelet were links to another place (S8): the kernel
 * shows every mount point, every bind mount's root and every loop device's file without links. The plan must be the same.
 */
import { describe, expect, it } from 'vitest'
import { parseMountinfo } from '../src/core/linux/parse-mountinfo.ts'
import type { Plan } from '../src/core/plan/plan.ts'
import { planNode } from '../src/core/reconcile/plan-node.ts'
import type { NodeSnapshot, NodeState, TreeEntry } from '../src/core/volumes/snapshot.ts'
import { recorded } from './helpers/captures.ts'
import { explainer } from './helpers/explaining.ts'
import { planOptions } from './helpers/plan-options.ts'

const ROOT = '/var/lib/kubelet'

/** By relative path, where each link leads; those above before those below. */
type Links = Readonly<Record<string, string>>

const LAYOUTS: Readonly<Record<string, Links>> = {
  pods: { pods: '/data/k8s/a' },
  'pods and plugins': { pods: '/data/k8s/a', plugins: '/srv/b' },
  'plugins, and the directories of CSI in it': { plugins: '/data/k8s/b', 'plugins/kubernetes.io/csi': '/srv/csi' },
  'a place in the root directory itself': { pods: `${ROOT}/.disk/pods` },
}

/** As the kernel shows a path below the root directory. */
function placeOf(path: string, links: Links): string {
  const [link] = Object.keys(links)
    .filter((each) => path === `${ROOT}/${each}` || path.startsWith(`${ROOT}/${each}/`))
    .toSorted((a, b) => b.length - a.length)
  return link === undefined ? path : `${links[link]}${path.slice(`${ROOT}/${link}`.length)}`
}

function linkedTable(text: string, links: Links): string {
  return text
    .split('\n')
    .map((line) => {
      const fields = line.split(' ')
      // Root and mount point.
      for (const index of [3, 4]) if (fields[index] !== undefined) fields[index] = placeOf(fields[index], links)
      return fields.join(' ')
    })
    .join('\n')
}

function linked({ snapshot }: NodeState, links: Links, { told = true } = {}): NodeState {
  const isBehind = (path: string): boolean => Object.keys(links).some((link) => path.startsWith(`${link}/`))
  const tree = (snapshot.tree ?? []).flatMap((entry): TreeEntry[] => {
    const target = links[entry.path]
    if (target === undefined) return told || !isBehind(entry.path) ? [entry] : []
    return [{ path: entry.path, type: 'link', mode: '777', target, ...(told && { realPath: target }) }]
  })
  const mountinfo = linkedTable(snapshot.mountinfo ?? '', links)
  const blockDevices = (snapshot.blockDevices ?? []).map(({ backingFile, ...device }) =>
    backingFile === undefined ? device : { ...device, backingFile: placeOf(backingFile, links) },
  )
  const made: NodeSnapshot = { ...snapshot, mountinfo, tree, blockDevices }
  return { snapshot: made, mounts: parseMountinfo(mountinfo) }
}

/** What an apply compares with the mount table: a bind mount's root is the kernel's word. */
function withPlaces(plan: Plan, links: Links): Plan {
  const operations = plan.operations.map(({ expects, ...operation }) =>
    expects === undefined
      ? operation
      : {
          ...operation,
          expects: expects.map(({ path, layers }) => ({
            path,
            layers: layers.map((layer) => ({ ...layer, root: placeOf(layer.root, links) })),
          })),
        },
  )
  return { ...plan, operations }
}

const FILES = [
  ...['healthy/node.json', 'subpath-leak/before.json', 'subpath-leak/after.json'],
  ...['stuck/before.json', 'stuck/after.json', 'shared-root/node.json'],
]
const CASES = await Promise.all(FILES.map(async (name) => ({ name, state: await recorded(name) })))

describe.each(Object.entries(LAYOUTS))('S8: a link in place of %s changes no plan', (_name, links) => {
  it.each(CASES)('$name', ({ state }) => {
    const options = planOptions({ orphans: true })
    const there = linked(state, links)
    expect(planNode(there, options)).toEqual(withPlaces(planNode(state, options), links))
  })

  it.each(CASES.slice(1, 2))(
    '$name: what is asked by the place behind a link is what has the path of the link',
    ({ state }) => {
      const options = planOptions()
      const there = linked(state, links)
      const [ask, askThere] = [explainer(state, options), explainer(there, options)]
      const paths = [
        ...state.mounts.under(ROOT).map(({ mountPoint }) => mountPoint),
        ...(state.snapshot.tree ?? []).map((entry) => `${ROOT}/${entry.path}`),
      ].filter((each) => placeOf(each, links) !== each && links[each.slice(ROOT.length + 1)] === undefined)
      expect(paths.length).toBeGreaterThan(20)
      for (const each of paths) {
        const wanted = ask(each).explanation
        for (const name of [each, placeOf(each, links)]) {
          const { subject, verdict, places } = askThere(name).explanation
          expect({ name, subject, verdict }).toEqual({ name, subject: wanted.subject, verdict: wanted.verdict })
          expect(places.map((place) => place.path)).toEqual(wanted.places.map((place) => place.path))
        }
      }
    },
  )

  it.each(CASES.slice(0, 2))(
    'a control, $name: where nothing tells what is behind them, nothing is decided on it',
    ({ state }) => {
      const plan = planNode(linked(state, links, { told: false }), planOptions({ orphans: true }))
      const [first = ''] = Object.keys(links)
      expect(plan.complete).toBe(false)
      expect(plan.problems.filter(({ code }) => code === 'LinkInPlace').map(({ about }) => about.path)).toContain(
        `${ROOT}/${first}`,
      )
      const ready = plan.operations.filter(({ blocked }) => blocked === undefined)
      expect(ready.filter(({ kind }) => /Device$|^Detach/.test(kind))).toEqual([])
      expect(ready.flatMap(({ paths }) => paths).filter((each) => each.startsWith(`${ROOT}/${first}/`))).toEqual([])
    },
  )
})
