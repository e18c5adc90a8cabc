/** The packages of distributions, .deb and .rpm: the tree below /usr, and what it needs from the system. */
import {
  copyFileSync,
  mkdirSync,
  mkdtempDisposableSync,
  readdirSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { type Arch, DEBIAN_ARCH } from './debian-libraries.ts'
import { run } from './run.ts'
import { about, type Effort, setModes } from './tree.ts'

/** A package of a distribution, to be made of a tree. */
interface Package {
  readonly arch: Arch
  readonly version: string
  /** What every file is dated, in seconds. */
  readonly date: number
  readonly effort: Effort
  /** The file to write. */
  readonly path: string
}

/** @param tree has usr; it becomes the package's own */
export function writeDeb(tree: string, { arch, version, date, effort, path }: Package): void {
  const share = join(tree, 'usr', 'share')
  // Debian reads a package's licence there.
  copyFileSync(join(share, 'doc/volctl/LICENSE'), join(share, 'doc/volctl/copyright'))
  // Debian's zsh looks there for what packages bring, and not where other distributions' does.
  renameSync(join(share, 'zsh/site-functions'), join(share, 'zsh/vendor-completions'))
  const files = readdirSync(tree, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile())
  const bytes = files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
  mkdirSync(join(tree, 'DEBIAN'))
  writeFileSync(join(tree, 'DEBIAN', 'control'), control(version, DEBIAN_ARCH[arch], bytes))
  setModes(tree)
  run('dpkg-deb', ['--root-owner-group', effort === 'small' ? '-Zxz' : '-Znone', '--build', tree, path], {
    env: { SOURCE_DATE_EPOCH: String(date) },
  })
}

/** It depends on what every Debian has: `dpkg -i` fetches nothing. @param bytes of all files */
function control(version: string, architecture: string, bytes: number): string {
  return `Package: volctl
Version: ${version}
Architecture: ${architecture}
Maintainer: ${about.maintainer}
Installed-Size: ${Math.ceil(bytes / 1024)}
Depends: libc6 (>= 2.28), util-linux, mount
Section: admin
Priority: optional
Description: ${about.summary}
${about.description.map((line) => ` ${line}\n`).join('')}`
}

const RPM_ARCH: Readonly<Record<Arch, string>> = { x64: 'x86_64', arm64: 'aarch64' }

/** @param tree has usr */
export function writeRpm(tree: string, { arch, version, date, effort, path }: Package): void {
  using temporary = mkdtempDisposableSync(join(tmpdir(), 'volctl-rpm-'))
  const work = temporary.path
  writeFileSync(join(work, 'volctl.spec'), spec(tree, version))
  const defines = {
    _topdir: work,
    // Debian's rpm would write where Debian's own tools look.
    _rpmdir: dirname(path),
    _rpmfilename: basename(path),
    _buildhost: 'localhost',
    use_source_date_epoch_as_buildtime: '1',
    clamp_mtime_to_source_date_epoch: '1',
    // Nothing is stripped, compressed or looked into: the executable has its end where Node.js finds it.
    __os_install_post: '%{nil}',
    debug_package: '%{nil}',
    _build_id_links: 'none',
    _binary_payload: effort === 'small' ? 'w6.xzdio' : 'w.ufdio',
  }
  const args = Object.entries(defines).flatMap(([name, value]) => ['--define', `${name} ${value}`])
  run('rpmbuild', ['-bb', '--target', `${RPM_ARCH[arch]}-linux`, ...args, join(work, 'volctl.spec')], {
    env: { SOURCE_DATE_EPOCH: String(date), HOME: work },
  })
}

/** It has the directories of completion: those of a shell that is not installed are nobody else's, and would be left behind. */
function spec(tree: string, version: string): string {
  return `Name: volctl
Version: ${version}
Release: 1
Summary: ${about.summary.replace(/^./, (first) => first.toUpperCase())}
License: ${about.license}
AutoReqProv: no
Requires: glibc >= 2.28, util-linux

%description
${about.description.join('\n')}

%install
cp -a ${tree}/. %{buildroot}

%files
%defattr(-,root,root,-)
/usr/bin/*
/usr/lib/volctl
%doc /usr/share/doc/volctl
/usr/share/man/man7/*
/usr/share/man/man8/*
/usr/share/bash-completion
/usr/share/zsh
/usr/share/fish
`
}
