import { describe, expect, it } from 'vitest'
import {
  browserProblem,
  doorProblem,
  hostNames,
  ownPageProblem,
  valuesOf,
} from '../../src/util/local-door.ts'

const known = hostNames(['Sidecar.', 'postern.internal', '2001:DB8:0::1', '10.0.0.7', '0.0.0.0'])
const knock = (host: string, ...more: string[]) => doorProblem(['Host', host, ...more], known)

describe('a request is let in', () => {
  it.each([
    'localhost',
    'localhost:8700',
    'LOCALHOST:1',
    'localhost.',
    'localhost.:8700',
    '127.0.0.1',
    '127.8.9.10:80',
    '[::1]',
    '[::1]:8700',
    '[0:0:0:0:0:0:0:1]',
    'sidecar',
    'SIDECAR:443',
    'postern.internal.:99',
    '10.0.0.7:8700',
    '[2001:db8::1]:8700',
  ])('under the name %s', (host) => {
    expect(knock(host)).toBeNull()
  })

  it('with the fetch metadata that Node sends, and with Sec-Fetch-Site none', () => {
    expect(knock('localhost', 'Sec-Fetch-Mode', 'cors')).toBeNull()
    expect(knock('localhost', 'sec-fetch-site', 'none')).toBeNull()
  })
})

describe('a request is turned away', () => {
  it.each([
    'evil.example',
    'evil.example:8700',
    'localhost.evil.example',
    'sidecar.evil',
    'xlocalhost',
    '128.0.0.1',
    '0.0.0.0:8700',
    '127.0.0.1.evil.example',
    '[::2]',
    '127.1',
    '2130706433',
  ])('with 421 under the unknown name %s', (host) => {
    expect(knock(host)).toMatchObject({ status: 421, code: 'postern_host_refused' })
  })

  it.each([
    '',
    ' ',
    'a b',
    'localhost/',
    'user@localhost',
    'localhost:',
    'localhost:x',
    '::1',
    '[::1',
    'localhost, evil',
  ])('with 400 under %j, which is no host', (host) => {
    expect(knock(host)).toMatchObject({ status: 400, code: 'bad_request' })
  })

  it('with 400 when Host is missing or given twice, even twice alike', () => {
    const bad = { status: 400, code: 'bad_request' }
    expect(doorProblem([], known)).toMatchObject(bad)
    expect(knock('localhost', 'host', 'localhost')).toMatchObject(bad)
    expect(knock('localhost', 'HOST', 'evil.example')).toMatchObject(bad)
  })

  it.each([
    ['Origin', 'https://evil.example'],
    ['origin', 'null'],
    ['ORIGIN', ''],
    ['Origin', 'http://localhost:8700'],
    ['Sec-Fetch-Site', 'cross-site'],
    ['sec-fetch-site', 'same-origin'],
    ['Sec-Fetch-Site', 'None'],
  ])('with 403 when it carries %s: %s', (name, value) => {
    const refused = { status: 403, code: 'postern_browser_refused' }
    expect(knock('localhost', name, value)).toMatchObject(refused)
    expect(browserProblem(['Host', 'anything', name, value])).toMatchObject(refused)
  })

  it('with 403 when one of two Sec-Fetch-Site lines names a site', () => {
    const lines = ['Sec-Fetch-Site', 'none', 'Sec-Fetch-Site', 'same-site']
    expect(knock('localhost', ...lines)).toMatchObject({ status: 403 })
  })
})

describe('the pieces', () => {
  it('an empty list of names leaves only the loopback ones', () => {
    const none = hostNames([])
    expect(doorProblem(['Host', 'sidecar'], none)).toMatchObject({ status: 421 })
    expect(doorProblem(['Host', 'localhost'], none)).toBeNull()
  })

  it('a probe may use any Host', () => {
    expect(browserProblem(['Host', '10.1.2.3:8701'])).toBeNull()
    expect(browserProblem([])).toBeNull()
  })

  it('all values of a header are found whatever its case', () => {
    expect(valuesOf(['A', '1', 'b', '2', 'a', '3'], 'a')).toEqual(['1', '3'])
  })

  it('every refusal says what to do', () => {
    expect(knock('evil.example')?.message).toContain('listen.allowedHosts')
    expect(knock('localhost', 'Origin', 'x')?.message).toContain('without Origin')
  })
})

describe('a listener that serves a page takes that page alone', () => {
  const call = (...headers: string[]) =>
    ownPageProblem(['Host', 'localhost:8802', ...headers], hostNames([]))

  it.each([
    [],
    ['Sec-Fetch-Site', 'same-origin', 'Origin', 'http://localhost:8802'],
    ['sec-fetch-site', 'none'],
  ])('%s is let in', (...headers) => {
    expect(call(...headers)).toBeNull()
  })

  it.each([
    ['Sec-Fetch-Site', 'cross-site'],
    ['Sec-Fetch-Site', 'same-site'],
    ['Sec-Fetch-Site', 'same-origin-not'],
    ['Sec-Fetch-Site', ''],
    ['Sec-Fetch-Site', 'same-origin', 'Sec-Fetch-Site', 'cross-site'],
    ['Origin', 'http://localhost:8803'],
    ['Origin', 'http://127.0.0.1:8802'],
    ['Origin', 'http://localhost:88021'],
    ['Origin', 'http://localhost:8802.evil.example'],
    ['Origin', 'http://localhost:8802/'],
    ['Origin', 'http://localhost'],
    ['Origin', 'https://localhost:8802'],
    ['Origin', 'null'],
    ['Origin', 'http://localhost:8802', 'Origin', 'http://evil.example'],
  ])('%s is turned away', (...headers) => {
    expect(call(...headers)).toMatchObject({ status: 403, code: 'postern_browser_refused' })
  })

  it('under its own names alone', () => {
    const headers = ['Host', 'evil.example', 'Origin', 'http://evil.example']
    expect(ownPageProblem(headers, hostNames([]))).toMatchObject({ status: 421 })
    expect(ownPageProblem(headers, hostNames(['evil.example']))).toBeNull()
  })
})
