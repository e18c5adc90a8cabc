/** deploy/*.yaml: an API server takes them, volctl takes the command lines in them, and a Pod has what --host-root needs. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as models from '@kubernetes/client-node'
import { type Interfaces, Parser } from '@oclif/core'
import { loadAll } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import pjson from '../../package.json' with { type: 'json' }
import Check from '../../src/commands/check.ts'
import Plan from '../../src/commands/plan.ts'

const FOLDER = join(import.meta.dirname, '../../deploy')
const COMMANDS = { plan: Plan, check: Check }

interface Model {
  getAttributeTypeMap(): readonly { readonly baseName: string; readonly type: string }[]
}

/** Paths of fields that the API of Kubernetes does not have. @param type as the API's description names it: V1Pod, Array<string> */
function unknownFields(value: unknown, type: string, path = ''): string[] {
  const [, kind, item = ''] = /^(Array|\{ \[key: string\]:) ?<?(.+?);? ?[>}]$/.exec(type) ?? []
  if (kind !== undefined)
    return Object.entries(value as object).flatMap(([key, each]) => unknownFields(each, item, `${path}/${key}`))
  const model = (models as unknown as Readonly<Record<string, Model | undefined>>)[type]
  if (model === undefined) {
    const plain = type === 'IntOrString' || type === 'Date' || type === 'any' || typeof value === type
    return plain ? [] : [`${path} is no ${type}`]
  }
  const types = new Map(model.getAttributeTypeMap().map((each) => [each.baseName, each.type]))
  return Object.entries(value as object).flatMap(([name, each]) => {
    const of = types.get(name)
    return of === undefined ? [`${path}/${name}`] : unknownFields(each, of, `${path}/${name}`)
  })
}

type PodSpec = models.V1PodSpec
interface Manifest {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: models.V1ObjectMeta
  readonly spec?: PodSpec & { readonly template?: { readonly spec: PodSpec } }
}

const files = readdirSync(FOLDER).filter((name) => name.endsWith('.yaml'))
const manifests = files.flatMap((file) =>
  (loadAll(readFileSync(join(FOLDER, file), 'utf8')) as Manifest[]).map((manifest) => ({ file, manifest })),
)
const pods = manifests.flatMap(({ file, manifest }) => {
  const spec = manifest.kind === 'Pod' ? manifest.spec : manifest.spec?.template?.spec
  return spec === undefined ? [] : [{ file, spec }]
})

it.each(manifests)('$file: $manifest.kind has only fields of the API, of the right types', ({ manifest }) => {
  expect(unknownFields(manifest, `V1${manifest.kind}`)).toEqual([])
  expect(manifest.metadata.name ?? manifest.metadata.generateName).toMatch(/^volctl/)
})

it('a binding is to a role and an account that are here', () => {
  const names = manifests.map(({ manifest: { kind, metadata } }) => `${kind}/${metadata.name}`)
  for (const { manifest } of manifests.filter((each) => each.manifest.kind === 'ClusterRoleBinding')) {
    const { roleRef, subjects } = manifest as unknown as models.V1ClusterRoleBinding
    expect(names).toEqual(
      expect.arrayContaining([roleRef, ...(subjects ?? [])].map(({ kind, name }) => `${kind}/${name}`)),
    )
  }
  for (const account of pods.flatMap(({ spec }) => spec.serviceAccountName ?? []))
    expect(names).toContain(`ServiceAccount/${account}`)
})

it('a Pod and a Job run volctl', () => expect(pods.map(({ file }) => file)).toEqual(['job.yaml', 'node-pod.yaml']))

it.each(['docs/pods.md', 'deploy/node-pod.yaml'])(
  '%s: between a Pod and its log is a wait for its container',
  (file) => {
    const lines = readFileSync(join(FOLDER, '..', file), 'utf8').split('\n')
    const kinds = lines.flatMap(
      (line) =>
        /\bnode-pod\.yaml \| kubectl (create)|kubectl (create) -f node-pod|kubectl (wait) .*containerID.* pod\/volctl$|kubectl (logs) .*volctl$/
          .exec(line)
          ?.slice(1)
          .filter(Boolean) ?? [],
    )
    expect(kinds).toEqual(['create', 'wait', 'logs'])
  },
)

it('docs/pods.md: kubectl debug runs the image, with a command line that volctl takes', async () => {
  const [, image, args = ''] =
    /^kubectl debug node\/.* --profile=sysadmin --image=(\S+) -- volctl plan (.*)$/m.exec(
      readFileSync(join(FOLDER, '..', 'docs/pods.md'), 'utf8'),
    ) ?? []
  expect(image).toBe(`volctl:${pjson.version}`)
  const { flags } = await Parser.parse(args.split(' '), { flags: { ...Plan.baseFlags, ...Plan.flags }, strict: true })
  // Where kubectl mounts the node's root directory.
  expect(flags).toMatchObject({ 'host-root': '/host' })
})

describe.each(pods)('the Pod of $file', ({ spec }) => {
  const [container] = spec.containers

  it('stands on one node, whatever its state, and runs once', () => {
    expect(spec).toMatchObject({ nodeName: 'NODE', restartPolicy: 'Never', tolerations: [{ operator: 'Exists' }] })
    expect(spec.containers).toHaveLength(1)
    expect(container).toMatchObject({ name: 'volctl', image: `volctl:${pjson.version}` })
  })

  it("is in the node's namespaces, and has the node's / with mounts that follow", () => {
    expect(spec).toMatchObject({ hostPID: true, hostNetwork: true, hostIPC: true })
    expect(container?.securityContext).toMatchObject({ privileged: true, runAsUser: 0 })
    expect(spec.volumes).toEqual([{ name: 'host', hostPath: { path: '/', type: 'Directory' } }])
    expect(container?.volumeMounts).toEqual([
      { name: 'host', mountPath: '/host', readOnly: true, mountPropagation: 'HostToContainer' },
    ])
  })

  it('has limits, and requests nothing', () =>
    expect(container?.resources).toEqual({
      requests: { cpu: '0', memory: '0' },
      limits: { cpu: '2', memory: '1Gi' },
    }))

  it('runs a command line that volctl takes', async () => {
    const [program, command, ...rest] = container?.command ?? []
    expect(program).toBe('volctl')
    const { baseFlags, flags } = COMMANDS[command as keyof typeof COMMANDS]
    const parsed = await Parser.parse(rest, {
      flags: { ...baseFlags, ...flags } as Interfaces.FlagInput,
      strict: true,
    })
    expect(parsed.flags).toMatchObject({ 'host-root': '/host' })
  })
})
