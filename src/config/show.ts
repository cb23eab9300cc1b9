/** The settings that count, as a settings file that says where each of them comes from. */
import { stringify } from 'yaml'
import type { Loaded } from './load.ts'
import { SETTINGS } from './settings.ts'
import type { ProxySettings, Setting } from './settings.ts'

/**
 * @returns YAML that `--config` takes; secrets are comments that say whether they are set and from
 *   where, and proxies are shown without their credentials
 */
export function showSettings(loaded: Loaded): string {
  const lines: string[] = []
  let group = ''
  for (const setting of SETTINGS) {
    const [name = '', inner] = setting.path.split('.')
    if (inner !== undefined && name !== group) lines.push(`${name}:`)
    group = inner === undefined ? '' : name
    lines.push(`${inner === undefined ? '' : '  '}${line(setting, loaded)}`)
  }
  return `${[...lines, ...proxies(loaded.settings.upstream.proxy)].join('\n')}\n`
}

function line(setting: Setting, { settings, origins }: Loaded): string {
  const name = setting.path.split('.').at(-1) ?? ''
  const origin = origins.get(setting.path)
  if (setting.kind === 'secret') {
    return origin === undefined ? `# ${name}: not set` : `# ${name}: set, from ${origin}`
  }
  const value = setting.path.startsWith('bot.')
    ? undefined
    : setting.path
        .split('.')
        .reduce<unknown>((at, part) => (at as Record<string, unknown>)[part], settings)
  if (value === undefined) {
    return origin === undefined ? `# ${name}: not set` : `# ${name}: from ${origin}`
  }
  const text = stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trim()
  return `${name}: ${text} # ${origin ?? 'default'}`
}

function proxies({ httpsProxy, httpProxy, noProxy }: ProxySettings): string[] {
  const shown = { HTTPS_PROXY: mask(httpsProxy), HTTP_PROXY: mask(httpProxy), NO_PROXY: noProxy }
  return Object.entries(shown).flatMap(([name, value]) =>
    value === undefined ? [] : [`# ${name}: ${value}`],
  )
}

function mask(proxy: string | undefined): string | undefined {
  return proxy?.replace(/\/\/[^/]*@/, '//[secret]@')
}
