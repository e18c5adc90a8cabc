import { expect, it } from 'vitest'
import { readSelinux } from '../../src/core/node/collect-node.ts'
import { fixture } from './helpers/fixture.ts'

const ON = { 'sys/fs/selinux/enforce': '1', 'proc/self/attr/current': 'system_u:system_r:kubelet_t:s0\0' }
const LABEL = 'system_u:object_r:container_file_t:s0'
const CONTEXTS = `process = "system_u:system_r:container_t:s0"\nfile = "${LABEL}"\nro_file="system_u:object_r:ro_t:s0"\n`

it.each([
  { name: 'no SELinux', files: {}, want: { enabled: false } },
  { name: 'no policy loaded', files: { ...ON, 'proc/self/attr/current': 'kernel\0' }, want: { enabled: false } },
  { name: 'permissive counts', files: { ...ON, 'sys/fs/selinux/enforce': '0' }, want: { enabled: true } },
  {
    name: "the containers' own file",
    files: {
      ...ON,
      'usr/share/containers/selinux/contexts': CONTEXTS,
      'etc/selinux/targeted/contexts/lxc_contexts': 'file = "other:r:t:s0"\n',
    },
    want: { enabled: true, fileLabel: LABEL },
  },
  {
    name: 'the policy that the configuration names',
    files: {
      ...ON,
      'etc/selinux/config': '# SELINUXTYPE=mls\nSELINUX=enforcing\nSELINUXTYPE=custom\n',
      'etc/selinux/custom/contexts/lxc_contexts': CONTEXTS,
    },
    want: { enabled: true, fileLabel: LABEL },
  },
  {
    name: 'the usual policy, where no configuration names one',
    files: { ...ON, 'etc/selinux/targeted/contexts/lxc_contexts': `file=${LABEL}` },
    want: { enabled: true, fileLabel: LABEL },
  },
  {
    name: 'a policy that cannot be read',
    files: { ...ON, 'usr/share/containers/selinux/contexts/a-file': '' },
    want: { enabled: true, error: expect.stringContaining('is a directory') },
  },
])('readSelinux (C68): $name', ({ files, want }) => {
  using root = fixture(files)
  expect(readSelinux(root.path)).toEqual(want)
})
