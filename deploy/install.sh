#!/bin/sh
# Installs jarvis @VERSION@ for the current user: one static binary, no root, nothing else on the system is changed.
#
#   curl -fsSL @LATEST_URL@/install.sh | sh
#
#   sh install.sh [--dir DIR] [--base-url URL]   install, or upgrade what is there
#   sh install.sh --uninstall                    remove what it installed; data and configuration stay
#
# The binary goes to --dir, JARVIS_INSTALL_DIR, where it was installed before, $XDG_BIN_HOME or ~/.local/bin. The archive is compared
# with a SHA-256 that stands in this script, before anything of it is unpacked.
set -eu

VERSION='@VERSION@'
BASE_URL='@BASE_URL@'
LATEST_URL='@LATEST_URL@'
SHA256='@SHA256@'

say() { printf '%s\n' "$*"; }
fail() {
    printf 'error: %s\n' "$1" >&2
    shift
    for hint in "$@"; do printf 'hint: %s\n' "$hint" >&2; done
    exit 1
}

target() {
    system=$(uname -s)
    machine=$(uname -m)
    [ "$system" = Linux ] || fail "there is no prebuilt binary for $system yet" \
        'with Rust installed: cargo install --git https://github.com/jarvis-run/jarvis jarvis'
    case $machine in
        x86_64 | amd64) say x86_64-unknown-linux-musl ;;
        aarch64 | arm64) say aarch64-unknown-linux-musl ;;
        *) fail "there is no prebuilt binary for $machine yet" \
            'with Rust installed: cargo install --git https://github.com/jarvis-run/jarvis jarvis' ;;
    esac
}

# Downloads $1 into $2.
download() {
    case $1 in
        https://* | http://127.0.0.1:* | http://localhost:*) ;;
        *) fail "$1 is neither https nor on this machine" ;;
    esac
    if command -v curl >/dev/null 2>&1; then
        curl --fail --silent --show-error --location --connect-timeout 20 --retry 2 --output "$2" "$1" ||
            fail "cannot download $1" 'see the message above; try again, or download the archive by hand'
    elif command -v wget >/dev/null 2>&1; then
        wget --quiet --tries=3 --timeout=20 --output-document="$2" "$1" ||
            fail "cannot download $1" 'try again, or download the archive by hand'
    else
        fail 'neither curl nor wget is installed' 'install one of them, for example: apt-get install curl'
    fi
}

sum() {
    if command -v sha256sum >/dev/null 2>&1; then
        sha256sum "$1" | cut -d ' ' -f 1
    elif command -v shasum >/dev/null 2>&1; then
        shasum -a 256 "$1" | cut -d ' ' -f 1
    elif command -v openssl >/dev/null 2>&1; then
        openssl dgst -sha256 -r "$1" | cut -d ' ' -f 1
    else
        fail 'no program for SHA-256 is installed' 'install coreutils or openssl'
    fi
}

# A JSON string.
quoted() { printf '"%s"' "$(printf '%s' "$1" | sed 's/\\/\\\\/g; s/"/\\"/g')"; }

# Where the program looks for it too: a folder that is not absolute does not count.
receipt_path() {
    case ${XDG_CONFIG_HOME:-} in
        /*) say "$XDG_CONFIG_HOME/jarvis/install.json" ;;
        *) say "$HOME/.config/jarvis/install.json" ;;
    esac
}

# The program that the receipt $1 names; nothing without a receipt.
noted() {
    [ ! -f "$1" ] || sed -n 's/^  "bin": "\(.*\)",\{0,1\}$/\1/p' "$1" | sed 's/\\\(["\]\)/\1/g'
}

# Prints what the jarvis $1 says of its version. Fails for anything else, with the hint $2: neither a link, as pipx makes one to a
# jarvis of its own, nor another program is replaced or removed.
version_of() {
    [ ! -L "$1" ] || fail "$1 is a link that something else made" "remove it with what made it, or $2"
    said=$("$1" --version 2>/dev/null) || said=''
    case $said in
        'jarvis '*) say "$said" ;;
        *) fail "$1 is there and is not jarvis" "move it away, or $2" ;;
    esac
}

# Whether $1 is a program that this machine cannot start: damaged, for another processor, or where nothing may be started.
is_broken() {
    [ "$(head -c 4 "$1" | tail -c 3)" = ELF ] || return 1
    status=0
    "$1" --version >/dev/null 2>&1 || status=$?
    [ "$status" -ge 126 ]
}

# The folder of $1 without links; nothing where there is none.
folder_of() { (cd "$(dirname "$1")" 2>/dev/null && pwd -P) || true; }

advise_path() {
    case ":$PATH:" in
        *":$1:"*) return 0 ;;
    esac
    # The file that a new shell reads: bash and zsh in every terminal, others at login only.
    after='open a new terminal'
    case ${SHELL:-} in
        */fish) line="fish_add_path '$1'" ;;
        */zsh) line="echo 'export PATH=\"$1:\$PATH\"' >> \"\${ZDOTDIR:-\$HOME}/.zshrc\"" ;;
        */bash) line="echo 'export PATH=\"$1:\$PATH\"' >> ~/.bashrc" ;;
        *)
            line="echo 'export PATH=\"$1:\$PATH\"' >> ~/.profile"
            after='log in again'
            ;;
    esac
    say ''
    say "$1 is not in PATH. Add it, then $after:"
    say "  $line"
}

