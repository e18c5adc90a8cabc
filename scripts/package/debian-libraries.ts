/**
 * Parts of Debian 11, whose glibc is old: what is built with later ones demands a newer glibc than Node.js itself does (2.28).
 *
 * Three libraries that Node.js needs beyond glibc, for nodes that lack them; and that glibc, to run what is made here with.
 */

/** The two machines that volctl is built for, as Node.js calls them. */
export type Arch = 'x64' | 'arm64'

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
