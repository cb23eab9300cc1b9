import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ENDPOINTS } from '../../src/api/endpoints.ts'
import { readReadme, withTables } from '../support/readme-tables.ts'

const readme = readReadme()

describe('the README', () => {
  it('has the tables that the code has', () => {
    expect(withTables(readme)).toBe(readme)
  })

  it('names only scripts that package.json has', () => {
    const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: object }
    const named = [...readme.matchAll(/npm run (?:-s )?([a-z:]+)/g)].map(([, name]) => name)
    expect(named.length).toBeGreaterThan(0)
    expect(named.filter((name) => !(String(name) in manifest.scripts))).toEqual([])
  })

  it('names only files that are there', () => {
    const named = [...readme.matchAll(/`((?:src|test|config)\/[A-Za-z0-9/._-]+)`/g)]
    const own = 'config/postern.yaml'
    const missing = named.filter(([, path]) => path !== own && !existsSync(String(path)))
    expect(missing.map(([, path]) => path)).toEqual([])
  })

  it('says of every endpoint of the service what becomes of it', () => {
    const silent = ENDPOINTS.filter(
      ({ method, path }) => !readme.includes(`${method} ${path.replace(/:(\w+)/g, '{$1}')}`),
    )
    expect(silent.map(({ name }) => name)).toEqual([])
  })
})
