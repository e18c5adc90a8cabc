/** How a package manager, or install.sh, puts volctl into a root directory and takes it away again. */
import { appendFileSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { bareRoot, MANUALS, ROOT, run, sha256 } from './roots.ts'

export interface Way {
  readonly name: string
  readonly ending: 'deb' | 'rpm' | 'tar.gz'
  /** Where its files go, below the root. */
  readonly prefix: 'usr' | 'usr/local'
  /** What it may leave or change that is not volctl's: databases, caches and logs, what fish makes of itself. */
  readonly beside: RegExp
  /** A root that lacks what volctl depends on, where that is asked for. */
  readonly prepare: (root: string) => Promise<unknown>
  /** What it says where something is missing that volctl depends on; then that is put there. */
  readonly lack?: {
    readonly says: RegExp
    readonly ask: (root: string, path: string) => readonly string[]
    readonly provide: (root: string) => Promise<unknown>
  }
  /** Installs, or upgrades: commands, each to succeed. */
  readonly install: (root: string, path: string) => readonly (readonly string[])[]
  readonly remove: (root: string) => readonly (readonly string[])[]
  /** Prints what is not as it was installed. */
  readonly verify?: (root: string) => readonly string[]
  /** Commands by which shells find their completion, with what they print. */
  readonly find: readonly Find[]
}

interface Find {
  readonly command: readonly string[]
  readonly prints: string
}

/** @param folder that zsh is told of, where Debian's does not look by itself */
function inZsh(folder = ''): Find {
  const script = `fpath+=(${folder}); autoload -U compinit; compinit -u -D; print $_comps[volctl]`
  return { command: ['zsh', '-fc', script], prints: '_volctl' }
}

/** @param shares where fish looks for what is below share */
function inFish(shares = '/usr/share'): Find {
  return { command: ['env', `XDG_DATA_DIRS=${shares}`, 'fish', '-c', 'complete -C "volctl pla"'], prints: 'plan' }
}

/** Runs them; says what the first one that fails has printed. */
export async function must(commands: readonly (readonly string[])[]): Promise<void> {
  for (const command of commands) {
    const { status, stdout, stderr } = await run(command)
    if (status !== 0) throw new Error(`${command.join(' ')} ends with ${status}: ${stdout}${stderr}`)
  }
}

const rpm = (root: string, ...args: readonly string[]): string[] => [
  ...['rpm', '--root', root, '--dbpath', '/var/lib/rpm'],
  ...args,
]

/** What every distribution with rpm has; the files are in the root already. */
const RPM_DEPENDENCIES = ['glibc', 'util-linux'] as const

/** Packages without files, whose version is that of the root's glibc. */
function dependenciesSpec(): string {
  const packages = RPM_DEPENDENCIES.map(
    (name) => `%package -n ${name}\nSummary: x\n%description -n ${name}\n%files -n ${name}`,
  )
  return `Name: x\nVersion: 2.31\nRelease: 1\nSummary: x\nLicense: none\nBuildArch: noarch\n%description\n${packages.join('\n')}\n`
}

async function provideRpms(root: string): Promise<void> {
  const work = `${root}.rpms`
  mkdirSync(work)
  writeFileSync(join(work, 'x.spec'), dependenciesSpec())
  const defines = { _topdir: work, _rpmdir: work, _rpmfilename: '%%{NAME}.rpm' }
  const args = Object.entries(defines).flatMap(([name, value]) => ['--define', `${name} ${value}`])
  await must([
    ['rpmbuild', '-bb', '--quiet', ...args, join(work, 'x.spec')],
    rpm(root, '-i', ...RPM_DEPENDENCIES.map((name) => join(work, `${name}.rpm`))),
  ])
}

// Its log would be the machine's.
const dpkg = (root: string, ...args: readonly string[]): string[] => [
  'dpkg',
  '--log=/dev/null',
  `--root=${root}`,
  ...args,
]

const DEB_DEPENDENCIES = ['libc6', 'util-linux', 'mount']

/** Has the directories that any root has: dpkg removes one that is nobody else's. Without a file of its own it would disappear. */
const BASE = 'base-files'
const BASE_PATHS = [
  '/.',
  '/bin/busybox',
  '/usr',
  '/usr/bin',
  '/usr/share',
  '/usr/share/doc',
  ...MANUALS.map((each) => `/${each}`),
]

function makeDpkgDatabase(root: string): void {
  for (const each of ['info', 'updates']) mkdirSync(join(root, 'var/lib/dpkg', each), { recursive: true })
  writeFileSync(join(root, `var/lib/dpkg/info/${BASE}.list`), `${BASE_PATHS.join('\n')}\n`)
  addToDpkg(root, [BASE])
}

/** As if they were installed. */
function addToDpkg(root: string, names: readonly string[]): void {
  const facts = 'Status: install ok installed\nArchitecture: amd64\nVersion: 10\nMaintainer: x\nDescription: x\n\n'
  appendFileSync(join(root, 'var/lib/dpkg/status'), names.map((name) => `Package: ${name}\n${facts}`).join(''))
}

/** To where the root itself finds it. */
const bring = (root: string, path: string): string[] => ['cp', path, join(root, basename(path))]
const takeAway = (root: string, path: string): string[] => ['rm', join(root, basename(path))]

const DEB: Way = {
  name: '.deb, with a database of dpkg that has what volctl depends on',
  ending: 'deb',
  prefix: 'usr',
  beside: /^var\/(lib\/dpkg|log)\//,
  prepare: async (root) => {
    await bareRoot(root, false)
    makeDpkgDatabase(root)
  },
  lack: {
    says: /dependency problems/,
    ask: (root, path) => dpkg(root, '-i', path),
    provide: async (root) => addToDpkg(root, DEB_DEPENDENCIES),
  },
  install: (root, path) => [dpkg(root, '-i', path)],
  remove: (root) => [dpkg(root, '--remove', 'volctl'), dpkg(root, '--purge', 'volctl')],
  verify: (root) => dpkg(root, '--verify', 'volctl'),
  find: [inZsh(), inFish()],
}

const RPM: Way = {
  name: '.rpm, with a database of rpm that has what volctl depends on',
  ending: 'rpm',
  prefix: 'usr',
  beside: /^var\/lib\/rpm\//,
  prepare: async (root) => {
    await bareRoot(root, false)
    await must([rpm(root, '--initdb')])
  },
  lack: {
    says: /Failed dependencies:.*glibc \S+ \S+ is needed by volctl/s,
    ask: (root, path) => rpm(root, '--test', '-U', path),
    provide: provideRpms,
  },
  install: (root, path) => [rpm(root, '-U', path)],
  remove: (root) => [rpm(root, '-e', 'volctl')],
  verify: (root) => rpm(root, '--verify', 'volctl'),
  find: [inZsh('/usr/share/zsh/site-functions'), inFish()],
}

const SCRIPT = 'install.sh'

/** With what BusyBox has for programs. */
const TARBALL: Way = {
  name: 'tarball, in a root with glibc and BusyBox alone',
  ending: 'tar.gz',
  prefix: 'usr/local',
  beside: /^$/,
  prepare: async (root) => {
    await bareRoot(root, false)
    copyFileSync(join(ROOT, 'scripts', SCRIPT), join(root, SCRIPT))
  },
  install: (root, path) => [
    bring(root, path),
    ['chroot', root, '/bin/sh', `/${SCRIPT}`, '--sha256', sha256(path), `/${basename(path)}`],
    takeAway(root, path),
  ],
  remove: (root) => [['chroot', root, '/bin/sh', `/${SCRIPT}`, '--uninstall']],
  find: [inZsh(), inFish('/usr/local/share:/usr/share')],
}

export const WAYS: readonly Way[] = [DEB, RPM, TARBALL]
