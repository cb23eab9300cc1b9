/** A real Secret Service of its own for one test: gnome-keyring on a session D-Bus, headless. */
import { isInstalled, spawn } from './programs.ts'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { mortal } from './mortal.ts'
import { has } from './lacks.ts'

/**
 * What a session has: a keychain that is `unlocked` or `locked`, or one with `no-collection`;
 * `no-service` on its bus, or `no-bus` at all.
 */
export type Keychain = 'unlocked' | 'locked' | 'no-collection' | 'no-service' | 'no-bus'

/** Null when keychains can be tested here, else why not. */
export const whyNoKeychain: string | null = await (async () => {
  for (const program of ['dbus-run-session', 'dbus-send', 'gnome-keyring-daemon']) {
    if (!isInstalled(program)) return `${program} is not installed`
  }
  return await import('keytar').then(
    () => null,
    () => 'keytar is not installed',
  )
})()
has(whyNoKeychain === null, `no keychain: ${whyNoKeychain}`)

/**
 * The daemon is back before it has its name on the bus. Who asks for the name too early makes the
 * bus start another one, which is locked.
 */
const NAMED = `for n in $(seq 600); do
  dbus-send --session --print-reply --dest=org.freedesktop.DBus /org/freedesktop/DBus \
    org.freedesktop.DBus.NameHasOwner string:org.freedesktop.secrets | grep -q 'boolean true' && break
  sleep 0.05
done`

const START: Record<Exclude<Keychain, 'no-bus'>, string> = {
  unlocked: `printf password | gnome-keyring-daemon --unlock --components=secrets; ${NAMED}`,
  locked: `gnome-keyring-daemon --start --components=secrets; ${NAMED}`,
  'no-collection': `gnome-keyring-daemon --start --components=secrets; ${NAMED}`,
  'no-service': 'true',
}

/** A bus that starts no service by itself. */
const BARE_BUS = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
<allow own="*"/></policy></busconfig>`

/** A home whose keychain outlives sessions. */
export class Home {
  readonly path = mkdtempSync(join(tmpdir(), 'kc-'))

  constructor() {
    writeFileSync(join(this.path, 'bus.conf'), BARE_BUS)
    onTestFinished(() => rmSync(this.path, { recursive: true, force: true }))
  }

  /** Runs a program in a session of its own. Gives its exit code and what it said. */
  async run(
    keychain: Keychain,
    command: readonly string[],
    env: Record<string, string> = {},
  ): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const shell = (start: string) => ['bash', '-c', `{ ${start}; } >/dev/null 2>&1; exec "$@"`, '-']
    const bus =
      keychain === 'no-service'
        ? ['dbus-run-session', `--config-file=${join(this.path, 'bus.conf')}`, '--']
        : ['dbus-run-session', '--']
    // one for each: the daemon of the session before may still be there to be spoken to
    const runtime = mkdtempSync(join(this.path, 'run-'))
    const all = keychain === 'no-bus' ? command : [...bus, ...shell(START[keychain]), ...command]
    const [program = '', ...args] = all
    const child = spawn(...mortal(program, args), {
      cwd: this.path,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'] ?? '', HOME: this.path, XDG_RUNTIME_DIR: runtime, ...env },
    })
    const texts = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => (texts[name] += text))
    }
    // The daemon keeps the pipes open a little longer than the program that it served.
    const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
    await new Promise((resolve) => setImmediate(resolve))
    return { code, ...texts }
  }
}
