/** An RPM package: the tree below /usr, and what it needs from the system. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { Arch } from './debian-libraries.ts'
import { about, type Package } from './facts.ts'
import { run } from './run.ts'

const RPM_ARCH: Readonly<Record<Arch, string>> = { x64: 'x86_64', arm64: 'aarch64' }

/** @param tree has usr */
export function writeRpm(tree: string, { arch, version, date, effort, path }: Package): void {
  const work = mkdtempSync(join(tmpdir(), 'volctl-rpm-'))
  try {
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
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
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
