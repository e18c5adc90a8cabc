/** mount_namespaces(7): what a container with the node's / at /host keeps of a mount that is unmounted on the node. */
import { expect, it } from 'vitest'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import { privateCopy } from '../../src/core/node/private-copies.ts'

const ROOT = '/var/lib/kubelet'
const POD = `${ROOT}/pods/u/volumes`
const NODE = parseMountinfo(`21 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw
40 21 0:40 / ${POD}/kubernetes.io~secret/s rw shared:9 - tmpfs tmpfs rw
42 21 8:1 /data/local ${POD}/kubernetes.io~local-volume/l rw shared:1 - ext4 /dev/sda1 rw
41 21 0:41 / ${POD}/kubernetes.io~projected/token rw shared:10 - tmpfs tmpfs rw
`)
const OWN_VOLUME = '90 80 0:41 / /var/run/secrets/kubernetes.io/serviceaccount ro master:10 - tmpfs tmpfs rw'
/** A container of that node, with the node's / at /host. @param group of its mounts there */
const container = (group: string): ReturnType<typeof parseMountinfo> =>
  parseMountinfo(`80 1 0:70 / / rw - overlay overlay rw
79 80 8:1 /etc/hosts /etc/hosts rw - ext4 /dev/sda1 rw
81 80 8:1 / /host ro ${group} - ext4 /dev/sda1 rw
82 81 0:40 / /host${POD}/kubernetes.io~secret/s rw ${group === '' ? '' : 'master:9'} - tmpfs tmpfs rw
${OWN_VOLUME}
`)

it.each([
  { name: 'they follow (HostToContainer)', theirs: container('master:1'), want: undefined },
  { name: 'they are the same group (Bidirectional)', theirs: container('shared:1'), want: undefined },
  { name: 'they are private (kubectl debug)', theirs: container(''), want: `/host${POD}/kubernetes.io~secret/s` },
  {
    name: "they follow another tree, of which the kubelet's is a slave",
    theirs: container('master:77'),
    want: `/host${POD}/kubernetes.io~secret/s`,
  },
  {
    name: 'the container has volumes of its own alone',
    theirs: parseMountinfo(`80 1 8:1 / / rw - ext4 /dev/sda1 rw\n${OWN_VOLUME}\n`),
    want: undefined,
  },
])("the container's mounts: $name", ({ theirs, want }) => {
  expect(privateCopy(NODE, ROOT, theirs)?.mountPoint).toBe(want)
})

it('a directory of the kubelet that is a link: copies are at the place behind it', () => {
  const links = [{ path: `${ROOT}/pods`, place: '/data/pods' }]
  const moved = (text: string): string => text.replaceAll(`${ROOT}/pods`, '/data/pods')
  const node = parseMountinfo(moved(NODE.text)).withLinks(links)
  const of = (group: string) => privateCopy(node, ROOT, parseMountinfo(moved(container(group).text)))
  expect(of('master:1')).toBeUndefined()
  expect(of('')?.mountPoint).toMatch(/^\/host\/data\/pods\//)
})
