#!/bin/sh
# Installs volctl from a release's tarball, or takes it away again. Needs no network, and nothing but sh, tar, gzip and
# sha256sum (BusyBox has them); for a signature minisign or openssl.
#
#   install.sh [--prefix DIR] --key FILE volctl-VERSION-linux-ARCH.tar.gz
#   install.sh [--prefix DIR] --sha256 SUM volctl-VERSION-linux-ARCH.tar.gz
#   install.sh [--prefix DIR] --uninstall
#
# --key FILE    the public key of the release: minisign's, or a PEM file (cosign's). It checks SHA256SUMS.minisig or
#               SHA256SUMS.sig, which lies with SHA256SUMS beside the tarball. A key that came with the tarball shows nothing.
# --sha256 SUM  instead of a signature: the tarball's SHA-256, from where you trust it.
# --prefix DIR  /usr/local if not given.
#
# Nothing is overwritten that it did not put there, as it put it there: what it has installed stands in
# DIR/lib/volctl/installed, with the sum of each file and with the directories that it made. A volctl that does not run here
# is not installed. One that runs meanwhile goes on.
set -eu
umask 022
PATH=/usr/bin:/bin:/usr/sbin:/sbin
export LC_ALL=C

fail() {
  printf 'install.sh: %s\n' "$*" >&2
  exit 1
}

prefix=/usr/local key='' sum='' tarball='' uninstall=''
while [ $# -gt 0 ]; do
  case $1 in
    --prefix | --key | --sha256) [ $# -gt 1 ] || fail "$1 needs a value" ;;
  esac
  case $1 in
    --prefix) prefix=$2 && shift ;;
    --key) key=$2 && shift ;;
    --sha256) sum=$2 && shift ;;
    --uninstall) uninstall=yes ;;
    -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" && exit ;;
    -*) fail "unknown option $1: see install.sh --help" ;;
    *) tarball=$1 ;;
  esac
  shift
done
case $prefix in
  / | //*) fail "--prefix $prefix: give a directory such as /usr/local" ;;
  /*) prefix=${prefix%/} ;;
  *) fail "--prefix must be an absolute path: $prefix" ;;
esac
record=$prefix/lib/volctl/installed
newline='
'
# The directories that were not there before volctl, a line each.
made=''
[ ! -f "$record" ] || made=$(sed -n 's/^made  //p' "$record")
# A link to volctl, by whose name kubectl finds it.
plugin=bin/kubectl-volctl

# Of a file below the prefix: is it as it was put there?
is_ours() {
  if [ "$1" = "$plugin" ]; then
    # Nothing is sent to /dev/null, which a bare root may lack.
    [ -f "$record" ] && [ -L "$prefix/$1" ] && [ "$(readlink "$prefix/$1")" = volctl ] && grep -qxF "link  $1" "$record"
    return
  fi
  [ -f "$record" ] && [ -f "$prefix/$1" ] && [ ! -L "$prefix/$1" ] || return 1
  found=$(sha256sum <"$prefix/$1") && grep -qxF "${found%% *}  $1" "$record"
}

was_made() {
  case $newline$made$newline in
    *"$newline$1$newline"*) ;;
    *) return 1 ;;
  esac
}

# Directories that were made for volctl and are empty now. What rmdir says of others goes nowhere.
remove_empty() {
  directory=$(dirname "$1")
  while was_made "$directory" && rmdir "$prefix/$directory" 2>&-; do
    directory=$(dirname "$directory")
  done
}

if [ -n "$uninstall" ]; then
  [ -f "$record" ] || fail "nothing is installed below $prefix by this script: there is no $record"
  kept=''
  while read -r sum name; do
    if [ "$sum" = made ]; then
      continue
    elif is_ours "$name"; then
      rm -f "$prefix/$name"
      remove_empty "$name"
    elif [ -e "$prefix/$name" ] || [ -L "$prefix/$name" ]; then
      kept=yes
      printf 'install.sh: left, since it was changed: %s\n' "$prefix/$name" >&2
    fi
  done <"$record"
  rm -f "$record"
  remove_empty lib/volctl/installed
  [ -z "$kept" ] || exit 3
  echo "removed volctl from $prefix"
  exit
fi

[ -n "$tarball" ] || fail 'which tarball? See install.sh --help'
# grep would take each line for one that may be signed.
case $tarball in
  *"$newline"*) fail 'there is a line break in the name of the tarball: nothing of that name is signed. Nothing was installed.' ;;
esac
[ -f "$tarball" ] || fail "$tarball is not a file"
[ -n "$key$sum" ] || fail 'give --key FILE (the public key of the release) or --sha256 SUM: see install.sh --help'
mkdir -p "$prefix"
# Below the prefix: /tmp may be small or somebody else's. What is checked is what is unpacked.
work=$(mktemp -d "$prefix/.volctl-install.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
cp "$tarball" "$work/tarball"
actual=$(sha256sum <"$work/tarball")
actual=${actual%% *}

if [ -n "$key" ]; then
  beside=$(dirname "$tarball")
  [ -f "$key" ] || fail "$key is not a file"
  [ -f "$beside/SHA256SUMS" ] || fail "$beside/SHA256SUMS is missing"
  cp "$beside/SHA256SUMS" "$work/SHA256SUMS"
  if grep -q 'BEGIN PUBLIC KEY' "$key"; then
    [ -f "$beside/SHA256SUMS.sig" ] || fail "$beside/SHA256SUMS.sig is missing"
    command -v openssl >/dev/null || fail 'openssl is missing, which checks this kind of signature. Or give --sha256 SUM.'
    # cosign writes base 64 on one line; openssl wants short lines.
    fold -w 64 "$beside/SHA256SUMS.sig" >"$work/base64" && echo >>"$work/base64"
    openssl base64 -d -in "$work/base64" -out "$work/signature"
    openssl dgst -sha256 -verify "$key" -signature "$work/signature" "$work/SHA256SUMS" >/dev/null 2>&1 ||
      fail "the signature of $beside/SHA256SUMS is not one of $key. Nothing was installed."
  else
    [ -f "$beside/SHA256SUMS.minisig" ] || fail "$beside/SHA256SUMS.minisig is missing"
    command -v minisign >/dev/null || fail 'minisign is missing, which checks this kind of signature. Or give --sha256 SUM.'
    minisign -Vqm "$work/SHA256SUMS" -x "$beside/SHA256SUMS.minisig" -p "$key" >/dev/null 2>&1 ||
      fail "the signature of $beside/SHA256SUMS is not one of $key. Nothing was installed."
  fi
  name=${tarball##*/}
  grep -qxF "$actual  $name" "$work/SHA256SUMS" ||
    fail "$tarball is not the file that was signed: its SHA-256 is $actual. Nothing was installed."