install() {
    triple=$(target)
    archive="jarvis-$triple.tar.gz"
    wanted=$(printf '%s\n' "$SHA256" | sed -n "s/^\([0-9a-f]\{64\}\)  $archive\$/\1/p")
    [ -n "$wanted" ] || fail "this installer has no archive for $triple"

    receipt=$(receipt_path)
    installed=$(noted "$receipt")
    if [ -z "$dir" ]; then
        # Where it was installed before, so that there are not two of which one is forgotten.
        if [ -e "$installed" ]; then dir=$(dirname "$installed"); else dir=${XDG_BIN_HOME:-$HOME/.local/bin}; fi
    fi
    case $dir in
        /*) ;;
        *) dir=$PWD/$dir ;;
    esac
    # What is there belongs to pip, and the program goes by that.
    [ ! -f "$(dirname "$dir")/pyvenv.cfg" ] || fail "$dir belongs to an environment of Python" \
        'install it there with pip install jarvis-run, or name another folder with --dir'
    program="$dir/jarvis"
    before=''
    if [ -e "$program" ] || [ -L "$program" ]; then
        before=$(version_of "$program" 'name another folder with --dir')
    fi
    mkdir -p "$dir" 2>/dev/null || fail "cannot create $dir" 'name a folder of your own with --dir'
    [ -w "$dir" ] || fail "$dir cannot be written" 'name a folder of your own with --dir; root is not needed'

    { mkdir -p "$(dirname "$receipt")" && : >"$receipt.new"; } 2>/dev/null ||
        fail "cannot write $receipt" 'name a folder of your own with XDG_CONFIG_HOME'
    new=''
    work=$(mktemp -d)
    trap 'rm -rf "$work" "$receipt.new" ${new:+"$new"}' EXIT
    trap 'exit 130' INT TERM
    say "downloading jarvis $VERSION for $triple"
    download "$base/$archive" "$work/$archive"
    found=$(sum "$work/$archive")
    [ "$found" = "$wanted" ] || fail "the SHA-256 of $archive is $found where $wanted is expected; nothing was installed" \
        'the download may be incomplete or changed: try again'
    tar -xzf "$work/$archive" -C "$work" "jarvis-$triple/jarvis" || fail "$archive cannot be unpacked"

    # Beside the old one and renamed over it, so that a running jarvis goes on and none is ever half there.
    new=$(mktemp "$dir/.jarvis.XXXXXX") || fail "cannot write to $dir"
    { cp "$work/jarvis-$triple/jarvis" "$new" && chmod 755 "$new"; } || fail "cannot write to $dir" 'is the disk full?'
    now=$("$new" --version) || fail 'the binary does not run on this machine; nothing was installed'
    mv -f "$new" "$program" || fail "cannot write $program"

    {
        say '{'
        say '  "installed_by": "install.sh",'
        say "  \"version\": $(quoted "$VERSION"),"
        say "  \"bin\": $(quoted "$program"),"
        say "  \"base_url\": $(quoted "$latest"),"
        say "  \"target\": $(quoted "$triple"),"
        say "  \"files\": [$(quoted "$program")]"
        say '}'
    } >"$receipt.new"
    mv -f "$receipt.new" "$receipt"

    if [ -z "$before" ]; then
        say "installed $now as $program"
    elif [ "$before" = "$now" ]; then
        say "installed $now again as $program"
    else
        say "upgraded $before to $now as $program"
    fi
    if [ -e "$installed" ] && [ "$(folder_of "$installed")" != "$(folder_of "$program")" ]; then
        say "$installed, which was installed before, stays as it is; remove it if one is enough"
    fi
    advise_path "$dir"
    say ''
    say 'Try it:      jarvis run "tell the mood of: what a lovely day"'
    say 'Set it up:   jarvis setup'
    say 'Completions: jarvis completions --install'
}

uninstall() {
    receipt=$(receipt_path)
    [ -f "$receipt" ] || fail "nothing to remove: $receipt is not there" \
        'what pip, npm, cargo or dpkg installed is removed by them'
    program=$(noted "$receipt")
    [ -n "$program" ] || fail "$receipt does not name a binary" 'remove the binary and this file by hand'
    [ -e "$program" ] || [ -L "$program" ] || fail "$program is gone, and it alone knows what belongs to it" \
        'install it again and then remove it' "or remove $receipt by hand"
    if [ ! -L "$program" ] && is_broken "$program"; then
        rm -f "$program" "$receipt"
        say "removed $program, which cannot be started; completions that it installed stay"
        return 0
    fi
    version_of "$program" "remove $receipt by hand, which forgets that it was installed" >/dev/null
    # It knows what belongs to it, and says what stays.
    exec "$program" self uninstall --yes
}

# All of it is a function that the last line calls, so that half a download of this script does nothing.
main() {
    [ -n "${HOME:-}" ] || fail 'HOME is not set'
    dir=${JARVIS_INSTALL_DIR:-}
    base=${JARVIS_INSTALL_BASE_URL:-$BASE_URL}
    latest=${JARVIS_INSTALL_BASE_URL:-$LATEST_URL}
    remove=''
    while [ $# -gt 0 ]; do
        case $1 in
            --dir | --base-url)
                [ $# -gt 1 ] || fail "$1 wants a value"
                if [ "$1" = --dir ]; then dir=$2; else
                    base=$2
                    latest=$2
                fi
                shift
                ;;
            --uninstall) remove=yes ;;
            -h | --help)
                say "Installs jarvis $VERSION: sh install.sh [--dir DIR] [--base-url URL] [--uninstall]"
                return 0
                ;;
            *) fail "unknown argument $1" 'sh install.sh --help' ;;
        esac
        shift
    done
    if [ -n "$remove" ]; then uninstall; else install; fi
}

main "$@"
