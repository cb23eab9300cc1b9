import { describe, expect, it } from 'vitest'
import {
  browserProblem,
  doorProblem,
  hostNames,
  ownPageProblem,
} from '../../src/util/local-door.ts'

const known = hostNames(['Sidecar.', 'postern.internal', '2001:DB8:0::1', '10.0.0.7', '0.0.0.0'])
const knock = (host: string, ...more: string[]) => doorProblem(['Host', host, ...more], known)

describe('accepted requests', () => {
  const hosts = `localhost localhost:8700 LOCALHOST:1 localhost. localhost.:8700 127.0.0.1 127.8.9.10:80 [::1]
    [::1]:8700 [0:0:0:0:0:0:0:1] sidecar SIDECAR:443 postern.internal.:99 10.0.0.7:8700
    [2001:db8::1]:8700`
  it.each(hosts.split(/\s+/))('a request under the host name %s is accepted', (host) => {
    expect(knock(host)).toBeNull()
  })

  it('a request with the fetch metadata of Node and with Sec-Fetch-Site none is accepted', () => {
    expect(knock('localhost', 'Sec-Fetch-Mode', 'cors')).toBeNull()
    expect(knock('localhost', 'sec-fetch-site', 'none')).toBeNull()
  })
})

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
])('a request under the unknown host name %s is refused with 421', (host) => {
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
])('a request with the malformed Host %j is refused with 400', (host) => {
  expect(knock(host)).toMatchObject({ status: 400, code: 'bad_request' })
})

it('a request without Host or with two Host headers is refused with 400', () => {
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
])('a request with the browser header %s: %s is refused with 403', (name, value) => {
  const refused = { status: 403, code: 'postern_browser_refused' }
  expect(knock('localhost', name, value)).toMatchObject(refused)
  expect(browserProblem(['Host', 'anything', name, value])).toMatchObject(refused)
})

it('a request with a second Sec-Fetch-Site header that names a site is refused with 403', () => {
  const lines = ['Sec-Fetch-Site', 'none', 'Sec-Fetch-Site', 'same-site']
  expect(knock('localhost', ...lines)).toMatchObject({ status: 403 })
})

it('an empty list of names accepts loopback names only', () => {
  const none = hostNames([])
  expect(doorProblem(['Host', 'sidecar'], none)).toMatchObject({ status: 421 })
  expect(doorProblem(['Host', 'localhost'], none)).toBeNull()
})

it('a probe is accepted under any Host', () => {
  expect(browserProblem(['Host', '10.1.2.3:8701'])).toBeNull()
  expect(browserProblem([])).toBeNull()
})

const call = (...headers: string[]) =>
  ownPageProblem(['Host', 'localhost:8802', ...headers], hostNames([]))

it.each([
  [],
  ['Sec-Fetch-Site', 'same-origin', 'Origin', 'http://localhost:8802'],
  ['sec-fetch-site', 'none'],
])('a request of the own page is accepted: %s', (...headers) => {
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
])('a request of another page is refused: %s', (...headers) => {
  expect(call(...headers)).toMatchObject({ status: 403, code: 'postern_browser_refused' })
})

it('a page under a foreign host name is refused unless the name is allowed', () => {
  const headers = ['Host', 'evil.example', 'Origin', 'http://evil.example']
  expect(ownPageProblem(headers, hostNames([]))).toMatchObject({ status: 421 })
  expect(ownPageProblem(headers, hostNames(['evil.example']))).toBeNull()
})