fi
if [ -n "$sum" ] && [ "$sum" != "$actual" ]; then
  fail "the SHA-256 of $tarball is $actual, not $sum. Nothing was installed."
fi

mkdir "$work/new"
gzip -dc <"$work/tarball" | tar -xf - -C "$work/new"
rm "$work/tarball"
set -- "$work"/new/*
new=$1
[ $# = 1 ] && [ -f "$new/bin/volctl" ] || fail "$tarball is not a tarball of volctl. Nothing was installed."
[ ! -e "$new/lib/volctl/installed" ] || fail "$tarball is not a tarball of volctl. Nothing was installed."
# A shell may take the program of another kind of machine for a script (BusyBox does). Bytes 18 and 19 name its kind.
case $(od -An -tx1 -N4 "$new/bin/volctl" 2>/dev/null) in
  *7f*45*4c*46)
    case "$(uname -m) $(od -An -tx1 -j18 -N2 "$new/bin/volctl")" in
      x86_64*3e*00 | aarch64*b7*00) ;;
      *) fail "the volctl of $tarball does not run here: it is for another kind of machine than $(uname -m). Nothing was installed." ;;
    esac
    ;;
esac
# Before it takes the place of one that runs: glibc may be too old. Without /proc none runs.
version='volctl, which was not tried, since /proc is not mounted,'
[ ! -e /proc/self ] || version=$("$new/bin/volctl" --version) ||
  fail "the volctl of $tarball does not run here. Nothing was installed."
# What it has for systemd and monitors names volctl by its path.
if [ "$prefix" != /usr/local ]; then
  path=$(printf '%s\n' "$prefix/bin/volctl" | sed 's/[\\&,]/\\&/g')
  for each in "$new"/share/doc/volctl/deploy/node-problem-detector/*; do
    [ -f "$each" ] || continue
    sed "s,/usr/local/bin/volctl,$path,g" "$each" >"$work/named"
    mv -f "$work/named" "$each"
  done
fi
# Of the record, which the tarball has not.
mkdir -p "$new/lib/volctl"
(cd "$new" && find . -type d | sed -n 's,^\./,,p' | sort) >"$work/directories"
while read -r name; do
  if [ ! -d "$prefix/$name" ] && { [ -e "$prefix/$name" ] || [ -L "$prefix/$name" ]; }; then
    fail "$prefix/$name exists, and is not a directory. Nothing was installed."
  fi
  [ -d "$prefix/$name" ] && ! was_made "$name" || echo "made  $name" >>"$work/record"
done <"$work/directories"
(cd "$new" && find . -type f -o -type l | sed 's,^\./,,' | sort) >"$work/names"
while read -r name; do
  if [ -e "$prefix/$name" ] || [ -L "$prefix/$name" ]; then
    is_ours "$name" || fail "$prefix/$name exists, and was not put there by this script. Nothing was installed."
  fi
done <"$work/names"
(cd "$new" && while read -r name; do
  case $name in
    "$plugin") echo "link  $name" ;;
    *) sha256sum "$name" ;;
  esac
done) <"$work/names" >>"$work/record"

# Old and new record together, until all is in place: so that an interrupted upgrade can be repeated or taken away.
mkdir -p "$prefix/lib/volctl"
[ ! -f "$record" ] || cp "$record" "$work/old"
cat "$work/record" >"$work/both"
[ ! -f "$work/old" ] || cat "$work/old" >>"$work/both"
mv -f "$work/both" "$record"
while read -r name; do
  mkdir -p "$(dirname "$prefix/$name")"
  mv -f "$new/$name" "$prefix/$name"
done <"$work/names"
if [ -f "$work/old" ]; then
  while read -r sum name; do
    [ "$sum" = made ] || grep -qxF "$name" "$work/names" || { is_ours "$name" && rm -f "$prefix/$name" && remove_empty "$name"; } || true
  done <"$work/old"
fi
mv -f "$work/record" "$record"
echo "installed $version as $prefix/bin/volctl"
