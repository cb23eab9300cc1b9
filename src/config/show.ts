/** The effective settings, as a settings file with the origin of each. */
import type { Loaded } from './read-one.ts'
import { asYaml } from './template.ts'
import { SETTINGS, valueAt, type ProxySettings, type Setting } from './settings.ts'

/**
 * @returns YAML for `--config`; secrets are comments with their origin, or that they are not set,
 *   and proxies are shown without their credentials
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

function line(setting: Setting, loaded: Loaded): string {
  const { path, kind, preset } = setting
  const name = path.split('.').at(-1) ?? ''
  const origin = loaded.origins.get(path)
  if (kind === 'secret') {
    return origin === undefined ? `# ${name}: not set` : `# ${name}: set, from ${origin}`
  }
  const value = valueOf(path, loaded)
  // Without a default, a setting that is not set depends on the process's surroundings.
  const isSet = origin !== undefined || preset !== undefined
  if (!isSet || value === undefined) return `# ${name}: not set`
  return `${name}: ${asYaml(value)} # ${origin ?? 'default'}`
}

/** What counts; undefined for the file of a secret that was given otherwise. */
function valueOf(path: string, { settings, secretFiles }: Loaded): unknown {
  const isSecretFile = SETTINGS.some((one) => one.kind === 'secret' && `${one.path}File` === path)
  return isSecretFile ? secretFiles.get(path) : valueAt(settings, path)
}

/**
 * The secrets that a settings file made by `showSettings` leaves out, by dotted path, with their
 * origin: a user of the file must supply them again.
 */
export function secretsLeftOut({ origins, secretFiles }: Loaded): Map<string, string> {
  const given = SETTINGS.filter(({ kind, path }) => kind === 'secret' && origins.has(path))
  const left = given.filter(({ path }) => !secretFiles.has(`${path}File`))
  return new Map(left.map(({ path }) => [path, origins.get(path) ?? '']))
}

function proxies({ httpsProxy, httpProxy, noProxy }: ProxySettings): string[] {
  const shown = { HTTPS_PROXY: mask(httpsProxy), HTTP_PROXY: mask(httpProxy), NO_PROXY: noProxy }
  return Object.entries(shown).flatMap(([name, value]) =>
    value === undefined ? [] : [`# ${name}: ${value}`],
  )
}

const mask = (proxy: string | undefined): string | undefined =>
  proxy?.replace(/\/\/[^/]*@/, '//[secret]@')
