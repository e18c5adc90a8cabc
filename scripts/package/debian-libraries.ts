/**
 * Parts of Debian 11, whose glibc is old: what is built with later ones demands a newer glibc than Node.js itself does (2.28).
 *
 * Three libraries that Node.js needs beyond glibc, for nodes that lack them; that glibc, to run what is made here with; and what
 * an image has besides.
 */

/** The two machines that volctl is built for, as Node.js calls them. */
export type Arch = 'x64' | 'arm64'

/** @throws where volctl is not built for this machine */
export function thisArch(): Arch {
  const { arch } = process
  if (arch === 'x64' || arch === 'arm64') return arch
  throw new Error(`volctl has no executable for ${arch}`)
}

export const DEBIAN_ARCH: Readonly<Record<Arch, string>> = { x64: 'amd64', arm64: 'arm64' }

export interface DebianPackage {
  readonly name: string
  readonly version: string
  /** The source package. */
  readonly source: string
  /** Of the .deb. */
  readonly sha256: Readonly<Record<Arch, string>>
}

export interface LibraryPackage extends DebianPackage {
  /** The name by which Node.js asks for it. */
  readonly file: string
}

const GCC = { version: '10.2.1-6', source: 'gcc-10' }

export const LIBRARIES: readonly LibraryPackage[] = [
  {
    ...GCC,
    name: 'libatomic1',
    file: 'libatomic.so.1',
    sha256: {
      x64: 'e8f1d04653698ab185c1144f35f905a1de87571c12ea630b65be669a2823d8c7',
      arm64: 'd0b8a02896479a6eac49019d71142da9561482759f40eb7aeb15cfdc7d3e39ec',
    },
  },
  {
    ...GCC,
    name: 'libgcc-s1',
    file: 'libgcc_s.so.1',
    sha256: {
      x64: 'e478f2709d8474165bb664de42e16950c391f30eaa55bc9b3573281d83a29daf',
      arm64: 'e2fcdb378d3c1ad1bcb64d4fb6b37aab44011152beca12a4944f435a2582df1f',
    },
  },
  {
    ...GCC,
    name: 'libstdc++6',
    file: 'libstdc++.so.6',
    sha256: {
      x64: '5c155c58935870bf3b4bfe769116841c0d286a74f59eccfd5645693ac23f06b1',
      arm64: '7869aa540cc46e9f3d4267d5bde2af0e5b429a820c1d6f1a4cfccfe788c31890',
    },
  },
]

export const GLIBC: DebianPackage = {
  name: 'libc6',
  version: '2.31-13+deb11u11',
  source: 'glibc',
  sha256: {
    x64: '05f7264da867b37f4c5ce49266b558ea1e81e05a9464f623152fca70f3550282',
    arm64: 'baaa9aa184e2f21738c5819055e6740cc5b22f198e3f416e33f82b40ff6933d8',
  },
}

/** A kubectl that distributions have, old and static: the tests call volctl through it. */
export const KUBECTL: DebianPackage = {
  name: 'kubernetes-client',
  version: '1.20.5+really1.20.2-1',
  source: 'kubernetes',
  sha256: {
    x64: '62561f55823c2f08b84a007ea935a0c0c7c34cc7b228357995d0b921caa7a3ea',
    arm64: 'bd4f6be7d350c45836d3bcc32e427b01ede2aacc77434b1f790f0ff1d87c5fe5',
  },
}

/** A package with some files in an image. */
export interface ImagePackage extends DebianPackage {
  /** Which, by their paths in the package. */
  readonly files: RegExp
  /** An SPDX expression. */
  readonly license: string
}

/** What an image has besides volctl: glibc, and the program that enters the node's mount namespace. */
export const IMAGE_PACKAGES: readonly ImagePackage[] = [
  {
    ...GLIBC,
    // The loader, what Node.js is linked with, and what looks up names: volctl plan --cluster does so in the container.
    files: /^lib(64)?\/(.*\/)?(ld|libc|libm|libdl|libpthread|librt|libresolv|libnss_(files|dns))[-.]/,
    license: 'LGPL-2.1-or-later',
  },
  {
    name: 'util-linux',
    version: '2.36.1-8+deb11u2',
    source: 'util-linux',
    sha256: {
      x64: 'bacfee8e7266143b633eb281a726a861686e6bdf6b76104803d6dfbbf21107f8',
      arm64: 'b8bd3b7f606c7c94f2d847e86e74c6f9702d6b8d5e64f54f41882fb2ec55e429',
    },
    files: /^usr\/bin\/nsenter$/,
    license: 'GPL-2.0-or-later',
  },
  {
    // nsenter is linked with it.
    name: 'libselinux1',
    version: '3.1-3',
    source: 'libselinux',
    sha256: {
      x64: '339f5ede10500c16dd7192d73169c31c4b27ab12130347275f23044ec8c7d897',
      arm64: 'da98279a47dabaa46a83514142f5c691c6a71fa7e582661a3a3db6887ad3e9d1',
    },
    files: /\/libselinux\.so\.1$/,
    license: 'LicenseRef-public-domain',
  },
  {
    // libselinux is linked with it.
    name: 'libpcre2-8-0',
    version: '10.36-2+deb11u1',
    source: 'pcre2',
    sha256: {
      x64: 'ee192c8d22624eb9d0a2ae95056bad7fb371e5abc17e23e16b1de3ddb17a1064',
      arm64: '27a4362a4793cb67a8ae571bd8c3f7e8654dc2e56d99088391b87af1793cca9c',
    },
    files: /\/libpcre2-8\.so\./,
    license: 'BSD-3-Clause',
  },
]
