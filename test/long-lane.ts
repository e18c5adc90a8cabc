/**
 * Which files of the long lane (`*.long.test.ts`) a change needs: `.ci/run` runs them besides the short lane. Run as a program it reads
 * the paths that changed, a line each, and prints the files.
 */
import { globSync, readFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'

export const ROOT = join(import.meta.dirname, '..')

/** Patterns of files that it is about, and of the tests that show it. A change of the tests themselves is one of both. */
export const LONG_LANE: readonly { readonly about: readonly string[]; readonly tests: string }[] = [
  {
    about: ['src/core/{linux,reconcile,rules/pods}/**', 'src/core/node/*', 'test/helpers/scene/layouts.ts'],
    tests: 'test/{e2e/layouts,privileged/layouts/*}.long.test.ts',
  },
  {
    about: [
      'src/core/apply/{*,{operation,journal}/*}',
      'src/core/{kube,node/api,plan/documents}/*',
      'src/core/cli/{interrupts,confirm}.ts',
    ],
    tests: 'test/{e2e/{interruptions,api-away},privileged/killed-anywhere}.long.test.ts',
  },
  {
    about: ['src/core/{apply/kubelet-stop,node/kubelet}/*', 'src/commands/apply.ts'],
    tests: 'test/privileged/stop/*.long.test.ts',
  },
  {
    about: ['src/core/{kube,node/api,plan/documents,apply/journal,trust}/**'],
    tests: 'test/{cli/hostile-api,fuzz/*,documents/*}.long.test.ts',
  },
  { about: ['src/core/{apply/cluster/*,cluster/model/controller-state.ts}'], tests: 'test/e2e/cluster/*.long.test.ts' },
  {
    about: ['src/core/{rpc,volumes}/**', 'src/core/apply/{csi,mounts,content,expand}/**'],
    tests: 'test/privileged/set-up/*.long.test.ts',
  },
  {
    about: ['src/core/{users,linux,facts,volumes/on-disk}/**', 'src/core/{apply/disks,node,rules}/*'],
    tests: 'test/privileged/{users,uses}/*.long.test.ts',
  },
  {
    about: ['src/core/{linux,apply/release}/**', 'src/core/apply/step-table.ts'],
    tests: 'test/privileged/{*,safety/*}.long.test.ts',
  },
  {
    about: ['src/core/{trust,kube/kubeconfig,plan/documents,linux}/**', 'bin/*', 'src/*.ts'],
    tests: 'test/{privileged/trust/*,trust/*,cli/launcher}.long.test.ts',
  },
  {
    about: ['docs/runbooks.md', 'src/commands/*', 'test/helpers/doc-commands.ts'],
    tests: 'test/e2e/runbooks.long.test.ts',
  },
  {
    about: ['scripts/demo.ts', 'test/helpers/**', 'test/e2e/demo-directory.ts'],
    tests: 'test/e2e/{demo,crowded}.long.test.ts',
  },
  {
    about: ['package.json', 'bin/*', 'scripts/**', 'deploy/*', 'man/**'],
    tests: 'test/{package/*,cli/build}.long.test.ts',
  },
]

/** @param changed from the project's root, as are the files of the long lane */
export function neededBy(changed: readonly string[], long: readonly string[]): string[] {
  const rows = LONG_LANE.filter(({ about }) => changed.some((path) => about.some((each) => matchesGlob(path, each))))
  return long.filter((file) => changed.includes(file) || rows.some(({ tests }) => matchesGlob(file, tests)))
}

export function longFiles(): string[] {
  return globSync('test/**/*.long.test.ts', { cwd: ROOT }).toSorted()
}

if (import.meta.main) {
  const changed = readFileSync(0, 'utf8')
    .split('\n')
    .filter((path) => path !== '')
  for (const file of neededBy(changed, longFiles())) console.log(file)
}
